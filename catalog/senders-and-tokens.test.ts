// Records as domains publish them, and which senders, report readers, verified accounts and authorities they name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, explainRecord, loadCatalog } from '@strata/detect';
import { entries } from './index.ts';

const rulebook = compileRulebook(loadCatalog(entries));

/** What a record of example.com proves: `category provider`, sorted. */
const servicesOf = (record: object) =>
  explainRecord({ domain: 'example.com', ...record }, rulebook)
    .services.map(({ category, provider_id }) => `${category} ${provider_id}`)
    .sort();
const named = (...expected: readonly (readonly [record: object, services: readonly string[]])[]) => {
  for (const [record, services] of expected) assert.deepEqual(servicesOf(record), services, JSON.stringify(record));
};
const spf = (policy: string) => ({ txt: [`v=spf1 ${policy}`] });
const senders = (ids: string) =>
  ids
    .split(' ')
    .map((id) => `email_sending ${id}`)
    .sort();
const accounts = (ids: string) =>
  ids
    .split(' ')
    .map((id) => `verified_service ${id}`)
    .sort();
const rua = (...addresses: readonly string[]) => ({
  dmarc: `v=DMARC1; p=quarantine; rua=${addresses.map((address) => `mailto:${address}`).join(',')}`,
});

describe('SPF policies', () => {
  it('name the services that a domain lets send', () => {
    named(
      [spf('include:email-od.com ~all'), senders('socketlabs')],
      [spf('include:_spf.smtp.mailtrap.live -all'), senders('mailtrap')],
      [spf('include:relay.mailchannels.net include:_spf.odoo.com ~all'), senders('mailchannels odoo')],
      [spf('include:spf.tipalti.com include:cvent-planner.com -all'), senders('cvent tipalti')],
      [spf('include:spf_c.oraclecloud.com include:rnmk.com ~all'), senders('oracle-b2c-service oracle-fusion-cloud')],
      [spf('include:outboundmail.convio.net ~all'), senders('blackbaud')],
      [spf('include:519224.spf06.hubspotemail.net ~all'), senders('hubspot')],
      [spf('include:stspg-customer.com include:_spf.alchemer.eu ~all'), senders('alchemer statuspage')],
      [spf('include:_spf.firebasemail.com ~all'), senders('firebase-authentication')],
      [spf('include:_spf.psm.knowbe4.com include:securityiqmail.net ~all'), senders('infosec-iq knowbe4')],
    );
  });

  it('name the services of every part of the world', () => {
    named(
      [spf('include:spf.sendcloud.org ~all'), senders('sendcloud')],
      [spf('include:spf1.dm.aliyun.com include:qcloudmail.com -all'), senders('alibaba-direct-mail tencent-ses')],
      [spf('include:_spf.stibee.com ~all'), senders('stibee')],
      [spf('include:spf.sendsay.ru include:spf.mindbox.ru ~all'), senders('mindbox sendsay')],
      [spf('mx a include:_spf.emaillabs.net.pl ~all'), senders('emaillabs')],
      [spf('include:spf.mailkit.eu include:_spf.ecomailapp.cz ~all'), senders('ecomail mailkit')],
      [spf('include:spf.flexmail.eu include:spf.afas.online -all'), senders('afas flexmail')],
      [spf('include:spf.topdesk.net include:_spf.emply.com -all'), senders('emply topdesk')],
      [spf('include:_spf.embluemail.com include:spf.fromdoppler.com -all'), senders('doppler embluemail')],
      [spf('include:_spf.everlytic.net ?all'), senders('everlytic')],
      [
        spf('include:_spf.rdstation.com.br include:_spf.octadesk.com include:spf_12392.aknamail.com.br -all'),
        senders('akna octadesk rd-station'),
      ],
      [spf('include:spf-au.iress.com include:a._spf.brightspace.com -all'), senders('brightspace iress')],
      [spf('include:_spf.qemailserver.com include:_spf.sidetrade.net -all'), senders('qualtrics sidetrade')],
      [spf('include:spf.nl2go.com -all'), senders('brevo')],
      [spf('include:spf.umantis.com include:spf.de.umantis.com -all'), senders('umantis')],
    );
  });

  it('name who hosts the policy itself, the most specific host first', () => {
    named(
      [spf('redirect=b45gkw7f._spf._d.mim.ec'), ['email_security dmarc-analyzer']],
      [spf('include:%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email ~all'), ['email_security valimail']],
      [spf('include:%{ir}.%{v}.%{d}.spf.has.pphosted.com ~all'), ['email_security proofpoint-efd']],
      [spf('redirect=7f3a.de.spf.hornetdmarc.com'), ['email_security hornet-dmarc-manager']],
    );
  });
  it('name nobody where the host only ends or begins like a sender', () => {
    named(
      [spf('include:notemail-od.com include:xtipalti.com -all'), []],
      [spf('include:mailchannels.net.example.org include:spf.tipalti.com.example.net -all'), []],
      [{ txt: ['include:email-od.com'] }, []],
    );
  });
});

