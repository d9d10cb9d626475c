// Every question, with random arguments, about one random world with a history: engines must give the same complete answers.
import { CATEGORIES, POSTURE_FLAGS, ROLE_LIST, SECTORS } from '@strata/detect';
import fc from 'fast-check';
import { type Analytics, listDomains, type Selection } from '../analytics.ts';
import { TIME_KINDS } from '../columns/column-page.ts';
import { LEVELS, STATES, Vocabulary } from '../columns/terms.ts';
import type { IndexedChange } from '../history/change-history.ts';
import { DAY_MS } from '../history/daily-series.ts';
import { DomainIndex, type IndexedDomain } from '../index/domain-index.ts';
import type { Query } from '../query/query.ts';
import { FACETS } from '../questions/domain-query.ts';
import type { DomainFilter } from '../questions/search.ts';
import { change, DAYS, FIRST_DAY } from './random-changes.ts';
import { manyDomains, ownerOf, PROVIDERS, roleOf } from './random-domains.ts';

export { roleOf };

/** What happened, in order. */
export type Happening =
  | { readonly kind: 'put'; readonly domain: IndexedDomain }
  | { readonly kind: 'remove'; readonly domainId: number }
  | { readonly kind: 'change'; readonly change: IndexedChange };

export interface CountedScan {
  readonly domainId: number;
  readonly at: number;
  readonly state: 'active' | 'unmeasured';
  readonly rulebook: string;
}

export interface World {
  readonly happenings: readonly Happening[];
  readonly scans: readonly CountedScan[];
  /** The last day of its history. */
  readonly today: number;
}

/** Two states of most domains, some removed, and forty days of changes that end on the given day. */
export function worldAt(today: number): fc.Arbitrary<World> {
  const shift = (today - FIRST_DAY - DAYS + 1) * DAY_MS;
  const scan = fc.record({
    domainId: fc.integer({ min: 1, max: 1_500 }),
    at: fc.nat(DAYS * DAY_MS - 1).map((ms) => FIRST_DAY * DAY_MS + shift + ms),
    state: fc.constantFrom('active' as const, 'unmeasured' as const),
    rulebook: fc.constantFrom('r1', 'r2'),
  });
  const many = { minLength: 40, maxLength: 150, size: 'max' } as const;
  const parts = [
    manyDomains(300).filter((all) => all.length > 150),
    fc.array(change, many),
    fc.array(scan, many),
  ] as const;
  return fc.noBias(fc.tuple(...parts)).map(([domains, changes, scans]) => ({
    happenings: [
      ...statesOf(domains.map(inOrder)),
      ...changes.map((each) => ({ kind: 'change' as const, change: moved(each, shift) })),
    ],
    scans,
    today,
  }));
}

/** A domain is first observed before the changes, and changes after it was first observed. */
function inOrder(domain: IndexedDomain): IndexedDomain {
  const firstSeen = Math.min(domain.firstSeen ?? 0, 1_700_000_000_000);
  return { ...domain, firstSeen, changedAt: domain.changedAt ? Math.max(domain.changedAt, firstSeen) : 0 };
}

/**
 * Times do not decrease, as in a store: the first state of every second domain is that of another one. As events, later states
 * have no first scan; some domains are removed, and some of those come back.
 */
function* statesOf(domains: readonly IndexedDomain[]): Generator<Happening> {
  for (const [i, domain] of domains.entries()) {
    const { services, posture, holders, score, state, sector, country } =
      domains[(i * 7 + 3) % domains.length] ?? domain;
    const before = { services, posture, holders, score, state, sector, ...(country === undefined ? {} : { country }) };
    if (i % 2 === 0) yield { kind: 'put', domain: { ...domain, ...before } };
  }
  for (const [i, { firstSeen = 0, ...domain }] of domains.entries())
    yield { kind: 'put', domain: i % 2 === 0 ? domain : { ...domain, firstSeen } };
  for (const [i, { firstSeen: _, changedAt, ...domain }] of domains.entries()) {
    if (i % 9 !== 4) continue;
    yield { kind: 'remove', domainId: domain.id };
    const scannedAt = domain.scannedAt + 1_000;
    // Its changes follow.
    if (changedAt === 0 && scannedAt < 1_790_000_000_000) yield { kind: 'put', domain: { ...domain, scannedAt } };
  }
}

const moved = (each: IndexedChange, shift: number): IndexedChange => ({
  ...each,
  at: each.at + shift,
  confirmedAt: each.confirmedAt + shift,
});

