import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { detect } from '../../detect.ts';
import { extractPage } from '../../evidence/page.ts';
import type { Service } from '../../profile.ts';
import { compileRulebook } from '../../rulebook/rulebook.ts';
import { testCatalog as catalog, communityTechnologies, rulebookWith, withWebsites } from '../../test/community-set.ts';
import { type EvidenceParts, evidenceOf } from '../../test/evidence-of.ts';
import { readFingerprints } from '../read/read-set.ts';

const rulebook = rulebookWith(communityTechnologies);

const servicesOf = (parts: EvidenceParts, book = rulebook) => detect(evidenceOf(parts), book).services;
const found = (services: readonly Service[]) => services.map(({ category, provider }) => `${category} ${provider}`);
const scoreOf = (services: readonly Service[], provider: string) =>
  services.find((each) => each.provider === provider)?.score;
const withAssets = (...assets: string[]): EvidenceParts => ({
  http: { page: { assets: assets.map((path) => `https://example.com/${path}`) } },
});
const pageOf = (html: string, keepSource: boolean) =>
  extractPage(html, { url: 'https://example.com/', isTruncated: false, keepSource });

it('a community set is found in every field of the evidence, with the category that the field can prove', () => {
  const parts: EvidenceParts = casesOf('detect', 'site of a community set');
  const services = servicesOf({ ...parts, domain: 'hostling.example' });
  const platforms = 'brisk ember-db hostling inkwell lumen-cms paper quill session-keeper tally-analytics'.split(' ');
  assert.deepEqual(found(services).sort(), [
    ...['cdn fastlane', 'certificate_authority honest-certificates', 'dns nameworks', 'email postbox'],
    ...['email_sending bulkpost', 'hosting hostling', 'verified_service postbox'],
    ...platforms.map((provider) => `web_platform ${provider}`),
  ]);
  const versions = services.filter(({ version }) => version);
  const shown = versions.map(({ provider, version, platform }) => `${provider} ${version} ${platform}`).sort();
  assert.deepEqual(shown, ['brisk 1.2.3 ubuntu', 'lumen-cms 4.5.6 null', 'tally-analytics 2.1 null']);
});
it('a community set reads html and text where the source was kept, and nothing of them where it was not', () => {
  const text = 'Powered\n by <b>Signpost 3.1.4</b><script>Powered by Signpost 9.9.9</script>';
  const html = `<div id="a" class="prose-editor x">${text}</div>`;
  const services = servicesOf({ http: { page: pageOf(`${'<p>padding</p>'.repeat(500)}${html}`, true) } });
  assert.deepEqual(found(services), ['web_platform prose', 'web_platform signpost']);
  const [prose, signpost] = services;
  assert.equal(prose?.evidence[0]?.value, '<div id="a" class="prose-editor');
  assert.deepEqual([signpost?.version, signpost?.evidence[0]?.value], ['3.1.4', 'Powered by Signpost 3.1.4']);
  assert.deepEqual([prose?.score, signpost?.score], [0.95, 0.475], 'a match in visible text counts half');
  assert.deepEqual(servicesOf({ http: { page: pageOf(html, false) } }), []);
});
it('a community set never says more than our own rules of the channel, and less by its confidence', () => {
  for (const [paths, score] of [
    ['halfway-core.js', 0.485],
    ['halfway-core.js halfway-extra.js', 0.776],
    // At most 100 together, and the same pattern twice is one pattern.
    ['halfway-core.js halfway-extra.js halfway-more.js a/halfway-core.js', 0.97],
    ['halfway-core.js a/halfway-core.js', 0.485],
  ] as const)
    assert.equal(scoreOf(servicesOf(withAssets(...paths.split(' '))), 'halfway'), score, paths);
  assert.equal(scoreOf(servicesOf({ http: { cookies: ['keep_a', 'keep_b'] } }), 'session-keeper'), 0.49);
  const both = { http: { headers: { 'x-halfway': '' }, page: { assets: ['https://example.com/halfway-core.js'] } } };
  assert.equal(scoreOf(servicesOf(both), 'halfway'), 0.737, 'families are weighed against each other, not added up');
});
it('a community set implies technologies at half of the strength, three deep, and in cycles once', () => {
  const services = servicesOf({ http: { page: { metas: { generator: 'Lumen' } } } });
  const scores = Object.fromEntries(services.map(({ provider, score }) => [provider, score]));
  assert.deepEqual(scores, { 'lumen-cms': 0.95, 'ember-db': 0.475, quill: 0.238, inkwell: 0.119, paper: 0.059 });
  const quill = services.find(({ provider }) => provider === 'quill')?.evidence[0]?.rule;
  assert.equal(quill, 'quill/html/set:implies:lumen-cms');
});
it('a community set drops what requires something that is not there', () => {
  const { http } = withAssets('lumen-forms/a.js', 'shop-badge.js', 'edgy-boost.js', 'lonely.js');
  assert.deepEqual(servicesOf({ http: { ...http } }), []);
  const headers = { 'x-lumen-page': '1', 'x-edgy-ray': '1' };
  const names = servicesOf({ http: { ...http, headers, cookies: ['basketry'] } }).map(({ provider }) => provider);
  // No set has what Lonely requires.
  const kept = ['lumen-forms', 'any-shop-badge', 'edgy-boost', 'lonely'].filter((name) => names.includes(name));
  assert.deepEqual(kept, ['lumen-forms', 'any-shop-badge', 'edgy-boost']);
  assert.deepEqual(servicesOf(withAssets('chicken.js', 'egg-shell.js')), [], 'a circle supports none of its members');
});
it('a community set drops what another excludes, with all that it implied', () => {
  assert.deepEqual(found(servicesOf({ http: { headers: { server: 'Brisk-Fork' } } })), ['web_platform brisk-fork']);
  const mutual = rulebookWith({
    Left: { cats: [1], headers: { 'x-left': '' }, excludes: ['Right'], implies: ['Hand'] },
    Right: { cats: [1], cookies: { right: '' }, excludes: ['Left'], implies: ['Glove'] },
    Hand: { cats: [1], headers: { 'x-hand': '' }, implies: ['Right'] },
    Glove: { cats: [1] },
  });
  const services = servicesOf({ http: { headers: { 'x-left': '1' }, cookies: ['right'] } }, mutual);
  assert.deepEqual(found(services), ['web_platform left', 'web_platform hand'], 'the stronger of two stands');
});
it('a community set adds to the provider that the catalog has, in the category that it has there', () => {
  const page = { assets: ['https://apis.googly.test/x', 'https://example.com/waffle-recipes.js'] };
  const services = servicesOf({ mx: ['10 aspmx.l.googly.test'], http: { cookies: ['waffle_extra'], page } });
  const names = ['email googly', 'security waffle', 'web_platform googly', 'web_platform waffle-recipes'];
  assert.deepEqual(found(services), names);
  const rules = services[0]?.evidence.map(({ rule }) => rule);
  assert.deepEqual(rules, ['googly/mx/aspmx.l.googly.test', 'googly/mx/set:dns:MX: aspmx\\.l\\.googly\\.test']);
  assert.equal(services[0]?.score, 0.98, 'a duplicate record counts once');
});
it('a community set makes providers of the rest, with kinds and product names, that are found by name', () => {
  const lumen = rulebook.findProvider('lumen cms');
  assert.deepEqual([lumen?.id, lumen?.kinds, lumen?.cpe], ['lumen-cms', ['cms', 'publishing'], ['lumen:lumen_cms']]);
  assert.equal(rulebook.providers.get('lumen-cms'), lumen);
  assert.equal(rulebook.findProvider('Waffle.js'), undefined);
  assert.deepEqual(rulebook.sets?.unresolved, ['Unknown Product']);
});
it('a community set judges mail by the same rules: a filter is not a mailbox, and an entry of the SPF policy is not an account', () => {
  const services = servicesOf({ mx: ['10 a.mailwall.example'], txt: ['v=spf1 include:spf.bulkpost.example'] });
  assert.deepEqual(found(services), ['email_security mailwall', 'email_sending bulkpost']);
  const broken = servicesOf({ txt: ['v=spf1 include:spf.bulkpost.example', 'v=spf1 -all'] });
  assert.equal(scoreOf(broken, 'bulkpost'), 0.88, 'of two policies too');
});
it('a community set takes nothing of a wall but the wall, nothing of another domain, and no issuer that anyone could write', () => {
  const page = { assets: ['https://example.com/halfway-core.js'] };
  const headers = { via: 'fastlane', 'x-lumen-page': '' };
  const wall = { status: 'blocked', statusCode: 403, headers, cookies: ['basketry'], page } as const;
  assert.deepEqual(found(servicesOf({ http: wall })), ['cdn fastlane']);
  const elsewhere = { url: 'https://other.example.net/', headers: { 'x-lumen-page': '' }, page };
  assert.deepEqual(servicesOf({ http: elsewhere }), []);
  const selfSigned = { isTrusted: false, problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
  assert.deepEqual(servicesOf({ tls: { status: 'found', issuer: 'Honest (Root) Ltd.', ...selfSigned } }), []);
});
it('a community set lets no header of its Security category stand before a host', () => {
  const book = rulebookWith({
    HSTS: { cats: [16], headers: { 'Strict-Transport-Security': '' } },
    Basic: { cats: [16], headers: { 'WWW-Authenticate': '^Basic' } },
  });
  const headers = { 'strict-transport-security': 'max-age=1', 'www-authenticate': 'Basic realm="a"' };
  const { services, roles } = detect(evidenceOf({ addresses: [{ asn: 64499 }], http: { headers } }), book);
  assert.deepEqual(found(services), ['hosting cloudy', 'web_platform hsts', 'web_platform basic']);
  assert.equal(roles.protection, 'absent');
  assert.deepEqual(servicesOf({ http: { headers, status: 'blocked', statusCode: 401 } }, book), []);
});
it('a community set takes what a header mentions for nothing that serves the page, and no picture or style for a script', () => {
  const headers = { 'content-security-policy': 'script-src cdn.fastlane.example' };
  assert.deepEqual(found(servicesOf({ http: { headers } })), ['web_platform fastlane']);
  const excluded = ['halfway-core.js.png', 'lib/halfway-core.js/theme.css?v=1', 'halfway-core.js/a.SVG#x'];
  assert.deepEqual(servicesOf(withAssets(...excluded)), []);
  assert.deepEqual(found(servicesOf(withAssets(...excluded, 'halfway-core.js?v=a.png'))), ['web_platform halfway']);
});
it('a community set shows a version only if it is complete', () => {
  const versionOf = (...assets: string[]) =>
    servicesOf(withAssets(...assets)).find(({ provider }) => provider === 'tally-analytics')?.version;
  assert.equal(versionOf('tally-legacy.js'), null, 'what a template writes is there only if something was captured');
  const branch = 'cdn.tally.example/v2/tally.js';
  assert.deepEqual([versionOf(branch), versionOf(branch, branch.replace('v2', 'v2.0.1'))], [null, '2.0.1']);
});
it('a community set makes another rulebook version of every difference that detection could see', () => {
  const base = { A: { cats: [1], headers: { 'x-a': '' } } };
  const versionOf = (technologies: Record<string, object>) => rulebookWith(technologies).version;
  const changed = [
    ...[{ headers: { 'x-b': '' } }, { headers: { 'x-a': '\\;confidence:50' } }, { implies: ['A2'] }],
    ...[{ requires: ['B'] }, { cats: [31] }],
  ].map((members) => ({ A: { ...base.A, ...members } }));
  const versions = [base, {}, { A2: base.A }, ...changed].map(versionOf);
  assert.equal(new Set(versions).size, versions.length);
  const meaning = (category: string, alias: string) => {
    const [first, ...rest] = catalog;
    assert.ok(first);
    const content = withWebsites({ A: { ...base.A, cats: [31, 16], excludes: ['Known As'] } });
    const categories = { name: 'categories.json', content: { 31: { name: 'CDN' }, 16: { name: category } } };
    const sets = readFingerprints([categories, { name: 't.json', content }]);
    return compileRulebook([{ ...first, aliases: [alias] }, ...rest], { sets }).version;
  };
  const meanings = [meaning('Security', 'Known As'), meaning('Widgets', 'Known As'), meaning('Security', 'Other')];
  assert.equal(new Set(meanings).size, 3, 'what a category or a name means');
  assert.equal(versionOf({ A: { ...base.A, description: 'another', icon: 'b.svg' } }), versionOf(base));
  assert.equal(compileRulebook(catalog).version, versionOf({}), 'an empty set is no set');
});
