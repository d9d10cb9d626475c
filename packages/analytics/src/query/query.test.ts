import assert from 'node:assert/strict';
import { it } from 'node:test';
import { POSTURE_FLAGS } from '@strata/detect';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import { DAY_MS } from '../history/daily-series.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { indexOf, plainDomain } from '../test/firms.ts';
import { manyDomains, PROVIDERS, roleOf } from '../test/random-domains.ts';
import { evaluateQuery } from './evaluate-query.ts';
import { QueryError, type QueryNames } from './query.ts';
import { QUERY_FIELDS } from './query-fields.ts';
import { readQuery } from './read-query.ts';

interface QueryVectors {
  readonly now: string;
  readonly domains: readonly (Pick<IndexedDomain, 'name' | 'state' | 'sector' | 'score' | 'country'> &
    Readonly<Record<'scanned' | 'first' | 'changed' | 'services' | 'flags', string>>)[];
  readonly found: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, readonly string[]>>;
}
const vectors = vectorsIn<QueryVectors>('queries.json');
const NOW = Date.parse(vectors.now);
const names: QueryNames = {
  providerId: (text) => PROVIDERS.find((id) => id === text.toLowerCase().replace(' ltd', '')),
  nearestProvider: (text) => PROVIDERS.find((id) => id.startsWith(text.slice(0, 2))),
  nearest: (text, all) => all.find((name) => name.startsWith(text.slice(0, 3))),
  providersOfKind: (kind) => (kind === 'cdn' ? ['cirrus', 'none'] : []),
  asciiPart: (text) => text.toLowerCase().replace('bücher', 'xn--bcher-kva'),
  segment(name, start) {
    if (name !== 'shops') throw new QueryError('unknown segment', start);
    return readQuery('shop', names);
  },
  momentOf(text, isEnd) {
    const age = /^(\d+)d$/.exec(text)?.[1];
    const moment = age === undefined ? Date.parse(text) : NOW - Number(age) * DAY_MS;
    const days = isEnd ? { 7: 31, 10: 1 }[text.length] : undefined;
    return Number.isNaN(moment) ? undefined : moment + (days ? days * DAY_MS - 1 : 0);
  },
};
const find = (index: ReturnType<typeof indexOf>, text: string) => [
  ...evaluateQuery(index, readQuery(text, names)).toArray(),
];

type Matches = (domain: IndexedDomain) => boolean;
/** Conditions of every kind, as they are worked out from one domain. */
const CONDITIONS: Readonly<Record<string, Matches>> = {
  ab: ({ name }) => name.includes('ab'),
  'ab*': ({ name }) => name.startsWith('ab'),
  '*b.com': ({ name }) => name.endsWith('b.com'),
  'tld:(uk OR c*)': ({ name }) => /\.(?:uk|c[^.]*)$/.test(name),
  'provider:(acme OR c*)': ({ services }) => services.some(([, id]) => id === 'acme' || id === 'cirrus'),
  'email:delta': ({ services }) => services.some(([category, id]) => category === 'email' && id === 'delta'),
  'role:dmarc_reports': ({ services }) => services.some(([of, id]) => roleOf(of, id) === 'dmarc_reports'),
  'sector:unknown': ({ sector }) => ['unknown', 'a-sector-of-tomorrow'].includes(sector),
  'state:live': ({ state }) => state === 'active' || state === 'parked',
  'score:[30 TO 70]': ({ score }) => score !== null && score >= 30 && score <= 70,
  'score:>=30': ({ score }) => score !== null && score >= 30,
  'country:de': ({ name, country }) => name.endsWith('.de') || country === 'DE',
  'flag:dnssec': ({ posture }) => ((posture >>> POSTURE_FLAGS.indexOf('dnssec')) & 1) === 1,
  'scanned:>70d': ({ scannedAt }) => NOW - scannedAt > 70 * DAY_MS,
  'first_seen:*..2024-01-31': ({ firstSeen = 0 }) => firstSeen > 0 && firstSeen < Date.parse('2024-02-01'),
  'since:2024-01-31': ({ changedAt = 0 }) => changedAt >= Date.parse('2024-01-31'),
};