describe('aliases that a sending service asks for', () => {
  const alias = (label: string, target: string) => ({ cname: { [`${label}.example.com`]: target } });

  it('name it, where the target is its own', () => {
    named(
      [alias('brevo1._domainkey', 'b1.example-com.dkim.brevo.com'), senders('brevo')],
      [alias('acdkim1._domainkey', 'dkim.acdkim1.acems3.com'), senders('activecampaign')],
      [alias('k2._domainkey', 'dkim2.mcsv.net'), senders('mailchimp')],
      [alias('litesrv._domainkey', 'litesrv._domainkey.mlsend.com'), senders('mailerlite')],
      [alias('mlsend2._domainkey', 'mlsend2._domainkey.mailersend.net'), senders('mailersend')],
      [alias('kl._domainkey', 'kl1.domainkey.7.klaviyodns.com'), senders('klaviyo')],
      [alias('cka._domainkey', 'dkim.dm-0a1b2c3d.sg6.convertkit.com'), senders('convertkit')],
      [alias('eo._domainkey', 'eo._domainkey.0a1b2c3d4e.alecto.eoidentity.com'), senders('emailoctopus')],
      [alias('strong1._domainkey', 'strong1._domainkey.helpscout.net'), senders('helpscout')],
      [alias('rwmt1._domainkey', 'rwmt1.dkim.smtp.mailtrap.live'), senders('mailtrap')],
      [alias('mailpoet1._domainkey', 'dkim1.sendingservice.net'), senders('mailpoet')],
      [alias('clk._domainkey', 'dkim1.0a1b2c3d4e5f.clerk.services'), senders('clerk')],
      [
        alias('firebase1._domainkey', 'mail-example-com.dkim1._domainkey.firebasemail.com'),
        senders('firebase-authentication'),
      ],
      [
        alias('squarespace._domainkey', 'squarespace-domainkey.squarespace-mail.com'),
        senders('squarespace-email-campaigns'),
      ],
      [
        alias('selector1-azurecomm-prod-net._domainkey', 'selector1-azurecomm-prod-net._domainkey.azurecomm.net'),
        senders('azure-communication-services'),
      ],
      [alias('pm-bounces', 'pm.mtasv.net'), senders('postmark')],
      [alias('bounce', 'custom-email-domain.stripe.com'), senders('stripe')],
      [alias('bounce', 'eu.sparkpostmail.com'), senders('sparkpost')],
    );
  });

  it('name nobody, where it is another’s', () => {
    named([alias('bounce', 'mail.example.org'), []], [alias('k2._domainkey', 'dkim2.mcsv.net.example.org'), []]);
  });
});

describe('DMARC report addresses', () => {
  it('name who reads the reports', () => {
    named(
      [rua('0a1b2c3d@rep.dmarcanalyzer.com'), ['email_security dmarc-analyzer']],
      [rua('dmarc_agg@dmarc.everest.email', 'dmarc_agg@auth.returnpath.net'), ['email_security validity-everest']],
      [rua('0a1b2c3d4e5f.a@dmarcinput.com'), ['email_security dmarc-report-com']],
      [rua('re+0a1b2c3d4e5f@inbound.dmarcdigests.com'), ['email_security postmark']],
      [rua('0a1b2c3d@rua.dmarc.emailanalyst.com'), ['email_security edatasource']],
      [rua('reports@dmarc25.jp'), ['email_security dmarc25']],
      [rua('example@rua.netcraft.com'), ['email_security netcraft']],
      [rua('dmarc-rua@dmarc.service.gov.uk'), ['email_security ncsc-mail-check']],
      [
        rua('reports@dmarc.cyber.dhs.gov', 'dmarc_rua@emaildefense.proofpoint.com!10m'),
        ['email_security cisa', 'email_security proofpoint-efd'],
      ],
      [rua('rua@dmarc.brevo.com'), senders('brevo')],
      [rua('dmarc@example.com', 'dmarc@example.org'), []],
    );
  });
});

