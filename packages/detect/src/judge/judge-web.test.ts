// Where a site is hosted, behind edges, walls and redirects: one row for each common misinterpretation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTo, type EvidenceParts } from '../test/evidence-of.ts';
import { rows } from '../test/rows.ts';
import { linesOf, noLabels, profileOf, servicesOf } from '../test/rulebook-of.ts';

const onCloudy: EvidenceParts = { addresses: [{ asn: 64499, asName: 'CLOUDY' }] };
const onEdgy: EvidenceParts = { addresses: [{ asn: 64496, asName: 'EDGY' }] };
const withHeaders = (headers: Record<string, string>): EvidenceParts => ({ http: { headers } });
const toWww = (...aliases: readonly string[]): EvidenceParts => ({ www: aliasTo(...aliases) });
const BLOGGER_PAGE = { metas: { generator: 'Blogger 1' } };
const dangling = { status: 'nxdomain' as const, records: [], aliases: ['acme.deploy.test'] };

const shows = (services: string, ...parts: EvidenceParts[]) =>
  assert.equal(servicesOf(Object.assign({}, ...parts)), services);

const edgyAndDeploy = 'hosting deploy high, cdn edgy high';
const twoHeaders = { 'x-edgy-ray': '1', 'x-deploy-id': 'abc' };
rows(shows, [
  ['is shown by the network, with medium confidence', 'hosting cloudy medium', onCloudy],
  ['is not the network of one address behind an edge', 'cdn edgy high', onCloudy, toWww('x.edgy.test')],
  ['is not the network behind a protection', 'security waffle high', onCloudy, withHeaders({ 'x-waffle': '1' })],
  ['behind an edge is found by the host’s own header', edgyAndDeploy, onEdgy, withHeaders(twoHeaders)],
  ['behind an edge is found by an alias', edgyAndDeploy, toWww('acme.deploy.test', 'x.edgy.test')],
  ['is the named host, not the owner of its network', 'hosting deploy high', onCloudy, toWww('acme.deploy.test')],
  ['is corroborated by its own network', 'hosting cloudy high', onCloudy, toWww('lb.cloudy.test')],
  ['at a product of an edge’s owner is shown by alias', 'hosting edgy high', toWww('acme.pages.edgy-host.test')],
  ['is not shown by an alias whose target does not exist', '', { www: dangling }],
  ['by a rewritable Server header is medium', 'hosting deploy medium', withHeaders({ server: 'Deploy/1.2' })],
  ['is the network where no page was asked for', 'hosting cloudy medium', onCloudy, { http: { status: 'skipped' } }],
]);
it('hosting is unknown behind an edge, and never the edge', () => {
  const { services, roles } = profileOf({ ...onEdgy, ...withHeaders({ 'x-edgy-ray': '1' }) });
  assert.deepEqual([linesOf(services), roles.origin], [['cdn edgy high'], 'blocked']);
});
it('hosting is not the network while the page or an alias that could show an edge cannot be had', () => {
  const silent: EvidenceParts = { http: { status: 'blocked', statusCode: null } };
  const wall: EvidenceParts = { http: { status: 'blocked', statusCode: 403, headers: { date: 'today' } } };
  for (const parts of [silent, wall, { http: { status: 'timeout' } }, { www: 'timeout' }] as const) {
    const { services, roles } = profileOf({ ...onCloudy, named: noLabels, ...parts });
    assert.deepEqual(services, [], JSON.stringify(parts));
    assert.ok(roles.origin === 'unmeasured' || roles.origin === 'blocked');
  }
});

rows(shows, [
  ['is medium by network alone', 'cdn edgy medium', onEdgy],
  ['is high by two kinds of evidence', 'cdn edgy high', onEdgy, withHeaders({ server: 'edgy' })],
]);
it('an edge counts the strongest of one family once', () => {
  const [edge] = profileOf(withHeaders({ 'x-edgy-ray': '1', server: 'edgy' })).services;
  assert.deepEqual([edge?.score, edge?.evidence.length], [0.9, 2]);
});

describe('a Server header', () => {
  const at = (asn: number | null): EvidenceParts => ({ addresses: [{ asn, use: 'web' }] });
  const edgy = withHeaders({ server: 'edgy' });
  const behindWaffle = withHeaders({ server: 'edgy', 'x-waffle': '1' });
  rows(shows, [
    ['is low in another network, and hides no host', 'hosting cloudy medium, cdn edgy low', at(64499), edgy],
    ['is medium at an unknown network', 'cdn edgy medium', at(null), edgy],
    ['is medium without an address', 'cdn edgy medium', edgy],
    ['is high with another header', 'cdn edgy high', at(64499), withHeaders({ server: 'edgy', 'x-edgy-ray': '1' })],
    ['is medium behind another front', 'cdn edgy medium, security waffle high', at(64499), behindWaffle],
    ['without known networks is medium', 'hosting deploy medium', at(64511), withHeaders({ server: 'Deploy' })],
  ]);
});