type Asked = readonly [text: string, matches: Matches];
/** By what binds: a condition or parentheses, NOT, AND, OR. */
const { query: queries } = fc.letrec<Record<'atom' | 'not' | 'and' | 'query', Asked>>((tie) => ({
  atom: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...Object.entries(CONDITIONS)) },
    { weight: 1, arbitrary: tie('query').map(([text, matches]): Asked => [`( ${text})`, matches]) },
  ),
  not: fc
    .tuple(fc.constantFrom('', 'NOT -', 'NOT ', '-'), tie('atom'))
    .map(([sign, [text, is]]): Asked => [sign + text, (domain) => is(domain) !== ['NOT ', '-'].includes(sign)]),
  and: fc
    .tuple(fc.array(tie('not'), { minLength: 1, maxLength: 3 }), fc.constantFrom(' AND ', ' ', '\n'))
    .map(([all, by]): Asked => [all.map(([text]) => text).join(by), (domain) => all.every(([, is]) => is(domain))]),
  query: fc
    .array(tie('and'), { minLength: 1, maxLength: 2 })
    .map((any): Asked => [any.map(([text]) => text).join(' OR '), (domain) => any.some(([, is]) => is(domain))]),
}));

function isWithinLimits(text: string): boolean {
  try {
    return Boolean(readQuery(text, names));
  } catch (error) {
    return !/^more than \d+ terms/.test(String((error as Error).message));
  }
}

const index = indexOf(
  vectors.domains.map(({ name, scanned, first, changed, services, flags, ...facts }, id) => ({
    ...plainDomain(id, { name, ...facts }),
    ...{ scannedAt: Date.parse(scanned), firstSeen: Date.parse(first), changedAt: changed ? Date.parse(changed) : 0 },
    services: services
      .split(/, |^$/)
      .filter(Boolean)
      .map((each) => each.split(' ') as never),
    posture: POSTURE_FLAGS.reduce((bits, flag, i) => bits | (Number(flags.split(' ').includes(flag)) << i), 0),
  })),
);
it('queries find what each field means', () => {
  for (const [text, found] of Object.entries(vectors.found)) {
    const names = find(index, text).map((id) => index.names.name(id));
    assert.equal(names.join(' '), found, text);
  }
});
it('queries combine conditions by NOT, then AND, then OR, and by parentheses, also after removals', () =>
  holds(80, [manyDomains(80), fc.array(queries, { maxLength: 12 })], (domains, all) => {
    const some = indexOf(domains);
    const kept = domains.filter(({ id }) => id % 5 !== 0 || !some.remove(id)).sort((a, b) => a.id - b.id);
    for (const [text, matches] of [...all, ...Object.entries(CONDITIONS)])
      if (isWithinLimits(text)) {
        const found = kept.filter(matches).map(({ id }) => id);
        assert.deepEqual(find(some, text), found, text);
        const part = DomainSet.of(kept.map(({ id }) => id).filter((id) => id % 3 !== 0));
        const within = evaluateQuery(some, readQuery(text, names), part).toArray();
        assert.deepEqual([...within], [...found.filter((id) => part.has(id))], text);
      }
  }));
it('queries that cannot be evaluated are refused at their position, with the nearest name', () => {
  for (const [message, marked] of Object.entries(vectors.refused))
    for (const each of marked)
      assert.throws(
        () => readQuery(each.replace('‸', ''), names),
        (error) => {
          assert.ok(error instanceof QueryError && error.message.startsWith(message), `${each}: ${error}`);
          const nearest = /did you mean (\w+)/.exec(message)?.[1];
          assert.deepEqual([error.position, error.nearest], [each.indexOf('‸'), nearest], each);
          return true;
        },
      );
});
it('queries are evaluated or refused, whatever they contain', () => {
  const tokens = '( ) [ ] " \\ : - * AND OR NOT TO < >= 80 7d score: tld: a'.split(' ');
  const parts = fc.oneof(fc.constantFrom(...tokens, ' ', ...Object.keys(QUERY_FIELDS)), codePoint);
  holds(2_000, [fc.array(parts, { maxLength: 60 })], (all) => {
    const text = all.join('');
    try {
      find(index, text);
    } catch (error) {
      assert.ok(error instanceof QueryError, String(error));
      assert.ok(error.position >= 0 && error.position <= text.length && error.message.length < 1_000);
    }
  });
  for (const unit of ['(', 'NOT ', '"\\', '[ ', '-('])
    assert.throws(() => readQuery(unit.repeat(2_000 / unit.length), names), QueryError);
});
