import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { loadCatalog } from '../load-catalog.ts';
import { compileRulebook } from '../rulebook.ts';
import { type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';
import { testEntries } from '../test/rulebook-of.ts';
import { readFingerprints } from './read-set.ts';

const dns = (host: string) => [{ category: 'dns', ns: [host] }];
const catalog = loadCatalog([
  ...testEntries,
  {
    id: 'phoenix',
    name: 'Phoenix Framework',
    aliases: ['Firebird'],
    website: 'https://phoenix-framework.example',
    kinds: ['web-framework'],
    cpe: ['phoenix:framework'],
    rules: [{ category: 'web_platform', cookie: ['_phoenix'] }],
  },
  {
    id: 'quick',
    name: 'Quick',
    owner: 'Sprint',
    website: 'https://quick.example',
    kinds: ['cdn'],
    rules: dns('quick.test'),
  },
  {
    id: 'seal-dns',
    name: 'Seal Managed DNS',
    website: 'https://seal.example',
    kinds: ['dns-host'],
    rules: dns('seal.test'),
  },
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
  for (const [what, name, entry, expected] of [
    [
      'by its CPE product',
      'Anything',
      { website: 'https://a.example', cpe: 'cpe:2.3:a:phoenix:framework:*' },
      'phoenix product',
    ],
    ['by name', 'Phoenix  framework', { website: 'https://elsewhere.example' }, 'phoenix name'],
    [
      'by name and address, with versions',
      'Firebird',
      { website: 'https://phoenix-framework.example/x', ...VERSIONED },
      'phoenix name',
    ],
    ['by a name of one word and its domain', 'QUICK', { website: 'https://docs.quick.example/' }, 'quick name'],
    ['by a name of one word and its kind', 'Quick', { website: 'https://other.example', cats: [31] }, 'quick name'],
    [
      'by its address under another form of the name',
      'Sprint Quick.js',
      { website: 'https://www.quick.example/' },
      'quick website',
    ],
  ] as const) {
    it(what, () => assert.equal(takenFor(name, entry), expected));
  }

  it('is told in the list of merges', () => {
    const { sets } = bookOf({ Quick: { cats: [31], website: 'https://quick.example', ...HEADERS } });
    assert.deepEqual(sets?.merges, [{ technology: 'Quick', provider: 'quick', by: 'name' }]);
  });
});

describe('a technology of a set is a provider of its own', () => {
  for (const [what, name, entry, expected] of [
    [
      'whose name is no more than the id of another',
      'Phoenix',
      { website: 'https://code.example/phoenix', cats: [18] },
      'phoenix-community',
    ],
    ['of another kind, with a name of one word', 'Quick', { website: 'https://quick.invalid' }, 'quick-community'],
    [
      'with a namesake that has advisories',
      'Firebird',
      { website: 'https://firebird.example', cats: [18] },
      'firebird',
    ],
    [
      'with versions, and a namesake that has advisories',
      'Phoenix Framework',
      { website: 'https://a.example', ...VERSIONED },
      'phoenix-framework',
    ],
    ['of the same maker under another name', 'Quick Consent', { website: 'https://quick.example' }, 'quick-consent'],
    ['that is the maker of what the catalog has', 'Seal', { website: 'https://seal.example' }, 'seal'],
  ] as const) {
    it(what, () => assert.equal(takenFor(name, entry), expected));
  }

  it('at an address that another technology has too', () => {
    const other = { 'Quick Chat': { cats: [52], website: 'https://quick.example', ...HEADERS } };
    assert.equal(takenFor('Sprint Quick', { website: 'https://quick.example' }, other), 'sprint-quick');
  });

  it('and brings the other neither its role nor its versions', () => {
    const book = bookOf({ Phoenix: { cats: [18], website: 'https://code.example/phoenix', ...VERSIONED } });
    const parts: EvidenceParts = { http: { headers: { 'x-some': '1.2.3' }, cookies: ['_phoenix'] } };
    const services = detect(evidenceOf(parts), book).services.map(({ provider, version }) => [provider, version]);
    assert.deepEqual(services.sort(), [
      ['phoenix', null],
      ['phoenix-community', '1.2.3'],
    ]);
  });
});
