// Name servers, exchanges and policies as registrars, hosters, operators and gateways have their customers publish them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, detect, evidenceFromRecord, loadCatalog } from '@strata/detect';
import { entries } from './index.ts';

const rulebook = compileRulebook(loadCatalog(entries));
const profileOf = (record: object) => detect(evidenceFromRecord({ domain: 'example.com', ...record }), rulebook);
/** What a record of example.com proves: `category provider`, sorted. */
const servicesOf = (record: object) =>
  profileOf(record)
    .services.map(({ category, provider }) => `${category} ${provider}`)
    .sort();
const mx = (...exchanges: readonly string[]) => ({
  mx: exchanges.map((exchange, i) => ({ preference: 10 * (i + 1), exchange })),
});

/** Two name servers of one zone, and who serves it. */
const NAME_SERVERS: readonly (readonly [id: string, first: string, second: string])[] = [
  // Operators of name servers alone.
  ['anexia-clouddns', 'acns01.xaas.systems', 'acns02.xaas.systems'],
  ['rcodezero', 'sec1.rcode0.net', 'sec2.rcode0.net'],
  ['afraid-freedns', 'ns1.afraid.org', 'ns2.afraid.org'],
  ['dyn', 'ns1.p16.dynect.net', 'ns1.mydyndns.org'],
  // Registrars of companies' names.
  ['com-laude', 'ns1.comlaude-dns.com', 'ns2.comlaude-dns.net'],
  ['csc', 'udns1.cscdns.net', 'ns1.netnames.net'],
  ['nameshield', 'a.ns.nameshield.net', 'b.ns.nameshield.net'],
  // Registrars and hosters, a few of each part of the world.
  ['20i', 'ns1.stackdns.com', 'ns2.stackdns.com'],
  ['argeweb', 'ns1.argewebhosting.eu', 'ns2.argewebhosting.com'],
  ['arsys', 'dns21.servidoresdns.net', 'dns22.servidoresdns.net'],
  ['beget', 'ns1.beget.com', 'ns2.beget.pro'],
  ['cdmon', 'ns3.cdmon.net', 'ns4.cdmondns-01.org'],
  ['fasthosts', 'ns1.livedns.co.uk', 'ns2.livedns.co.uk'],
  ['glesys', 'ns1.namesystem.se', 'ns2.namesystem.se'],
  ['gname', 'a.share-dns.com', 'b.share-dns.net'],
  ['hostgator', 'hgns1.hostgator.com', 'ns8001.websitewelcome.com'],
  ['hosting-kr', 'ns1.hosting.co.kr', 'ns2.hosting.co.kr'],
  ['hostnet-nl', 'ns1.hostnetbv.com', 'ns2.hostnetbv.nl'],
  ['internetx', 'a.ns14.net', 'b.ns14.net'],
  ['mat-bao', 'ns1.matbao.vn', 'ns2.matbao.vn'],
  ['muumuu-domain', 'dns01.muumuu-domain.com', 'dns02.muumuu-domain.com'],
  ['names-co-uk', 'ns0.phase8.net', 'ns1.phase8.net'],
  ['natro', 'ns1.natrohost.com', 'ns2.natrohost.com'],
  ['nhan-hoa', 'ns1.zonedns.vn', 'ns2.zonedns.vn'],
  ['nic-ua', 'ns10.uadns.com', 'ns11.uadns.com'],
  ['o2switch', 'ns1.o2switch.net', 'ns2.o2switch.net'],
  ['registro-br', 'a.auto.dns.br', 'b.auto.dns.br'],
  ['resellerclub', 'earth.orderbox-dns.com', 'mars.orderbox-dns.com'],
  ['rumahweb', 'nsid1.rumahweb.com', 'nsid2.rumahweb.net'],
  ['truehost', 'ns1.cloudoon.com', 'ns2.cloudoon.net'],
  ['websupport-sk', 'ns1.websupport.sk', 'ns3.websupport.eu'],
  ['west-cn', 'ns1.myhostadmin.net', 'ns2.myhostadmin.net'],
  ['whogohost', 'nsa.whogohost.com', 'nsb.whogohost.com'],
  ['xinnet', 'ns11.xincache.com', 'ns12.xincache.com'],
  ['xneelo', 'ns1.host-h.net', 'ns1.dns-h.com'],
  ['zone-ee', 'ns.zone.eu', 'ns2.zone.ee'],
  // Operators of networks.
  ['lg-uplus', 'ns.bora.net', 'ns2.bora.net'],
  ['lumen', 'authns1.qwest.net', 'ns1.centurylink.net'],
  ['swisscom', 'ns1.ip-plus.net', 'ns2.ip-plus.net'],
  ['telefonica', 'artemis.ttd.net', 'minerva.ttd.net'],
];

