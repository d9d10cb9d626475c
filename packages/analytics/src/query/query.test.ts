import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES, gradeOf, POSTURE_FLAGS, type PostureFlag } from '@strata/detect';
import fc from 'fast-check';
import { codePoint, holds } from '../../../../tests/support/property.ts';
import { DAY_MS } from '../history/daily-series.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { indexOf, plainDomain } from '../test/firms.ts';
import { manyDomains, PROVIDERS } from '../test/random-domains.ts';
import { evaluateQuery } from './evaluate-query.ts';
import { QueryError, type QueryNames } from './query.ts';
import { QUERY_FIELDS } from './query-fields.ts';
import { MAX_NESTING, MAX_QUERY, MAX_TERMS, readQuery } from './read-query.ts';

const NOW = Date.parse('2026-06-30T12:00:00Z');
const names: QueryNames = {
  providerId: (text) => PROVIDERS.find((id) => id === text.toLowerCase().replace(' ltd', '')),
  nearestProvider: (text) => PROVIDERS.find((id) => id.startsWith(text.slice(0, 2))),
  nearest: (text, all) => all.find((name) => name.startsWith(text.slice(0, 3))),
  asciiPart: (text) => text.toLowerCase().replace('ü', 'xn--'),
  momentOf(text, isEnd) {
    const age = /^(\d+)d$/.exec(text)?.[1];
    if (age !== undefined) return NOW - Number(age) * DAY_MS;
    const day = Date.parse(text);
    return Number.isNaN(day) ? undefined : day + (isEnd ? DAY_MS - 1 : 0);
  },
};

type Matches = (domain: IndexedDomain) => boolean;
const has = ({ posture }: IndexedDomain, flag: PostureFlag) => ((posture >>> POSTURE_FLAGS.indexOf(flag)) & 1) === 1;
const uses =
  (category: string | undefined, isIt: (provider: string) => boolean): Matches =>
  ({ services }) =>
    services.some((service) => (category ?? service[0]) === service[0] && isIt(service[1]));
const sectorOf = ({ sector }: IndexedDomain) => (sector === 'a-sector-of-tomorrow' ? 'unknown' : sector);
const ageOf = ({ scannedAt }: IndexedDomain) => (NOW - scannedAt) / DAY_MS;
const dayOf = ({ scannedAt }: IndexedDomain) => new Date(scannedAt).toISOString().slice(0, 10);
const within =
  (from: number, to: number): Matches =>
  ({ score }) =>
    score !== null && score >= from && score <= to;
const [first = 'dns', second = 'email'] = CATEGORIES;

/** Each form of a condition, with what it means. */
const CONDITIONS: readonly (readonly [text: string, matches: Matches])[] = [
  ['ab', ({ name }) => name.includes('ab')],
  ['name:SHOP', ({ name }) => name.includes('shop')],
  ['"a-"', ({ name }) => name.includes('a-')],
  ['ab*', ({ name }) => name.startsWith('ab')],
  ['*b.com', ({ name }) => name.endsWith('b.com')],
  ['*op*', ({ name }) => name.includes('op')],
  ['bücher-kva', ({ name }) => name.includes('bxn--cher')],
  ['domain:shop.de', ({ name }) => name === 'shop.de'],
  ['tld:.uk', ({ name }) => name.endsWith('.uk')],
  ['tld:xn*', ({ name }) => name.endsWith('.xn--p1ai')],
  ['tld:*', () => true],
  ['provider:acme', uses(undefined, (id) => id === 'acme')],
  ['PROVIDER: "Acme Ltd"', uses(undefined, (id) => id === 'acme')],
  ['provider:c*', uses(undefined, (id) => id === 'cirrus')],
  ['provider:*', ({ services }) => services.length > 0],
  [`${first}:*`, uses(first, () => true)],
  [`${second}:delta`, uses(second, (id) => id === 'delta')],
  ['verified-service:e*', uses('verified_service', (id) => id === 'ember')],
  [`category:${first}`, uses(first, () => true)],
  ['confidence:low', ({ services }) => services.some((service) => service[2] === 'low')],
  ['sector:unknown', (domain) => sectorOf(domain) === 'unknown'],
  ['sector:(media OR computer*)', (domain) => ['media', 'computer_it'].includes(sectorOf(domain))],
  ['state:live', ({ state }) => state === 'active' || state === 'parked'],
  ['state:(-active)', ({ state }) => state !== 'active'],
  ['grade:A*', ({ score }) => score !== null && gradeOf(score).startsWith('A')],
  ['grade:f', ({ score }) => score !== null && gradeOf(score) === 'F'],
  ['score:*', within(0, 100)],
  ['score:50', within(50, 50)],
  ['score:>=80', within(80, 100)],
  ['score:>99', within(100, 100)],
  ['score:<=20', within(0, 20)],
  ['score:<1', within(0, 0)],
  ['score:[60 TO 80]', within(60, 80)],
  ['score:[* TO 9]', within(0, 9)],
  ['score:[80 TO 60]', () => false],
  ['dmarc:none', (domain) => has(domain, 'dmarc_none')],
  ['dmarc:missing', (domain) => has(domain, 'dmarc_measured') && !has(domain, 'dmarc_valid')],
  [
    'spf:missing',
    (domain) => has(domain, 'spf_measured') && !has(domain, 'spf_valid') && !has(domain, 'spf_permerror'),
  ],
  ['dnssec:no', (domain) => has(domain, 'dnssec_measured') && !has(domain, 'dnssec')],
  ['mta-sts:unmeasured', (domain) => !has(domain, 'mta_sts_measured')],
  ['tls:untrusted', (domain) => has(domain, 'tls_measured') && !has(domain, 'tls_trusted')],
  ['flag:caa', (domain) => has(domain, 'caa')],
  ['scanned:>70d', (domain) => ageOf(domain) > 70],
  ['scanned:<=70d', (domain) => ageOf(domain) <= 70],
  ['scanned:70d', (domain) => ageOf(domain) <= 70],
  ['scanned:[30d TO 200d]', (domain) => ageOf(domain) >= 30 && ageOf(domain) <= 200],
  ['scanned:>2026-01-31', (domain) => dayOf(domain) > '2026-01-31'],
  ['scanned:<2026-01-31', (domain) => dayOf(domain) < '2026-01-31'],
  ['scanned:[2026-01-31 TO 2026-05-01]', (domain) => dayOf(domain) >= '2026-01-31' && dayOf(domain) <= '2026-05-01'],
];

