import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { loadCatalog } from '../load-catalog.ts';
import { compileRulebook } from '../rulebook.ts';
import { type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';
import { rows } from '../test/rows.ts';
import { testEntries } from '../test/rulebook-of.ts';
import { readFingerprints } from './read-set.ts';

const at = (host: string) => ({ website: `https://${host.includes('.') ? host : `${host}.example`}` });
const dns = (host: string) => [{ category: 'dns', ns: [host] }];
const catalog = loadCatalog([
  ...testEntries,
  {
    ...{ id: 'phoenix', name: 'Phoenix Framework', aliases: ['Firebird'], kinds: ['web-framework'] },
    ...{ website: 'https://phoenix-framework.example', cpe: ['phoenix:framework'] },
    rules: [{ category: 'web_platform', cookie: ['_phoenix'] }],
  },
  { ...{ id: 'quick', name: 'Quick', owner: 'Sprint', kinds: ['cdn'] }, ...at('quick'), rules: dns('quick.test') },
  { ...{ id: 'seal-dns', name: 'Seal Managed DNS', kinds: ['dns-host'] }, ...at('seal'), rules: dns('seal.test') },
]);
const HEADERS = { headers: { 'x-some': '' } };
const VERSIONED = { headers: { 'x-some': '([\\d.]+)\\;version:\\1' } };

const bookOf = (technologies: unknown) =>
  compileRulebook(catalog, { sets: readFingerprints([{ name: 't.json', content: technologies }]) });
/** `provider by`, or the id of the new provider. */
function takenFor(name: string, entry: object, others: object = {}): string {
  const { sets } = bookOf({ [name]: { cats: [5], ...HEADERS, ...entry }, ...others });
  const merge = sets?.merges.find(({ technology }) => technology === name);
  return merge ? `${merge.provider} ${merge.by}` : (sets?.technologies[0]?.provider.id ?? '');
}

describe('a technology of a set is a provider of the catalog', () => {
  const taken = (by: string, name: string, entry: object) => assert.equal(takenFor(name, entry), by);
  const framework = 'https://phoenix-framework.example/x';
  rows(taken, [
    ['by its CPE product', 'phoenix product', 'Anything', { ...at('a'), cpe: 'cpe:2.3:a:phoenix:framework:*' }],
    ['by name', 'phoenix name', 'Phoenix  framework', at('elsewhere')],
    ['by name and address, with versions', 'phoenix name', 'Firebird', { website: framework, ...VERSIONED }],
    ['by a name of one word and its domain', 'quick name', 'QUICK', { website: 'https://docs.quick.example/' }],
    ['by a name of one word and its kind', 'quick name', 'Quick', { ...at('other'), cats: [31] }],
    ['by its address and a like name', 'quick website', 'Sprint Quick.js', { website: 'https://www.quick.example/' }],
  ]);

  it('is in the list of merges', () => {
    const { sets } = bookOf({ Quick: { cats: [31], website: 'https://quick.example', ...HEADERS } });
    assert.deepEqual(sets?.merges, [{ technology: 'Quick', provider: 'quick', by: 'name' }]);
  });
});

describe('a technology of a set is a provider of its own', () => {
  const own = (id: string, name: string, entry: object) => assert.equal(takenFor(name, entry), id);
  const code = { website: 'https://code.example/phoenix', cats: [18] };
  rows(own, [
    ['whose name is no more than the id of another', 'phoenix-community', 'Phoenix', code],
    ['of another kind, with a name of one word', 'quick-community', 'Quick', at('quick.invalid')],
    ['with a namesake that has advisories', 'firebird', 'Firebird', { ...at('firebird'), cats: [18] }],
    ['with versions, and such a namesake', 'phoenix-framework', 'Phoenix Framework', { ...at('a'), ...VERSIONED }],
    ['of the same maker under another name', 'quick-consent', 'Quick Consent', at('quick')],
    ['that is the maker of what the catalog has', 'seal', 'Seal', at('seal')],
  ]);
  it('at an address that another technology has too', () => {
    const other = { 'Quick Chat': { cats: [52], website: 'https://quick.example', ...HEADERS } };
    assert.equal(takenFor('Sprint Quick', { website: 'https://quick.example' }, other), 'sprint-quick');
  });
  it('and brings the other neither its role nor its versions', () => {
    const book = bookOf({ Phoenix: { cats: [18], website: 'https://code.example/phoenix', ...VERSIONED } });
    const parts: EvidenceParts = { http: { headers: { 'x-some': '1.2.3' }, cookies: ['_phoenix'] } };
    const services = detect(evidenceOf(parts), book).services.map(({ provider, version }) => [provider, version]);
    assert.deepEqual(Object.fromEntries(services), { phoenix: null, 'phoenix-community': '1.2.3' });
    assert.equal(services.length, 2);
  });
});
