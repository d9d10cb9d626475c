import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadCatalog } from './load-catalog.ts';
import { compileRulebook } from './rulebook.ts';
import { provider, testEntries, testRulebook } from './test/rulebook-of.ts';

const versionOf = (entries: readonly unknown[]) => compileRulebook(loadCatalog(entries)).version;
const entry = provider('a', { category: 'email', mx: ['a.test', 'b.test'] });

describe('compileRulebook', () => {
  it('gives a version that comes from the rules alone', () => {
    assert.match(testRulebook.version, /^\d+-[0-9a-f]{16}$/);
    assert.equal(versionOf(testEntries), testRulebook.version);
    assert.equal(versionOf(testEntries.toReversed()), testRulebook.version);
    assert.equal(versionOf([{ ...(entry as object), owner: 'Somebody', name: 'Other' }]), versionOf([entry]));
  });

  it('gives another version for another pattern, category, parking mark or place of a version', () => {
    const versions = [
      versionOf([entry]),
      versionOf([provider('a', { category: 'email', mx: ['a.test', 'c.test'] })]),
      versionOf([provider('a', { category: 'email_security', mx: ['a.test', 'b.test'] })]),
      versionOf([provider('a', { category: 'email', mx: ['a.test', 'b.test'], parking: true })]),
      versionOf([provider('b', { category: 'email', mx: ['a.test', 'b.test'] })]),
      versionOf([provider('a', { category: 'cdn', header: [{ name: 'server', value: 'A' }] })]),
      versionOf([provider('a', { category: 'cdn', header: [{ name: 'server', value: 'A', version: 'A/' }] })]),
      versionOf([provider('a', { category: 'cdn', header: [{ name: 'server', value: 'A', version: '' }] })]),
      versionOf([provider('a', { category: 'cdn', html: { generator: ['Ab'] } })]),
      versionOf([provider('a', { category: 'cdn', html: { generator: [{ start: 'Ab', version: 'Ab ' }] } })]),
      versionOf([]),
    ];
    assert.equal(new Set(versions).size, versions.length);
  });

  it('names every label that the probe must ask for, selectors first', () =>
    assert.deepEqual(testRulebook.probeLabels, ['s1._domainkey', 'selector1._domainkey', 'autodiscover', 'support']));

  it('finds a provider by id, name or alias in any case', () => {
    const rulebook = compileRulebook(loadCatalog([{ ...(entry as object), name: 'Alpha Mail', aliases: ['AM'] }]));
    for (const name of ['a', 'ALPHA mail', 'am']) assert.equal(rulebook.findProvider(name)?.id, 'a', name);
    for (const name of ['', 'constructor', '__proto__', 'alpha'])
      assert.equal(rulebook.findProvider(name), undefined, name);
  });
});