interface Asked {
  readonly text: string;
  readonly matches: Matches;
}
/** What binds: a single term or parentheses, NOT, AND, OR. */
const { query: queries } = fc.letrec<Record<'atom' | 'not' | 'and' | 'query', Asked>>((tie) => ({
  atom: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CONDITIONS).map(([text, matches]) => ({ text, matches })) },
    { weight: 1, arbitrary: tie('query').map(({ text, matches }) => ({ text: `( ${text})`, matches })) },
  ),
  not: fc.tuple(fc.constantFrom('', '', 'NOT ', '-', 'NOT -'), tie('atom')).map(([sign, { text, matches }]) => ({
    text: sign + text,
    matches: sign === 'NOT ' || sign === '-' ? (domain: IndexedDomain) => !matches(domain) : matches,
  })),
  and: fc
    .tuple(fc.array(tie('not'), { minLength: 1, maxLength: 3 }), fc.constantFrom(' AND ', ' ', '\n'))
    .map(([all, by]) => ({
      text: all.map(({ text }) => text).join(by),
      matches: (domain: IndexedDomain) => all.every(({ matches }) => matches(domain)),
    })),
  query: fc.array(tie('and'), { minLength: 1, maxLength: 2 }).map((any) => ({
    text: any.map(({ text }) => text).join(' OR '),
    matches: (domain: IndexedDomain) => any.some(({ matches }) => matches(domain)),
  })),
}));

function expectFound(domains: readonly IndexedDomain[], { text, matches }: Asked, index = indexOf(domains)): void {
  const expected = domains.filter(matches).map(({ id }) => id);
  const found = [...evaluateQuery(index, readQuery(text, names)).toArray()];
  assert.deepEqual(
    found,
    expected.sort((a, b) => a - b),
    text,
  );
}

describe('queries', () => {
  it('find what each condition means', () =>
    holds(60, [manyDomains(90)], (domains) => {
      const index = indexOf(domains);
      for (const [text, matches] of CONDITIONS) expectFound(domains, { text, matches }, index);
    }));
  it('combine conditions by NOT, then AND, then OR, and by parentheses', () =>
    holds(60, [manyDomains(60), fc.array(queries, { maxLength: 12 })], (domains, all) => {
      const index = indexOf(domains);
      for (const each of all) if (termsIn(each.text) <= MAX_TERMS) expectFound(domains, each, index);
    }));
  it('a removed domain is no longer found', () => {
    const index = indexOf([plainDomain(1, { name: 'a.de' }), plainDomain(2, { name: 'b.de' })]);
    index.remove(1);
    for (const text of ['tld:de', 'tld:*', 'NOT tld:com', '*.de', 'scanned:<99999d OR b'])
      assert.deepEqual([...evaluateQuery(index, readQuery(text, names)).toArray()], [2]);
  });
});