/** The world in the index of the memory engine. */
export function indexOfWorld({ happenings, scans }: World): DomainIndex {
  const index = new DomainIndex({ vocabulary: new Vocabulary([], [], roleOf) });
  for (const each of happenings) {
    if (each.kind === 'put') index.put(each.domain);
    else if (each.kind === 'remove') index.remove(each.domainId);
    else {
      index.history.add(each.change);
      const { domainId, confirmedAt, type } = each.change;
      if (type !== 'reclassified') index.touch(domainId, { changedAt: confirmedAt });
    }
  }
  for (const { domainId, at, state, rulebook } of scans) {
    const measured = state === 'unmeasured' ? 0 : 1;
    if (measured) index.touch(domainId, { scannedAt: at });
    index.history.scans.add(Math.floor(at / DAY_MS), { scans: 1, measured, rulebook });
  }
  index.position = { seq: happenings.length, scanId: scans.length };
  return index;
}

const provider = fc.constantFrom(...PROVIDERS, 'unknown');
const category = fc.constantFrom(...CATEGORIES.slice(0, 4), 'verified_service' as const);
const part = fc.constantFrom('a', 'ab', 'b.c', 'shop', '-', '.de', 'xn--', 'z_');
const moment = fc.integer({ min: 1_590_000_000_000, max: 1_800_000_000_000 });

const conditions: fc.Arbitrary<Query> = fc.oneof(
  terms('category', CATEGORIES.length),
  terms('role', ROLE_LIST.length),
  terms('state', STATES.length),
  terms('sector', SECTORS.length),
  terms('level', LEVELS.length),
  terms('flag', POSTURE_FLAGS.length),
  terms('score', 101),
  fc.record({
    kind: fc.constant('terms' as const),
    of: fc.constant('country' as const),
    numbers: fc.constant([0, 83, 539]),
  }),
  fc.record({ kind: fc.constant('provider' as const), id: provider, isPrefix: fc.boolean() }),
  fc.record({ kind: fc.constant('provider' as const), id: provider, isPrefix: fc.boolean(), category }),
  fc.record({ kind: fc.constant('tld' as const), tld: fc.constantFrom('com', 'u', ''), isPrefix: fc.boolean() }),
  fc.record({ kind: fc.constant('version' as const), id: provider }),
  fc.record({
    ...{ kind: fc.constant('version' as const), id: provider },
    bound: fc.record({
      sign: fc.constantFrom('<', '<=', '=', '>=', '>'),
      version: fc.constantFrom('1', '1.1', '2.0.0'),
    }),
  }),
  fc.record({ kind: fc.constant('name' as const), part, at: fc.constantFrom('anywhere', 'start', 'end', 'exact') }),
  fc
    .record({ kind: fc.constant('time' as const), of: fc.constantFrom(...TIME_KINDS), from: moment, to: moment })
    .map((each) => ({ ...each, to: each.from + Math.abs(each.to - each.from) })),
);

function terms(
  of: 'category' | 'role' | 'state' | 'sector' | 'level' | 'flag' | 'score',
  count: number,
): fc.Arbitrary<Query> {
  const numbers = fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: of === 'score' ? 80 : 3, size: 'max' });
  return numbers.map((all) => ({ kind: 'terms', of, numbers: all }));
}

const { query } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: conditions },
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('query'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not' as const), of: tie('query') }),
  ),
}));
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const within: fc.Arbitrary<Selection | undefined> = maybe(query.map((of) => ({ text: JSON.stringify(of), query: of })));

const score = fc.integer({ min: 0, max: 100 });
const flags = fc.subarray([...POSTURE_FLAGS], { minLength: 1, maxLength: 2 });
const BUILDS = PROVIDERS.flatMap((product) => [
  ...['1.0', '2.0', null].map((version) => ({ product, version, platform: null })),
  { product, version: '1.1', platform: 'ubuntu' },
]);
const filters: fc.Arbitrary<DomainFilter> = fc
  .record({
    ...{ part, provider, category, confidence: fc.constantFrom(...LEVELS), minConfidence: fc.constantFrom(...LEVELS) },
    ...{ role: fc.constantFrom(...ROLE_LIST), with: provider, sector: fc.constantFrom(...SECTORS.slice(0, 4)) },
    ...{ state: fc.constantFrom(...STATES, 'live' as const), flags, without: flags, query },
    score: fc.record({ from: score, to: score }),
    builds: fc.subarray(BUILDS, { minLength: 1 }),
    among: fc.oneof(
      fc.record({
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 1_500 }), { minLength: 300, maxLength: 900, size: 'max' }),
      }),
      fc.record({ names: fc.constant(['a.com', 'b.de', 'shop.com']) }),
    ),
  })
  .chain((all) =>
    fc
      .subarray(Object.keys(all) as (keyof DomainFilter)[], { minLength: 1, maxLength: 3 })
      .map((kept): DomainFilter => Object.fromEntries(kept.map((key) => [key, all[key]]))),
  );

