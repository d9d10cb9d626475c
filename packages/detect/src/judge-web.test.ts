// Where a site lives, behind edges, walls and redirects: one test for each way in which it is commonly misread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf, testRulebook } from './test/rulebook-of.ts';

const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), testRulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);

const onCloudy = [{ asn: 64499, asName: 'CLOUDY' }];
const onEdgy = [{ asn: 64496, asName: 'EDGY' }];

describe('hosting', () => {
  it('is shown by the network, with medium confidence', () => {
    assert.deepEqual(servicesOf({ addresses: onCloudy }), ['hosting cloudy medium']);
  });

  it('is unknown behind an edge, and never the edge', () => {
    const { services, roles } = profileOf({ addresses: onEdgy, http: { headers: { 'x-edgy-ray': '1' } } });
    assert.deepEqual(linesOf(services), ['cdn edgy high']);
    assert.equal(roles.origin, 'blocked');
  });

  it('is not the network of one address where an edge stands before the other', () => {
    assert.deepEqual(servicesOf({ addresses: onCloudy, www: aliasTo('x.edgy.test') }), ['cdn edgy high']);
  });

  it('is not the network behind a protection', () => {
    assert.deepEqual(servicesOf({ addresses: onCloudy, http: { headers: { 'x-waffle': '1' } } }), [
      'security waffle high',
    ]);
  });

  it('behind an edge is found by the host’s own header or alias', () => {
    const http = { headers: { 'x-edgy-ray': '1', 'x-deploy-id': 'abc' } };
    assert.deepEqual(servicesOf({ addresses: onEdgy, http }), ['hosting deploy high', 'cdn edgy high']);
    assert.deepEqual(servicesOf({ www: aliasTo('acme.deploy.test', 'x.edgy.test') }), [
      'hosting deploy high',
      'cdn edgy high',
    ]);
  });

  it('is the named host, not the owner of the network that it runs on', () => {
    assert.deepEqual(servicesOf({ addresses: onCloudy, www: aliasTo('acme.deploy.test') }), ['hosting deploy high']);
  });

  it('is corroborated by the network of the same provider', () => {
    assert.deepEqual(servicesOf({ addresses: onCloudy, www: aliasTo('lb.cloudy.test') }), ['hosting cloudy high']);
  });

  it('at a product of an edge’s owner is shown by its alias', () => {
    assert.deepEqual(servicesOf({ www: aliasTo('acme.pages.edgy-host.test') }), ['hosting edgy high']);
  });

  it('is not shown by an alias whose target is gone', () => {
    const www = { status: 'nxdomain' as const, records: [], aliases: ['acme.deploy.test'] };
    assert.deepEqual(servicesOf({ www }), []);
  });

  it('is not the network while the page or an alias that could show an edge cannot be had', () => {
    const failures: EvidenceParts[] = [
      { http: { status: 'timeout' } },
      { http: { status: 'blocked', statusCode: null } },
      { http: { status: 'blocked', statusCode: 403, headers: { date: 'today' } } },
      { www: 'timeout' },
    ];
    for (const parts of failures) {
      const { services, roles } = profileOf({ addresses: onCloudy, named: everyLabel(), ...parts });
      assert.deepEqual(services, [], JSON.stringify(parts));
      assert.ok(roles.origin === 'unmeasured' || roles.origin === 'blocked');
    }
    assert.deepEqual(servicesOf({ addresses: onCloudy, http: { status: 'skipped' } }), ['hosting cloudy medium']);
  });

  it('by a rewritable Server header is medium', () => {
    assert.deepEqual(servicesOf({ http: { headers: { server: 'Deploy/1.2' } } }), ['hosting deploy medium']);
  });
});

describe('an edge', () => {
  it('is medium by network alone, low by nothing, high by two kinds of evidence', () => {
    assert.deepEqual(servicesOf({ addresses: onEdgy }), ['cdn edgy medium']);
    assert.deepEqual(servicesOf({ addresses: onEdgy, http: { headers: { server: 'edgy' } } }), ['cdn edgy high']);
  });

  it('counts the strongest of one family once', () => {
    const { services } = profileOf({ http: { headers: { 'x-edgy-ray': '1', server: 'edgy' } } });
    assert.equal(services[0]?.score, 0.9);
    assert.equal(services[0]?.evidence.length, 2);
  });
});

