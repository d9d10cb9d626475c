// Name servers, exchanges and policies as registrars, hosters, operators and gateways have their customers publish them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { alias, assertServices, mx, profileOf, scripts, spf } from './test/shapes.ts';

it('name servers in two zones of one operator are one service', () =>
  assertServices(
    [{ ns: ['ns1.p16.dynect.net', 'ns1.mydyndns.org'] }, ['dns dyn']],
    [{ ns: ['udns1.cscdns.net', 'ns1.netnames.net'] }, ['dns csc']],
    [{ ns: ['hgns1.hostgator.com', 'ns8001.websitewelcome.com'] }, ['dns hostgator']],
  ));
it('name servers of another name with the same ending belong to no provider', () =>
  assertServices([{ ns: ['ns1.notbeget.com', 'ns1.example-rcode0.net', 'xincache.com.example.net'] }, []]));

it('exchanges show the mailbox or the gateway by a name that the customer chose', () =>
  assertServices(
    [mx('example-com.mail.protection.partner.outlook.cn'), ['email microsoft-365']],
    [mx('mx.example.com.cust.a.hostedemail.com'), ['email tucows-dns']],
    [mx('example.in.tmes-sg.trendmicro.com'), ['email_security trend-micro']],
  ));
it('exchanges of what receives for programs, and of forwarders, keep nothing', () =>
  assertServices(
    [mx('inbound-smtp.eu-west-1.amazonaws.com'), ['email_security amazon-ses']],
    [mx('mail.anonaddy.me'), ['email_security addy-io']],
    [mx('gmr-smtp-in.l.google.com'), ['email_security google-domains']],
    [mx('fwd1.porkbun.com'), ['email_security porkbun']],
    [mx('mx1.simplelogin.co'), ['email_security simplelogin']],
  ));
it('exchanges of an operator’s customers are not the operator’s', () => {
  const lines = ['host-80-123-4-5.bon.at', 'mail.customer.otenet.gr', 'office.ewetel.de', 'relay7.sonic.net'];
  const machines = ['vps12345.ovh.net', 's132-148-1-2.secureserver.net', 'static.1.2.3.4.clients.your-server.de'];
  for (const host of [...lines, ...machines, 'ec2-3-64-1-2.eu-central-1.compute.amazonaws.com'])
    assertServices([mx(host), []]);
  assertServices([mx('mx1.mail.ovh.net'), ['email ovhcloud']]);
});

const behind = (records: object) => ({ ...mx('mx1.example-com.iphmx.com'), ...records });
const gateway = 'email_security cisco-secure-email';

it('the mailbox behind a gateway shows by the alias of autodiscover, and of mail, under which suites put their web mail', () =>
  assertServices(
    [behind(alias('autodiscover', 'autodiscover.mail.eu-west-1.awsapps.com')), ['email workmail', gateway]],
    [behind(alias('mail', 'ghs.googlehosted.com')), ['email google-workspace', gateway]],
  ));
it('the mailbox behind a gateway is not shown by an account for meetings or for the devices of the staff', () => {
  const cname = {
    'lyncdiscover.example.com': 'webdir.online.lync.com',
    'enterpriseenrollment.example.com': 'enterpriseenrollment-s.manage.microsoft.com',
  };
  const accounts = ['verified_service microsoft-365', 'verified_service microsoft-intune'];
  assertServices([behind({ cname }), [gateway, ...accounts]]);
});

it('the policy of a gateway names a sender while the mail arrives elsewhere, and claims nothing about its receipt', () => {
  const sealing = 'include:_spf.zivver.com include:spf.egress.com include:spf.hdems.com -all';
  assertServices(
    [
      { ...mx('mail.example.com'), ...spf('include:spf.hc1656-87.eu.iphmx.com -all') },
      ['email_sending cisco-secure-email'],
    ],
    [{ ...mx('mail.example.com'), ...spf(sealing) }, ['egress', 'hennge', 'zivver'].map((id) => `email_sending ${id}`)],
  );
});

const stateOf = (record: object) => profileOf({ ns: ['ns1.example.net'], ...record }).state;

it('names for sale show by the name servers, the exchange or the alias of a marketplace', () => {
  const records: readonly object[] = [
    { ns: ['ns01.cashparking.com', 'ns02.cashparking.com'] },
    mx('park-mx.above.com'),
    alias('www', 'traff-https.hugedomains.com'),
    { ns: ['dns1.registrar-servers.com'], ...alias('www', 'parkingpage.namecheap.com') },
  ];
  for (const record of records) assert.equal(stateOf(record), 'parked', JSON.stringify(record));
});
it('names for sale are not all names of a registrar that also sells them', () => {
  const systems = ['dns1.registrar-servers.com', 'ns1.systemdns.com', 'ns1.worldnic.com'];
  for (const ns of [
    ...systems,
    'nsg1.namebrightdns.com',
    'ns1.uniregistry-dns.com',
    'ns-usa.topdns.com',
    'ns1.dns-parking.com',
  ])
    assert.equal(stateOf({ ns: [ns] }), 'active', ns);
});
it('names for sale show by a page that is the seller’s', () => {
  assert.equal(stateOf(scripts('https://img1.wsimg.com/parking-lander/static/js/main.js')), 'parked');
  assert.equal(stateOf(scripts('https://img1.wsimg.com/blobby/go/main.js')), 'active');
});
