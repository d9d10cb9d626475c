// Records as domains publish them, and which senders, report readers, verified accounts and authorities they name.
import { it } from 'node:test';
import { alias, assertServices, rua, spf } from './test/shapes.ts';

const each = (category: string, ids: string) => ids.split(' ').map((id) => `${category} ${id}`);
const senders = (ids: string) => each('email_sending', ids);
const accounts = (ids: string) => each('verified_service', ids);
const vendors = (ids: string) => each('email_security', ids);
const authorities = (ids: string) => each('certificate_authority', ids);

it('SPF policies name the services that a domain lets send, each once', () =>
  assertServices(
    [spf('include:relay.mailchannels.net include:_spf.odoo.com ~all'), senders('mailchannels odoo')],
    [spf('include:519224.spf06.hubspotemail.net ~all'), senders('hubspot')],
    [spf('mx a include:_spf.emaillabs.net.pl ~all'), senders('emaillabs')],
    [spf('include:_spf.everlytic.net ?all'), senders('everlytic')],
    [spf('include:spf.umantis.com include:spf.de.umantis.com -all'), senders('umantis')],
  ));
it('SPF policies name who hosts the policy itself, the most specific host first', () =>
  assertServices(
    [spf('redirect=b45gkw7f._spf._d.mim.ec'), vendors('dmarc-analyzer')],
    [spf('include:%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email ~all'), vendors('valimail')],
    [spf('include:%{ir}.%{v}.%{d}.spf.has.pphosted.com ~all'), vendors('proofpoint-efd')],
    [spf('redirect=7f3a.de.spf.hornetdmarc.com'), vendors('hornet-dmarc-manager')],
  ));
it('SPF policies name no sender if the host only ends or begins like one', () =>
  assertServices(
    [spf('include:notemail-od.com include:xtipalti.com -all'), []],
    [spf('include:mailchannels.net.example.org include:spf.tipalti.com.example.net -all'), []],
    [{ txt: ['include:email-od.com'] }, []],
  ));

it('aliases of a sending service name it only if the target is its own', () =>
  assertServices(
    [alias('k2._domainkey', 'dkim2.mcsv.net'), senders('mailchimp')],
    [alias('k2._domainkey', 'dkim2.mcsv.net.example.org'), []],
    [alias('bounce', 'custom-email-domain.stripe.com'), senders('stripe')],
    [alias('bounce', 'eu.sparkpostmail.com'), senders('sparkpost')],
    [alias('bounce', 'mail.example.org'), []],
  ));

it('DMARC report addresses name who reads the reports', () =>
  assertServices(
    [rua('dmarc_agg@dmarc.everest.email', 'dmarc_agg@auth.returnpath.net'), vendors('validity-everest')],
    [rua('reports@dmarc.cyber.dhs.gov', 'dmarc_rua@emaildefense.proofpoint.com!10m'), vendors('cisa proofpoint-efd')],
    [rua('rua@dmarc.brevo.com'), senders('brevo')],
    [rua('dmarc@example.com', 'dmarc@example.org'), []],
  ));

const tokens = (...txt: readonly string[]) => ({ txt });
it('verification tokens name the product, in any case, once', () =>
  assertServices(
    [tokens('cisco-ci-domain-verification=4a1c', 'webexdomainverification.AB1C=0a1b2c3d'), accounts('webex')],
    [tokens('Foxit-domain-verification=0da244e9', 'DeepL-Domain-Verification=b8fa'), accounts('deepl foxit')],
    [tokens('TAILSCALE-xOzo', 'OSSRH-58518', 'Probe.ly:0a1b'), accounts('probely sonatype tailscale')],
    [tokens('UK-federation-domain-verification=d262373b2f27d3ca'), accounts('uk-federation')],
  ));
it('verification tokens name nothing within a record, or cut short', () =>
  assertServices(
    [tokens('my h1-domain-verification=3bPxkTRB', '"bugcrowd-verification=4889742e"', 'hcp-domain-verification'), []],
    [tokens('unknown-domain-verification=0a1b2c3d', '_0a1b2c3d4e5f', '', '='), []],
  ));

it('certificate authorities are named by the issuer of the certificate', () =>
  assertServices(
    [{ tls_issuer: 'DHIMYOTIS' }, authorities('certigna')],
    [{ tls_issuer: 'SECOM Trust Systems CO.,LTD.' }, authorities('secom')],
    [{ tls_issuer: 'Krajowa Izba Rozliczeniowa S.A.' }, authorities('szafir')],
  ));
it('certificate authorities are named by CAA records, without a certificate', () =>
  assertServices(
    [{ caa: ['0 issue "d-trust.net; accounturi=https://ca.example/1"'] }, authorities('d-trust')],
    [{ caa: ['0 issuewild "e-szigno.hu"', '0 issue "certum.eu"'] }, authorities('certum e-szigno')],
    [{ caa: ['0 iodef "mailto:caa@certsign.ro"', '0 issue ";"'] }, []],
  ));