const termsIn = (text: string) => text.split(/ AND | OR |\s/).length;

/** The beginning of each message, and the queries that it is for, with a mark at its position. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'expected a condition': ['‸', '  ‸', 'a AND‸', 'a NOT ‸', '(‸)', 'a OR ‸OR b', '‸AND a'],
  'expected a value of provider': ['provider:‸', 'a provider: ‸AND a', 'provider:(acme OR ‸)'],
  'unknown field frovider': ['provider:acme ‸frovider:acme', '-‸frovider:(a)'],
  'unknown field scores; did you mean score?': ['(a ‸scores:1)'],
  'unknown field toString': ['‸toString:a'],
  'unknown provider acne; did you mean acme?': ['a provider:‸acne', 'email:( ‸"acne")'],
  'unknown value retail; did you mean retail_ecommerce?': ['sector:‸retail', 'sector:(media OR ‸retail)'],
  'unknown value zzz*; known are unknown, computer_it': ['sector:‸zzz*'],
  'unknown value __proto__; known are valid, none': ['dmarc:‸__proto__'],
  'version cannot be queried: versions are in GET': ['a ‸version:1.2'],
  'changed_since cannot be queried: changes are in': ['‸changed-since:2026-01-01'],
  'write AND for the operator': ['a ‸and b'],
  'this parenthesis is not closed': ['‸(a OR b', 'tld:‸(de'],
  'this quotation mark is not closed': ['name:‸"ab', 'a ‸"b\\"'],
  'unexpected )': ['a‸)'],
  'unexpected ]': ['a ‸] b', '(a‸])'],
  'a range has the form': ['score:‸[1 2]', '‸[a'],
  'expected an integer from 0 to 100': ['score:[10 TO ‸1000]', 'score:>=‸-5', 'score:‸"high"'],
  'expected a date, a time with a zone or an age': ['scanned:>‸yesterday', 'scanned:[7d TO ‸8x]'],
  'ranges are for score and scanned': ['sector:‸[a TO b]'],
  'comparisons are for score and scanned': ['tld:‸>de'],
  'an asterisk cannot be used here': ['a‸*b', '*‸*b', 'domain:a‸*', 'dmarc:rej‸*'],
  'expected 1 to 253 characters': ['‸*', '‸a/b', '‸""', `‸${'a'.repeat(254)}`],
  'tld is the last label of a name; name:*.co.uk': ['tld:‸co.uk'],
  'more than 16 nested parentheses': [`${'('.repeat(MAX_NESTING)}‸(a`],
  'more than 64 terms': [`${'a '.repeat(MAX_TERMS)}‸a`],
  'the query has more than 2000 characters': [`${'a'.repeat(MAX_QUERY)}‸a`],
};

describe('a query that cannot be evaluated', () => {
  for (const [message, marked] of Object.entries(REFUSED))
    it(`is refused at its position: ${message}`, () => {
      for (const each of marked)
        assert.throws(
          () => readQuery(each.replace('‸', ''), names),
          (error) => {
            assert.ok(error instanceof QueryError && error.message.startsWith(message), String(error));
            assert.equal(error.position, each.indexOf('‸'), each);
            assert.equal(error.nearest, /did you mean (\w+)/.exec(message)?.[1]);
            return true;
          },
        );
    });
  it('is refused whatever it contains, at a position in it, and any other is evaluated', () => {
    const index = indexOf([plainDomain(1, {})]);
    const tokens = fc.constantFrom(
      ...'( ) [ ] " \\ : - * AND OR NOT TO < >= 80 7d score: tld: a'.split(' '),
      ...Object.keys(QUERY_FIELDS),
    );
    const hostile = fc
      .array(fc.oneof(tokens, codePoint, fc.constant(' ')), { maxLength: 60 })
      .map((all) => all.join(''));
    holds(2_000, [hostile], (text) => {
      try {
        evaluateQuery(index, readQuery(text, names));
      } catch (error) {
        assert.ok(error instanceof QueryError, String(error));
        assert.ok(error.position >= 0 && error.position <= text.length && error.message.length < 1_000);
      }
    });
    for (const text of ['('.repeat(2_000), 'NOT '.repeat(500), '"\\'.repeat(1_000), '[ '.repeat(1_000)])
      assert.throws(() => readQuery(text, names), QueryError);
  });
});