describe('verification tokens', () => {
  const tokens = (...txt: readonly string[]) => ({ txt });

  it('name the product, in any case', () => {
    named(
      [
        tokens('cisco-ci-domain-verification=4a1c92ef69fe42f8', 'webexdomainverification.AB1C=0a1b2c3d'),
        accounts('webex'),
      ],
      [
        tokens('h1-domain-verification=3bPxkTRBe4uck7tr', 'bugcrowd-verification=4889742e219d4b28'),
        accounts('bugcrowd hackerone'),
      ],
      [
        tokens('hcp-domain-verification=ce2770782fd69f68', 'launchdarkly-domain-verification=c190690f'),
        accounts('hashicorp launchdarkly'),
      ],
      [
        tokens('mistral-domain-verification=2139895d', 'elevenlabs=AkVMNw8U', 'windsurf-verification=LRBAV_kH'),
        accounts('elevenlabs mistral windsurf'),
      ],
      [tokens('Foxit-domain-verification=0da244e9', 'DeepL-Domain-Verification=b8faec8a'), accounts('deepl foxit')],
      [
        tokens('TAILSCALE-xOzoDvFUzZr5YYVC', 'OSSRH-58518', 'Probe.ly:0a1b2c3d'),
        accounts('probely sonatype tailscale'),
      ],
      [
        tokens('flexera-domain-verification-nsbtshbvpbsmbnzh', 'carta-domain-verification-p6kprv=Hf8pYNQg'),
        accounts('carta flexera'),
      ],
      [
        tokens('pexip-ms-tenant-domain-verification=38ff6049', 'neat-pulse-domain-verification-W8XZ4xN=35c9459f'),
        accounts('neat pexip'),
      ],
      [
        tokens('android-enroll=https://mdm.example.com/c', 'android-mdm-enroll=https://mdm.example.com/d'),
        accounts('ivanti'),
      ],
      [
        tokens('mentimeter-8599dcd1-e0da-4326-882e-7570e7c942fb', 'slido-domain-verification=87b6e1fe-2406-444f-90df'),
        accounts('mentimeter slido'),
      ],
      [tokens('meltwater_sso_20260521_triton-36710', 'prowly-verification=bebd281d'), accounts('meltwater prowly')],
      [tokens('UK-federation-domain-verification=d262373b2f27d3ca'), accounts('uk-federation')],
      [tokens('pardot801473=19f8d9f3e51c', 'sending_domain801473=07a4a2149977'), accounts('pardot')],
      [tokens('mgverify=fa8deab5e1cdad1a', 'unione-validate-hash=483bb362ebdb'), accounts('mailgun unione')],
      [
        tokens(
          'globalsign-smime-dv=CDYX+XFHUw2w',
          '_telesec-domain-validation=2026-01-17_EsWjLFKa',
          'QuoVadis=d56f7361',
        ),
        accounts('globalsign quovadis telesec'),
      ],
      [tokens('brevo-code:3fd38860523365d0', 'Sendinblue-code:893b13ba16ab42c9'), accounts('brevo')],
    );
  });

  it('name nothing within a record, or cut short', () => {
    named(
      [tokens('my h1-domain-verification=3bPxkTRB', '"bugcrowd-verification=4889742e"', 'hcp-domain-verification'), []],
      [tokens('unknown-domain-verification=0a1b2c3d', '_0a1b2c3d4e5f', '', '='), []],
    );
  });
});

describe('certificate authorities', () => {
  const caa = (...values: readonly string[]) => ({ caa: values });
  const issuer = (organisation: string) => ({ tls_issuer: organisation });

  it('are named by the issuer of the certificate', () => {
    for (const [organisation, id] of [
      ['Microsec Ltd.', 'e-szigno'],
      ['DHIMYOTIS', 'certigna'],
      ['TAIWAN-CA', 'twca'],
      ['Chunghwa Telecom Co., Ltd.', 'chunghwa-ca'],
      ['Cybertrust Japan Co., Ltd.', 'cybertrust-japan'],
      ['SECOM Trust Systems CO.,LTD.', 'secom'],
      ['FNMT-RCM', 'fnmt'],
      ['IZENPE S.A.', 'izenpe'],
      ['Deutsche Telekom Security GmbH', 'telesec'],
      ['eMudhra Technologies Limited', 'emsign'],
      ['China Financial Certification Authority', 'cfca'],
      ['TrustAsia Technologies, Inc.', 'trustasia'],
      ['Krajowa Izba Rozliczeniowa S.A.', 'szafir'],
      ['Agence Nationale de Certification Electronique', 'tuntrust'],
      ['Hellenic Academic and Research Institutions CA', 'harica'],
      ['ICP-Brasil', 'icp-brasil'],
      ['Apple Inc.', 'apple-ca'],
      ['GEANT Vereniging', 'geant-tcs'],
    ] as const) {
      named([issuer(organisation), [`certificate_authority ${id}`]]);
    }
  });

  it('are named by CAA records, where no certificate was seen', () => {
    named(
      [caa('0 issue "pki.hinet.net"'), ['certificate_authority chunghwa-ca']],
      [caa('0 issue "d-trust.net; accounturi=https://ca.example/1"'), ['certificate_authority d-trust']],
      [
        caa('0 issuewild "e-szigno.hu"', '0 issue "certum.eu"'),
        ['certificate_authority certum', 'certificate_authority e-szigno'],
      ],
      [caa('0 issue "cybertrust.ne.jp"'), ['certificate_authority cybertrust-japan']],
      [caa('0 iodef "mailto:caa@certsign.ro"', '0 issue ";"'), []],
    );
  });
});