/** The preferred exchange, and the one service that it proves. */
const EXCHANGES: readonly (readonly [service: string, exchange: string])[] = [
  ['email 20i', 'mx.stackmail.com'],
  ['email arsys', 'mx.serviciodecorreo.es'],
  ['email cosmote', 'mx.otenet.gr'],
  ['email dogado', 'mx03.secure-mailgate.com'],
  ['email forpsi', 'mxavas.forpsi.com'],
  ['email hiworks', 'mail.hiworks.co.kr'],
  ['email hostopia', 'mx1c76.carrierzone.com'],
  ['email ionos', 'mx00.ionos.mx'],
  ['email kinghost', 'mx-vip-01.uni5.net'],
  ['email lark', 'mx1.larksuite.com'],
  ['email microsoft-365', 'example-com.mail.protection.partner.outlook.cn'],
  ['email namecheap', 'mx1-hosting.jellyfish.systems'],
  ['email netcup', 'mx2f4c.netcup.net'],
  ['email netease-mail', 'qiye163mx01.mxmail.netease.com'],
  ['email piensa-solutions', 'mx.buzondecorreo.com'],
  ['email rediffmail-pro', 'mx.rediffmailpro.com'],
  ['email resellerclub', 'us2.mx1.mailhostbox.com'],
  ['email skymail', 'mx-ha.skymail.net.br'],
  ['email telekom-mail', 'smtp-01.tld.t-online.de'],
  ['email tucows-dns', 'mx.example.com.cust.a.hostedemail.com'],
  ['email zone-ee', 'mx1.zone.eu'],
  ['email_security cleanmail', 'mail.cleanmail.ch'],
  ['email_security d-fence', 'fimx1.d-fence.eu'],
  ['email_security dfn', 'a1234.mx.srv.dfn.de'],
  ['email_security excello', 'ax.virusfree.cz'],
  ['email_security expurgate', 'mxtls.expurgate.net'],
  ['email_security komm-one', 'mx1.kvnbw.de'],
  ['email_security mailprotector', 'example-com.inbound.emailservice.io'],
  ['email_security seppmail', 'example-com.gate.seppmail.cloud'],
  ['email_security smx', 'mx1.nz.smxemail.com'],
  ['email_security sonicwall-email', 'example.com.snwlhosted.com'],
  ['email_security spamhero', 'example-com.p10.mxthunder.com'],
  ['email_security staysecure', 'example-com.mx1.staysecuregroup.com'],
  ['email_security synaq', 'securemail-mx1.synaq.com'],
  ['email_security trend-micro', 'example.in.tmes-sg.trendmicro.com'],
  // What receives for programs, and forwarders, keep nothing.
  ['email_security amazon-ses', 'inbound-smtp.eu-west-1.amazonaws.com'],
  ['email_security addy-io', 'mail.anonaddy.me'],
  ['email_security google-domains', 'gmr-smtp-in.l.google.com'],
  ['email_security porkbun', 'fwd1.porkbun.com'],
  ['email_security simplelogin', 'mx1.simplelogin.co'],
];

describe('name servers', () => {
  for (const [id, first, second] of NAME_SERVERS) {
    it(`${first} and ${second} are of ${id}`, () =>
      assert.deepEqual(servicesOf({ ns: [first, second] }), [`dns ${id}`]));
  }
  it('of another name that only ends alike are nobody’s', () => {
    const ns = ['ns1.notbeget.com', 'ns1.example-rcode0.net', 'xincache.com.example.net'];
    assert.deepEqual(servicesOf({ ns }), []);
  });
});

describe('exchanges', () => {
  for (const [service, exchange] of EXCHANGES) {
    it(`${exchange} shows ${service}`, () => assert.deepEqual(servicesOf(mx(exchange)), [service]));
  }
  it('of an operator’s customers are not the operator’s', () => {
    for (const host of ['host-80-123-4-5.bon.at', 'mail.customer.otenet.gr', 'office.ewetel.de', 'relay7.sonic.net']) {
      assert.deepEqual(servicesOf(mx(host)), [], host);
    }
  });
});