describe('a redirect to another owner', () => {
  const http = {
    ...{ url: 'https://www.other.test/home', redirects: ['https://example.com/'], page: BLOGGER_PAGE },
    headers: { 'x-edgy-ray': '1', 'x-deploy-id': '1', 'x-powered-by': 'Blogger' },
    cookies: ['blog_session', 'waffle_ses_1'],
  };
  const covered: EvidenceParts = { http, tls: { issuer: 'Certy', names: ['other.test', 'example.com'] } };
  const inDns: EvidenceParts = { http, ns: ['ns1.dnsco.test'] };
  rows(shows, [
    ['to the host of a platform is no platform', '', { http: { url: 'https://cdn.blogger.test/blog-content/x' } }],
    ['leaves DNS evidence and the network alone', 'dns dnsco high, hosting cloudy medium', onCloudy, inDns],
    ['leaves a certificate that covers this domain', 'certificate_authority certy high', covered],
  ]);
  it('leaves nothing of the target’s web to this domain', () => {
    const profile = profileOf({ http, tls: { issuer: 'Certy', names: ['other.test'] } });
    assert.deepEqual([profile.redirectsTo, profile.services], ['other.test', []]);
  });
  it('that was not followed shows this domain’s own headers, cookies and certificate, and no page', () => {
    const { page: _, ...own } = { ...http, statusCode: 301 };
    const { redirectsTo, services, sources } = profileOf({ http: own, tls: { issuer: 'Certy', names: [] } });
    assert.equal(redirectsTo, 'other.test');
    assert.deepEqual(linesOf(services), [
      ...['hosting deploy high', 'cdn edgy high', 'security waffle medium', 'certificate_authority certy high'],
      ...['web_platform blogger medium'],
    ]);
    const { header, cookie, html, tls } = sources;
    assert.deepEqual([header, cookie, html, tls], ['observed', 'observed', 'absent', 'observed']);
  });
  it('does not exist within the domain, to www or to a port', () => {
    for (const url of ['https://www.example.com/', 'https://example.com:8443/x', 'https://a.b.example.com/']) {
      const { redirectsTo, services } = profileOf({ http: { ...http, url } });
      assert.deepEqual([redirectsTo, services.length > 0], [null, true], url);
    }
  });
  it('is one between customers of a private suffix, and to a name that ends alike', () => {
    for (const [domain, other] of Object.entries({ 'me.github.io': 'you.github.io', 'example.com': 'notexample.com' }))
      assert.equal(profileOf({ domain, http: { url: `https://${other}/` } }).redirectsTo, other);
  });
});

const http = {
  status: 'blocked' as const,
  headers: { 'x-edgy-ray': '1', 'x-powered-by': 'Blogger', server: 'Deploy' },
  ...{ statusCode: 403, cookies: ['waffle_ses_1', 'blog_session'], page: BLOGGER_PAGE },
};
it('a bot wall shows itself by header and cookie, and nothing of the site, which is blocked and not absent', () => {
  const { sources, roles, services } = profileOf({ http, named: noLabels });
  assert.deepEqual(linesOf(services), ['cdn edgy high', 'security waffle medium']);
  const { header, cookie, html } = sources;
  assert.deepEqual([header, cookie, html, roles.platform], ['blocked', 'blocked', 'blocked', 'blocked']);
});

const metas = { generator: 'Blogger 6.4' };
const blogger = 'web_platform blogger medium';
const loading = (...assets: readonly string[]): EvidenceParts => ({ http: { page: { assets } } });
const elsewhere = loading('https://partner.test/blog-content/a.png', 'https://notexample.com/blog-content/b.jpg');
const powered: EvidenceParts = { http: { headers: { 'x-powered-by': 'Blogger' }, page: { metas } } };
const tagman = 'https://tags.tagman.test';
rows(shows, [
  ['is medium by what the page says of itself', blogger, { http: { page: { metas } } }],
  ['is high with a header', 'web_platform blogger high', powered],
  ['is shown by a path', blogger, loading('https://example.com/Blog-Content/themes/x.css')],
  ['is shown by a host', blogger, loading('https://x.cdn.blogger.test:8443/a.js')],
  ['is shown by a marker', blogger, { http: { page: { markers: ['__blogger'] } } }],
  ['is shown by a host and path', 'web_platform tagman medium', loading(`${tagman}/gtm.js?id=1`)],
  ['is not shown by the host with another path', '', loading(`${tagman}/other.js`, 'not a url')],
  ['is not shown by pictures of other hosts', '', elsewhere],
]);
it('a web platform is shown by pictures of its own hosts, and by styles and scripts of any', () => {
  const own = ['example.com/blog-content/a.png', 'static.example.com/blog-content/a.png'];
  const fromCdn = ['theme.css?v=1', 'app.js'].map((name) => `cdn.assets.test/blog-content/${name}`);
  for (const address of [...own, ...fromCdn]) shows(blogger, loading(`https://${address}`));
});
it('a web platform loaded in a hundred files is one finding', () => {
  const assets = Array.from({ length: 100 }, (_, i) => `https://example.com/blog-content/${i}.js`);
  assert.equal(profileOf(loading(...assets)).services[0]?.evidence.length, 1);
});

const caa = ['0 issue certy.test; account=1', '0 iodef mailto:x@signly.test'];
const both = ['0 issue certy.test', '0 issue signly.test'];
const certy = 'certificate_authority certy';
const untrusted = (problem: string): EvidenceParts => ({ tls: { issuer: 'Certy', isTrusted: false, problem } });
rows(shows, [
  ['is the issuer, not another that CAA permits', `${certy} high`, { caa: both, tls: { issuer: 'Certy Ltd' } }],
  ['by CAA alone is low where no certificate was asked for', `${certy} low`, { caa, tls: { status: 'skipped' } }],
  ['by CAA alone is low where there is no address', `${certy} low`, { caa, a: 'empty' }],
  ['is not what a self-signed certificate names', '', untrusted('DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['is not what a chain with an unknown root names', '', untrusted('SELF_SIGNED_CERT_IN_CHAIN')],
  ['is not that of a certificate for another name', '', untrusted('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['of an expired certificate is medium', `${certy} medium`, untrusted('CERT_HAS_EXPIRED')],
]);
it('the certificate authority is not what CAA permits while the certificate cannot be had', () => {
  const { services, roles } = profileOf({ caa: ['0 issue certy.test'], tls: { status: 'timeout' } });
  assert.deepEqual([services, roles.issuer], [[], 'unmeasured']);
});
