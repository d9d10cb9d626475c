// Where a site is hosted, behind edges, walls and redirects: one row for each common misinterpretation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EvidenceParts, linesOf, noLabels, profileOf, rowsOf, servicesOf } from '../test/index.ts';

const onCloudy: EvidenceParts = { addresses: [{ asn: 64499, asName: 'CLOUDY' }] };
const onEdgy: EvidenceParts = { addresses: [{ asn: 64496, asName: 'EDGY' }] };
const withHeaders = (headers: Record<string, string>): EvidenceParts => ({ http: { headers } });
const BLOGGER_PAGE = { metas: { generator: 'Blogger 1' } };
const shows = (services: string, ...parts: EvidenceParts[]) =>
  assert.equal(servicesOf(Object.assign({}, ...parts)), services);

rowsOf('hosting', shows);
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

rowsOf('edge', shows);
it('an edge counts the strongest of one family once', () => {
  const [edge] = profileOf(withHeaders({ 'x-edgy-ray': '1', server: 'edgy' })).services;
  assert.deepEqual([edge?.score, edge?.evidence.length], [0.98, 2]);
});

rowsOf('Server header', shows);

describe('a redirect to another owner', () => {
  const http = {
    ...{ url: 'https://www.other.test/home', redirects: ['https://example.com/'], page: BLOGGER_PAGE },
    headers: { 'x-edgy-ray': '1', 'x-deploy-id': '1', 'x-powered-by': 'Blogger' },
    cookies: ['blog_session', 'waffle_ses_1'],
  };

  rowsOf('redirect', shows);
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
      ...['web_platform blogger high'],
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

const blogger = 'web_platform blogger high';
const loading = (...assets: readonly string[]): EvidenceParts => ({ http: { page: { assets } } });
rowsOf('web platform', shows);
it('a web platform is shown by pictures of its own hosts, and by styles and scripts of any', () => {
  const own = ['example.com/blog-content/a.png', 'static.example.com/blog-content/a.png'];
  const fromCdn = ['theme.css?v=1', 'app.js'].map((name) => `cdn.assets.test/blog-content/${name}`);
  for (const address of [...own, ...fromCdn]) shows(blogger, loading(`https://${address}`));
});
it('a web platform loaded in a hundred files is one finding', () => {
  const assets = Array.from({ length: 100 }, (_, i) => `https://example.com/blog-content/${i}.js`);
  assert.equal(profileOf(loading(...assets)).services[0]?.evidence.length, 1);
});

rowsOf('certificate authority', shows);
it('the certificate authority is not what CAA permits while the certificate cannot be had', () => {
  const { services, roles } = profileOf({ caa: ['0 issue certy.test'], tls: { status: 'timeout' } });
  assert.deepEqual([services, roles.issuer], [[], 'unmeasured']);
});