/** What an engine is asked, and its name in a failure. */
export type Question = readonly [name: string, ask: (engine: Analytics) => Promise<unknown>];

const searches: fc.Arbitrary<Question> = fc
  .record({
    ...{ filter: filters, limit: fc.nat(40), offset: fc.nat(3) },
    order: maybe(fc.record({ by: fc.constantFrom('score', ...TIME_KINDS), isDescending: fc.boolean() })),
    after: maybe(fc.tuple(fc.option(fc.nat(100), { freq: 3 }), fc.constantFrom('a.com', 'b-z.de', 'shop'))),
    facets: fc.subarray([...FACETS], { maxLength: 3 }),
  })
  .map(({ order, after, ...rest }) => {
    const key = after && ([order ? after[0] : null, after[1]] as const);
    return [
      `search ${JSON.stringify({ ...rest, order, key })}`,
      (engine) => engine.search({ ...rest, order, after: key }),
    ];
  });

/** Arguments of the questions about many domains. */
const aggregates = fc.record({
  within,
  provider,
  other: maybe(provider),
  category: maybe(category),
  limit: fc.integer({ min: 1, max: 9 }),
});

const aggregatesAbout = ({ today }: World): fc.Arbitrary<readonly Question[]> =>
  fc
    .tuple(aggregates, fc.boolean(), maybe(fc.constantFrom('in' as const, 'out' as const)), fc.nat(DAYS))
    .map(([asked, isSet, direction, ago]) => {
      const { within, provider, other, category, limit } = asked;
      const now = today * DAY_MS + 40_000_000;
      const days = { from: today - ago, to: today };
      const since = isSet ? days.from * DAY_MS : days.from * DAY_MS + 12_345;
      const flows = { since, until: (today + 1) * DAY_MS - 1, direction, limit, within: within?.query };
      const ofProvider = { ...flows, provider, ...(other && { other }), ...(category && { category }) };
      const { direction: _, ...everyFlow } = flows;
      const withDirection = direction ? { ...ofProvider, direction } : everyFlow;
      const every = {
        categories: CATEGORIES,
        roles: ROLE_LIST,
        ownerOf,
        includeParked: isSet,
        changes: { today, first: limit },
      };
      const text = within?.text ?? 'all domains';
      return [
        [`statistics of ${text}`, (engine) => engine.statistics({ within, now })],
        [
          `leaders of ${text}`,
          (engine) => engine.leaders({ within, today, limit, ...(isSet && { after: [40, provider] as const }) }),
        ],
        [`leader ${provider} of ${text}`, (engine) => engine.leaders({ within, today, limit, providers: [provider] })],
        [`markets of ${text}`, (engine) => engine.markets({ ...every, within })],
        [`scorecard of ${text}`, (engine) => engine.scorecard({ within })],
        [`builds ${isSet}`, (engine) => engine.builds(isSet ? [...PROVIDERS, 'unknown'] : [provider])],
        [`adoption of ${provider}`, (engine) => engine.adoption(provider, days)],
        [`flows ${JSON.stringify(withDirection)}`, (engine) => engine.flows(withDirection)],
        [
          `neighbours of ${provider} in ${text}`,
          async (engine) => {
            const { neighbours, ...rest } = await engine.neighbours(provider, { ownerOf, within });
            return { ...rest, neighbours: neighbours.toSorted((a, b) => (a.provider < b.provider ? -1 : 1)) };
          },
        ],
      ];
    });

/** Some dozens of questions about a world. */
export const questionsAbout = (world: World): fc.Arbitrary<readonly Question[]> =>
  fc
    .tuple(
      fc.array(searches, { minLength: 30, maxLength: 30, size: 'max' }),
      fc.array(aggregatesAbout(world), { minLength: 6, maxLength: 6, size: 'max' }),
    )
    .map(([found, rest]) => [['asOf', (engine) => engine.asOf()], ['all domains', listed], ...found, ...rest.flat()]);

const listed = (engine: Analytics) => Array.fromAsync(listDomains(engine, {}, 100));