describe('the mailbox behind a gateway', () => {
  const behind = (alias: Readonly<Record<string, string>>) =>
    servicesOf({ ...mx('mx1.example-com.iphmx.com'), cname: alias });

  it('shows by the alias of autodiscover', () => {
    const targets: readonly (readonly [string, string])[] = [
      ['arsys', 'autodiscover.serviciodecorreo.es'],
      ['beget', 'autoconfig.beget.com'],
      ['hostinger', 'autodiscover.mail.hostinger.com'],
      ['infomaniak', 'infomaniak.com'],
      ['ionos', 'adsredir.ionos.info'],
      ['kinghost', 'autoconfig.uni5.net'],
      ['locaweb', 'autodiscover.email.locaweb.com.br'],
      ['microsoft-365', 'autodiscover.outlook.com'],
      ['rackspace-email', 'autodiscover.emailsrvr.com'],
      ['workmail', 'autodiscover.mail.eu-west-1.awsapps.com'],
    ];
    for (const [id, target] of targets) {
      const services = [`email ${id}`, 'email_security cisco-secure-email'];
      assert.deepEqual(behind({ 'autodiscover.example.com': target }), services);
    }
  });

  it('shows by the alias of mail, under which suites put their web mail', () => {
    const services: readonly (readonly [string, string])[] = [
      ['alibaba-mail', 'qiye.aliyun.com'],
      ['google-workspace', 'ghs.googlehosted.com'],
      ['tencent-exmail', 'exmail.qq.com'],
      ['yandex-360', 'domain.mail.yandex.net'],
      ['zoho-mail', 'business.zoho.com'],
    ];
    for (const [id, target] of services) {
      assert.deepEqual(behind({ 'mail.example.com': target }), [`email ${id}`, 'email_security cisco-secure-email']);
    }
  });

  it('is not shown by an account for meetings or for the devices of the staff', () => {
    const alias = {
      'lyncdiscover.example.com': 'webdir.online.lync.com',
      'enterpriseenrollment.example.com': 'enterpriseenrollment-s.manage.microsoft.com',
    };
    assert.deepEqual(behind(alias), [
      'email_security cisco-secure-email',
      'verified_service microsoft-365',
      'verified_service microsoft-intune',
    ]);
  });
});

describe('policies of gateways', () => {
  it('of those that only look at or seal outgoing mail claim nothing about its receipt', () => {
    const txt = ['v=spf1 include:_spf.zivver.com include:spf.egress.com include:spf.hdems.com -all'];
    const senders = ['email_sending egress', 'email_sending hennge', 'email_sending zivver'];
    assert.deepEqual(servicesOf({ ...mx('mail.example.com'), txt }), senders);
  });

  it('name a sender while the mail arrives elsewhere', () => {
    const includes: readonly (readonly [string, string])[] = [
      ['barracuda', 'spf.ess.de.barracudanetworks.com'],
      ['cisco-secure-email', 'spf.hc1656-87.eu.iphmx.com'],
      ['fortimail-cloud', '_spf.fortimailcloud.com'],
      ['sophos', '_spf_eucentral1.prod.hydra.sophos.com'],
      ['spamexperts', 'spf.antispamcloud.com'],
      ['trend-micro', 'spf.tmes-in.trendmicro.com'],
      ['vade', 'spf.cloud.vadesecure.com'],
    ];
    for (const [id, include] of includes) {
      const services = servicesOf({ ...mx('mail.example.com'), txt: [`v=spf1 include:${include} -all`] });
      assert.deepEqual(services, [`email_sending ${id}`], include);
    }
  });
});

describe('names for sale', () => {
  const stateOf = (record: object) => profileOf(record).state;

  it('show by the name servers, the exchange or the alias of a marketplace', () => {
    const records: readonly object[] = [
      { ns: ['ns1.afternic.com', 'ns2.afternic.com'] },
      { ns: ['ns01.cashparking.com', 'ns02.cashparking.com'] },
      { ns: ['ns1.eftydns.com', 'ns2.eftydns.com'] },
      { ns: ['ns1.giantpanda.com', 'ns2.giantpanda.com'] },
      { ns: ['ns1.renewyourname.net', 'ns2.renewyourname.net'] },
      { ns: ['ns1.example.net'], ...mx('park-mx.above.com') },
      { ns: ['ns1.example.net'], cname: { 'www.example.com': 'traff-https.hugedomains.com' } },
      { ns: ['ns1.example.net'], cname: { 'www.example.com': '712936.parkingcrew.net' } },
      { ns: ['dns1.registrar-servers.com'], cname: { 'www.example.com': 'parkingpage.namecheap.com' } },
    ];
    for (const record of records) assert.equal(stateOf(record), 'parked', JSON.stringify(record));
  });

  it('are not all names of a registrar that also sells them', () => {
    const systems = ['dns1.registrar-servers.com', 'ns1.systemdns.com', 'ns1.worldnic.com'];
    for (const ns of [...systems, 'nsg1.namebrightdns.com', 'ns1.uniregistry-dns.com', 'ns-usa.topdns.com'])
      assert.equal(stateOf({ ns: [ns] }), 'active', ns);
  });
  it('show by a page that is the seller’s', () => {
    const page = (src: string) => ({ ns: ['ns1.example.net'], html: `<script src="${src}"></script>` });
    assert.equal(stateOf(page('https://img1.wsimg.com/parking-lander/static/js/main.js')), 'parked');
    assert.equal(stateOf(page('https://img1.wsimg.com/blobby/go/main.js')), 'active');
  });
});
