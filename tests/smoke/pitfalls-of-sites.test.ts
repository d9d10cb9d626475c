// Ways in which name servers, addresses, pages and certificates are commonly misread, one test each, with the whole rulebook.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AddressEvidence, type Lookup, registrableDomain } from '@strata/detect';
import { createAddressGuard } from '@strata/scan';
import { found, mx, profileOf, seen } from '../support/pitfalls.ts';

const aws = { address: '52.32.1.1', asn: 16509, as_name: 'AMAZON-02' };
const cloudflare = { address: '104.16.1.1', asn: 13335, as_name: 'CLOUDFLARENET' };
const behindCloudflare = { a: [cloudflare], headers: { server: 'cloudflare', 'cf-ray': '8a1b-FRA' } };
type Soa = Lookup<{ mname: string; rname: string; serial: number }>;
const soaOf = (mname: string, rname = 'hostmaster.example.com'): Soa => found([{ mname, rname, serial: 1 }]);

const hostingIn = (...record: Parameters<typeof seen>) => seen(...record).filter((line) => line.startsWith('hosting '));

describe('pitfall', () => {
  it('14: an edge hides the host: the role is blocked, not empty, and not the edge', () => {
    const { roles, holders } = profileOf(behindCloudflare);
    assert.deepEqual(seen(behindCloudflare), ['cdn cloudflare high']);
    assert.deepEqual([roles.origin, holders.origin], ['blocked', 'unknown']);
    assert.deepEqual(hostingIn({ a: [aws], headers: { 'x-iinfo': '1-2-3', 'x-cdn': 'Imperva' } }), []);
  });

  it('15: the owner of a network is not the product on it', () => {
    assert.deepEqual(seen({ a: [aws] }), ['hosting amazon-web-services medium']);
    const onVercel = { a: [aws], headers: { server: 'Vercel', 'x-vercel-id': 'fra1::x' } };
    assert.deepEqual(hostingIn(onVercel), ['hosting vercel high']);
    const byAlias = { a: [aws], cname: { 'www.example.com': 'cname.vercel-dns.com' } };
    assert.deepEqual(hostingIn(byAlias), ['hosting vercel high']);
  });

  it('16: the apex has no alias, so that www is asked too, and an edge before one of them hides the host', () => {
    const cname = { 'www.example.com': 'd111111abcdef8.cloudfront.net' };
    assert.deepEqual(seen({ a: [aws], cname }), ['cdn amazon-cloudfront high']);
  });

  it('17: patterns fit labels, not letters, and never the neighbour under a public suffix', () => {
    const near = ['ns1.notawsdns-01.com', 'ns-1.awsdns-01.com.evil.net', 'cloudflare.com.example.net'];
    for (const ns of [...near, 'ns1.azure-dns.com.example.net']) assert.deepEqual(seen({ ns: [ns] }), [], ns);
    assert.deepEqual(seen({ ns: ['ns-520.awsdns-01.net'] }), ['dns amazon-route-53 high']);
    assert.equal(registrableDomain('someone.github.io'), 'someone.github.io');
  });

  it('18: name servers under the domain’s own name are looked through by SOA and network', () => {
    const ns = ['ns1.example.com', 'ns2.example.com'];
    assert.deepEqual(seen({ ns }), []);
    assert.deepEqual(seen({ ns }, {}, { dns: { soa: soaOf('ns1.dnsimple.com') } }), ['dns dnsimple medium']);
    const soa = soaOf('ns1.example.com', 'awsdns-hostmaster.amazon.com');
    assert.deepEqual(seen({ ns }, {}, { dns: { soa } }), ['dns amazon-route-53 medium']);
  });

  it('19: several vendors are a set, whatever the order of the records', () => {
    const ns = ['dns1.p01.nsone.net', 'ns-520.awsdns-01.net', 'dns2.p01.nsone.net'];
    assert.deepEqual(seen({ ns }), ['dns amazon-route-53 high', 'dns ns1 high']);
    assert.deepEqual(seen({ ns: ns.toReversed() }), seen({ ns }));
  });

  it('20: an SOA left over from another provider is overruled by the name servers in force', () => {
    const dns = { soa: soaOf('ns1.dnsimple.com') };
    assert.deepEqual(seen({ ns: ['dana.ns.cloudflare.com'] }, {}, { dns }), ['dns cloudflare high']);
  });

  it('22: what a wildcard answers to any name is evidence of nothing', () => {
    const answer = found(['v=DMARC1; p=reject; rua=mailto:x@rua.easydmarc.com']);
    const alias = found(['192.0.2.1'], 'autodiscover.outlook.com');
    const gateway = { mx: mx('10 eu-smtp-inbound-1.mimecast.com') };
    assert.deepEqual(seen({}, {}, { dns: { dmarc: answer, wildcardTxt: answer } }), []);
    const dns = { named: { autodiscover: alias }, wildcardA: alias };
    assert.deepEqual(seen(gateway, {}, { dns }), ['email_security mimecast high']);
  });

  it('23: a parked name has no services but its name servers, and what sounds like parking need not be', () => {
    const parked = { ns: ['ns1.sedoparking.com'], mx: mx('10 aspmx.l.google.com'), a: [aws] };
    assert.equal(profileOf(parked).state, 'parked');
    assert.deepEqual(seen(parked), ['dns sedo high']);
    assert.equal(profileOf({ ns: ['ns1.dns-parking.com'] }).state, 'active');
  });

  it('24: an alias whose target is gone is no live use', () => {
    const dangling = { status: 'nxdomain', records: [], aliases: ['acme.herokudns.com'] } as const;
    assert.deepEqual(seen({}, {}, { dns: { www: dangling } }), []);
    assert.deepEqual(seen({}, {}, { dns: { www: { ...dangling, status: 'found' } } }), ['hosting heroku high']);
  });

  it('25: a token says that an account was verified once, and no more than that', () => {
    const txt = ['docusign=087098e3-3d46-47b7-9b4e-8a23028154cd'];
    assert.deepEqual(seen({ txt }), ['verified_service docusign medium']);
  });

  it('27: a header that anybody may send proves less than one that only its maker sends', () => {
    assert.deepEqual(seen({ headers: { server: 'Vercel' } }), ['hosting vercel medium']);
    assert.deepEqual(seen({ headers: { 'x-vercel-id': 'fra1::x' } }), ['hosting vercel high']);
  });

  it('28: what another domain answers after a redirect is that domain’s', () => {
    const http = {
      ...({ status: 'found', redirects: ['https://example.com/'], statusCode: 200, cookies: [], page: null } as const),
      headers: { 'x-vercel-id': 'fra1::x' },
    };
    const at = (url: string) => {
      const { redirectsTo, services } = profileOf({}, {}, { http: { ...http, url } });
      return [redirectsTo, services.length];
    };
    assert.deepEqual(at('https://other.net/'), ['other.net', 0]);
    assert.deepEqual(at('https://www.example.com/'), [null, 1]);
  });

  it('29: a bot wall shows itself, and the site behind it is blocked, not absent', () => {
    const headers = { 'cf-ray': '1-FRA', server: 'cloudflare', 'x-powered-by': 'PHP/8.1.2' };
    const blocked = { status: 'blocked', url: 'https://example.com/', statusCode: 403 } as const;
    const http = { ...blocked, redirects: [], cookies: [], page: null, headers };
    assert.deepEqual(seen({}, {}, { http }), ['cdn cloudflare high']);
    assert.equal(profileOf({}, {}, { http }).sources.html, 'blocked');
  });

  it('30: the issuer is not the host, and other names in a certificate are other people’s', () => {
    const names = ['sni.cloudflaressl.com', 'example.com', 'shop.myshopify.com', 'other.herokuapp.com'];
    const tls = {
      ...({ status: 'found', issuer: 'Google Trust Services', issuerCommonName: 'WE1', isTrusted: true } as const),
      ...{ validFrom: null, validTo: null, protocol: 'TLSv1.3', problem: null, names },
    };
    assert.deepEqual(seen({}, {}, { tls }), ['certificate_authority google-trust-services high']);
  });

  it('31: what a page loads from others is those products’ evidence, and tells nothing of the site’s own', () => {
    const html = '<script src="https://js.stripe.com/v3/"></script><img src="https://cdn.shopify.com/x.png">';
    assert.ok(seen({ html }).every((line) => line.startsWith('web_platform ')));
    const widget = '<script src="https://www.googletagmanager.com/gtm.js?id=GTM-1"></script>';
    assert.deepEqual(seen({ html: widget }), ['web_platform google-tag-manager medium']);
  });

  it('32: no request goes to private, link-local or metadata addresses', () => {
    const guard = createAddressGuard();
    const forbidden = '127.0.0.1 10.1.2.3 169.254.169.254 192.168.0.1 ::1 fe80::1 ::ffff:10.0.0.1 100.64.0.1';
    for (const address of forbidden.split(' ')) assert.equal(guard(address).isAllowed, false, address);
    assert.equal(guard('93.184.215.14').isAllowed, true);
  });

  it('an address that only IPv6 has is attributed like any other', () => {
    const network = { asn: 16509, asName: 'AMAZON-02', prefix: '2600:1f00::/24' };
    const address: AddressEvidence = { address: '2600:1f00::1', use: 'web', status: 'found', ...network };
    const dns = { aaaa: found(['2600:1f00::1']) };
    const { services, holders } = profileOf({ a: [] }, {}, { addresses: [address], dns });
    assert.deepEqual([services.map(({ provider }) => provider), holders.origin], [['amazon-web-services'], 'provider']);
  });
});