describe('a redirect to another owner', () => {
  const http = {
    url: 'https://www.other.test/home',
    redirects: ['https://example.com/'],
    headers: { 'x-edgy-ray': '1', 'x-deploy-id': '1', 'x-powered-by': 'Blogger' },
    cookies: ['blog_session', 'waffle_ses_1'],
    page: { metas: { generator: 'Blogger 1' } },
  };

  it('leaves nothing of the target’s web to this domain', () => {
    const profile = profileOf({ http, tls: { issuer: 'Certy', names: ['other.test'] } });
    assert.equal(profile.redirectsTo, 'other.test');
    assert.deepEqual(profile.services, []);
  });

  it('to the host of a platform does not make it this domain’s', () => {
    assert.deepEqual(servicesOf({ http: { url: 'https://cdn.blogger.test/blog-content/x' } }), []);
  });

  it('leaves DNS evidence and the network alone', () => {
    assert.deepEqual(servicesOf({ http, addresses: onCloudy, ns: ['ns1.dnsco.test'] }), [
      'dns dnsco high',
      'hosting cloudy medium',
    ]);
  });

  it('leaves a certificate that covers this domain', () => {
    assert.deepEqual(servicesOf({ http, tls: { issuer: 'Certy', names: ['other.test', 'example.com'] } }), [
      'certificate_authority certy high',
    ]);
  });

  it('that was not followed shows this domain’s own headers, cookies and certificate, and no page', () => {
    const { page: _, ...own } = { ...http, statusCode: 301 };
    const { redirectsTo, services, sources } = profileOf({ http: own, tls: { issuer: 'Certy', names: [] } });
    assert.equal(redirectsTo, 'other.test');
    assert.deepEqual(linesOf(services), [
      'hosting deploy high',
      'cdn edgy high',
      'security waffle medium',
      'certificate_authority certy high',
      'web_platform blogger medium',
    ]);
    assert.deepEqual(
      [sources.header, sources.cookie, sources.html, sources.tls],
      ['observed', 'observed', 'absent', 'observed'],
    );
  });

  it('is none within the domain, to www or to a port', () => {
    for (const url of ['https://www.example.com/', 'https://example.com:8443/x', 'https://a.b.example.com/']) {
      const profile = profileOf({ http: { ...http, url } });
      assert.equal(profile.redirectsTo, null, url);
      assert.ok(profile.services.length > 0);
    }
  });

  it('is one between customers of a private suffix, and not fooled by a name that ends alike', () => {
    assert.equal(
      profileOf({ domain: 'me.github.io', http: { url: 'https://you.github.io/' } }).redirectsTo,
      'you.github.io',
    );
    assert.equal(profileOf({ http: { url: 'https://notexample.com/' } }).redirectsTo, 'notexample.com');
  });
});

describe('a bot wall', () => {
  const wall = {
    status: 'blocked' as const,
    statusCode: 403,
    headers: { 'x-edgy-ray': '1', 'x-powered-by': 'Blogger', server: 'Deploy' },
    cookies: ['waffle_ses_1', 'blog_session'],
    page: { metas: { generator: 'Blogger 1' } },
  };

  it('shows itself by header and cookie, and nothing of the site', () => {
    assert.deepEqual(servicesOf({ http: wall }), ['cdn edgy high', 'security waffle medium']);
  });

  it('is blocked and not absent', () => {
    const { sources, roles } = profileOf({ http: wall, named: everyLabel() });
    assert.deepEqual([sources.header, sources.cookie, sources.html], ['blocked', 'blocked', 'blocked']);
    assert.equal(roles.platform, 'blocked');
  });
});

describe('a web platform', () => {
  it('is medium by what the page says of itself, high with a header', () => {
    assert.deepEqual(servicesOf({ http: { page: { metas: { generator: 'Blogger 6.4' } } } }), [
      'web_platform blogger medium',
    ]);
    const http = { headers: { 'x-powered-by': 'Blogger' }, page: { metas: { generator: 'Blogger 6.4' } } };
    assert.deepEqual(servicesOf({ http }), ['web_platform blogger high']);
  });

  it('is shown by a path, a host, a host and path, or a marker', () => {
    for (const page of [
      { assets: ['https://example.com/Blog-Content/themes/x.css'] },
      { assets: ['https://x.cdn.blogger.test:8443/a.js'] },
      { markers: ['__blogger'] },
    ]) {
      assert.deepEqual(servicesOf({ http: { page } }), ['web_platform blogger medium'], JSON.stringify(page));
    }
    assert.deepEqual(servicesOf({ http: { page: { assets: ['https://tags.tagman.test/gtm.js?id=1'] } } }), [
      'web_platform tagman medium',
    ]);
    assert.deepEqual(
      servicesOf({ http: { page: { assets: ['https://tags.tagman.test/other.js', 'not a url'] } } }),
      [],
    );
  });

  it('loaded in a hundred files is one finding', () => {
    const assets = Array.from({ length: 100 }, (_, i) => `https://example.com/blog-content/${i}.js`);
    assert.equal(profileOf({ http: { page: { assets } } }).services[0]?.evidence.length, 1);
  });
});

describe('the certificate authority', () => {
  it('is the issuer of the certificate, not another one that CAA permits', () => {
    const caa = ['0 issue certy.test', '0 issue signly.test'];
    assert.deepEqual(servicesOf({ caa, tls: { issuer: 'Certy Ltd' } }), ['certificate_authority certy high']);
  });

  it('by CAA alone is low', () => {
    const caa = ['0 issue certy.test; account=1', '0 iodef mailto:x@signly.test'];
    assert.deepEqual(servicesOf({ caa, tls: { status: 'skipped' } }), ['certificate_authority certy low']);
    assert.deepEqual(servicesOf({ caa, a: 'empty' }), ['certificate_authority certy low']);
  });

  it('is not what CAA permits while the certificate cannot be had', () => {
    const { services, roles } = profileOf({ caa: ['0 issue certy.test'], tls: { status: 'timeout' } });
    assert.deepEqual(services, []);
    assert.equal(roles.issuer, 'unmeasured');
  });

  it('is not what a self-signed certificate claims, nor the issuer of another name’s', () => {
    for (const problem of [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ]) {
      assert.deepEqual(servicesOf({ tls: { issuer: 'Certy', isTrusted: false, problem } }), [], problem);
    }
  });

  it('of an expired certificate is medium', () => {
    assert.deepEqual(servicesOf({ tls: { issuer: 'Certy', isTrusted: false, problem: 'CERT_HAS_EXPIRED' } }), [
      'certificate_authority certy medium',
    ]);
  });
});

function everyLabel(): Record<string, 'nxdomain'> {
  return Object.fromEntries(testRulebook.probeLabels.map((label) => [label, 'nxdomain']));
}
