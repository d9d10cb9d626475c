import assert from 'node:assert/strict';
import { it } from 'node:test';
import { productKeysOf } from '@strata/detect';
import { entries, misplaced } from './index.ts';
import { providers, rulebook } from './test/shapes.ts';

const SERVICES = [
  ...['akamai', 'amazon-cloudfront', 'amazon-web-services', 'bigcommerce', 'cloudflare', 'digicert', 'fastly'],
  ...['flywheel', 'github-pages', 'google-analytics', 'google-workspace', 'hetzner', 'hubspot', 'jsdelivr', 'kinsta'],
  ...['lets-encrypt', 'microsoft-365', 'netlify', 'proofpoint', 'sentry', 'shopify', 'squarespace', 'vercel'],
  ...['webflow', 'wix', 'wordpress-com', 'wordpress-vip', 'wp-engine'],
];

it('the catalog is valid: every entry fits the schema, ids, names, aliases and patterns are unique', () =>
  assert.equal(providers.length, entries.length));
it('the catalog covers every category', () => {
  const min = {
    ...{ dns: 550, email: 230, email_security: 100, email_sending: 220, verified_service: 236 },
    ...{ hosting: 320, cdn: 50, security: 70, certificate_authority: 74, web_platform: 1400 },
  };
  const count = (category: string) =>
    providers.filter((provider) => provider.rules.some((group) => group.category === category)).length;
  for (const [category, minimum] of Object.entries(min))
    assert.ok(count(category) >= minimum, `${category}: ${count(category)}`);
});
it('the catalog names no CPE product for a service, which has no old versions in use', () => {
  for (const id of SERVICES) {
    const provider = rulebook.providers.get(id);
    assert.ok(provider, id);
    assert.deepEqual(productKeysOf(provider), [], id);
  }
});
it('the catalog names products only of what publishes advisories for itself: web software and appliances', () => {
  for (const provider of providers.filter((each) => productKeysOf(each).length > 0)) {
    for (const { category } of provider.rules)
      assert.ok(category === 'web_platform' || category === 'security', provider.id);
    assert.ok(provider.cpe.length > 0, `${provider.id} has no CPE`);
  }
});
it('the catalog names the product of everything that it reads a version of', () => {
  const reading = providers.filter(({ rules }) =>
    rules.some(
      ({ header, html }) =>
        header?.some(({ version }) => version !== undefined) ||
        html?.generator?.some((generator) => typeof generator !== 'string'),
    ),
  );
  assert.ok(reading.length >= 20, `${reading.length} providers`);
  for (const provider of reading) assert.ok(productKeysOf(provider).length > 0, provider.id);
});
it('the catalog says how many numbers a release has only of products that advisories name', () => {
  const parts = new Map(providers.map(({ id, releaseParts }) => [id, releaseParts]));
  for (const id of ['apache', 'nginx', 'php', 'openssl', 'tomcat', 'python']) assert.equal(parts.get(id), 3, id);
  // 6.4 and 6.4.1, 4.17 and 5.0.6, 20.0.4 and 18.0: a version of two numbers may be complete.
  for (const id of ['wordpress', 'squid', 'gunicorn', 'tornado', 'microsoft-iis'])
    assert.equal(parts.get(id), undefined, id);
  for (const provider of providers.filter(({ releaseParts }) => releaseParts !== undefined))
    assert.ok(productKeysOf(provider).length > 0, provider.id);
});

it('the catalog has each entry in the file of its letter, sorted by id', () => assert.deepEqual(misplaced(), []));
it('the catalog gives each network to one provider', () => {
  const holders = new Map<number, string>();
  for (const { id, rules } of providers) {
    for (const asn of rules.flatMap((group) => group.asn ?? [])) {
      assert.equal(holders.get(asn) ?? id, id, `AS${asn}`);
      holders.set(asn, id);
    }
  }
  assert.ok(holders.size >= 300, `${holders.size} networks`);
});
