// A database of any size from a seed: domains with eight services each, Zipf-distributed providers, and a year of
// changes. Rows are plain values in the columns of the store; there is no scan behind them. For benches.

import { type Random, randomFor } from '../random.ts';
import { nameMaker } from './loader-names.ts';
import { makePosture, scoreOf } from './loader-posture.ts';

export interface LoadOptions {
  readonly seed?: string;
  readonly domains: number;
  readonly providers?: number;
  /** Days of history before `endsAt`. */
  readonly days?: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

export interface LoadedProvider {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly categories: readonly string[];
}

export interface LoadedService {
  readonly category: string;
  readonly role: string;
  readonly provider: string;
  readonly confidence: 'high' | 'medium' | 'low';
  readonly validFrom: number;
}

export interface LoadedChange {
  readonly at: number;
  readonly confirmedAt: number;
  readonly category: string;
  readonly role: string;
  readonly type: 'added' | 'removed' | 'migrated';
  readonly from: string | null;
  readonly to: string | null;
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

export interface LoadedDomain {
  /** From 1, without gaps. */
  readonly id: number;
  readonly name: string;
  readonly state: 'active' | 'parked';
  readonly sector: string;
  readonly posture: number;
  readonly holders: number;
  readonly score: number;
  /** The last scan, and one on an earlier day; a real store would have many. */
  readonly scannedAt: number;
  readonly earlierScanAt: number;
  readonly services: readonly LoadedService[];
  /** Oldest first. */
  readonly changes: readonly LoadedChange[];
}

export interface LoadedWorld {
  readonly providers: readonly LoadedProvider[];
  /** Yields the same domains on each call. */
  domains(): Generator<LoadedDomain>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_SCAN_DAYS = 400;
/** From the first scan that observed a change to the one that confirmed it. */
const CONFIRM_MS = 8 * 3_600_000;

/** Category, role, average number of services per domain, and whether a single provider holds it. */
const KINDS = [
  { category: 'dns', role: 'dns', mean: 1, isExclusive: true },
  { category: 'email', role: 'mailbox', mean: 0.8, isExclusive: true },
  { category: 'email_security', role: 'gateway', mean: 0.25, isExclusive: true },
  { category: 'email_sending', role: 'sender', mean: 1.2, isExclusive: false },
  { category: 'hosting', role: 'origin', mean: 0.8, isExclusive: true },
  { category: 'cdn', role: 'edge', mean: 0.4, isExclusive: true },
  { category: 'security', role: 'protection', mean: 0.15, isExclusive: false },
  { category: 'verified_service', role: 'verified', mean: 1.8, isExclusive: false },
  { category: 'certificate_authority', role: 'issuer', mean: 0.9, isExclusive: true },
  { category: 'web_platform', role: 'platform', mean: 1, isExclusive: false },
] as const;

export function loadedWorld(options: LoadOptions): LoadedWorld {
  const { seed = 'strata', domains, providers: count = 2_000, days = 365, endsAt } = options;
  const providers = makeProviders(count);
  const markets = KINDS.map(({ category }) => zipf(providers.filter((each) => each.categories.includes(category))));
  return {
    providers,
    *domains() {
      const names = nameMaker(seed);
      for (let id = 1; id <= domains; id += 1) {
        const random = randomFor(seed, 'loaded', id);
        yield makeDomain({ id, name: names(random), random, markets, days, endsAt });
      }
    },
  };
}

/** Every fifth serves two categories; every tenth brand belongs to the company of the previous one. */
function makeProviders(count: number): LoadedProvider[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `provider-${String(i + 1).padStart(4, '0')}`;
    const own = KINDS[i % KINDS.length] as (typeof KINDS)[number];
    const other = KINDS[(i + 4) % KINDS.length] as (typeof KINDS)[number];
    const owner = i % 10 === 9 ? `Firm ${i}` : `Firm ${i + 1}`;
    return {
      id,
      name: `Provider ${i + 1}`,
      owner,
      categories: i % 5 === 0 ? [own.category, other.category] : [own.category],
    };
  });
}

type Market = (random: Random) => string;

/** The n-th is drawn 1/n as often as the first. */
function zipf(providers: readonly LoadedProvider[]): Market {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= providers.length; rank += 1) {
    sum += 1 / rank;
    sums.push(sum);
  }
  return (random) => {
    const wanted = random.next() * sum;
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return (providers[low] as LoadedProvider).id;
  };
}

interface DomainParts {
  readonly id: number;
  readonly name: string;
  readonly random: Random;
  readonly markets: readonly Market[];
  readonly days: number;
  readonly endsAt: number;
}

function makeDomain({ id, name, random, markets, days, endsAt }: DomainParts): LoadedDomain {
  const firstObserved = endsAt - FIRST_SCAN_DAYS * DAY_MS;
  const scannedAt = endsAt - Math.floor(random.next() * HOUR_MS);
  // The last scan has confirmed all changes.
  const within = days * DAY_MS - CONFIRM_MS - HOUR_MS;
  const someTime = () => endsAt - CONFIRM_MS - HOUR_MS - Math.floor(random.next() * within);
  const isParked = random.chance(0.04);
  const services: LoadedService[] = [];
  const changes: BareChange[] = [];
  for (const [kind, { category, role, mean, isExclusive }] of KINDS.entries()) {
    const market = markets[kind] as Market;
    const wanted = isParked && category !== 'dns' ? 0 : Math.floor(mean) + (random.chance(mean % 1) ? 1 : 0);
    const held = new Set<string>();
    while (held.size < wanted) held.add(market(random));
    for (const provider of held) {
      const confidence = random.chance(0.85) ? 'high' : random.chance(0.8) ? 'medium' : 'low';
      let validFrom = firstObserved;
      if (random.chance(0.2)) {
        validFrom = someTime();
        const before = market(random);
        const isMove = isExclusive && !held.has(before);
        changes.push(change({ at: validFrom, category, role, from: isMove ? before : null, to: provider }));
      }
      services.push({ category, role, provider, confidence, validFrom });
    }
    if (!isExclusive && random.chance(0.1)) {
      const removed = market(random);
      if (!held.has(removed)) changes.push(change({ at: someTime(), category, role, from: removed, to: null }));
    }
  }
  changes.sort((a, b) => a.at - b.at);
  const posture = makePosture(random);
  return {
    id,
    name,
    state: isParked ? 'parked' : 'active',
    sector: random.chance(0.8) ? 'unknown' : random.pick(SECTORS),
    posture,
    holders: makeHolders(services, random),
    score: scoreOf(posture),
    // Spread over the days, so that each day has scans.
    earlierScanAt: endsAt - ((id % (days - 1)) + 1) * DAY_MS - Math.floor(random.next() * HOUR_MS),
    scannedAt,
    services,
    changes: withEnds(changes, services),
  };
}

const SECTORS = [
  'computer_it',
  'media',
  'finance_insurance',
  'education_research',
  'health',
  'government',
  'retail_ecommerce',
];

type BareChange = Omit<LoadedChange, 'isEntry' | 'isExit'>;

function change(parts: Pick<LoadedChange, 'at' | 'category' | 'role' | 'from' | 'to'>): BareChange {
  const type = parts.from === null ? 'added' : parts.to === null ? 'removed' : 'migrated';
  return { ...parts, type, confirmedAt: parts.at + CONFIRM_MS };
}

/**
 * Reconstructed backwards from today's services: a provider that the domain used in another category neither enters nor
 * exits.
 */
function withEnds(changes: readonly BareChange[], services: readonly LoadedService[]): LoadedChange[] {
  const uses = new Map<string, number>();
  const count = (provider: string | null, by: number) => {
    if (provider !== null) uses.set(provider, (uses.get(provider) ?? 0) + by);
  };
  const isUsed = (provider: string) => (uses.get(provider) ?? 0) > 0;
  for (const { provider } of services) count(provider, 1);
  return changes
    .toReversed()
    .map((each) => {
      const isExit = each.from !== null && !isUsed(each.from);
      count(each.to, -1);
      count(each.from, 1);
      return { ...each, isEntry: each.to !== null && !isUsed(each.to), isExit };
    })
    .reverse();
}

/** Three bits per role: 1 a provider, 2 itself, 3 unknown, 4 none. */
function makeHolders(services: readonly LoadedService[], random: Random): number {
  return KINDS.reduce((bits, { category }, index) => {
    const isHeld = services.some((service) => service.category === category && service.confidence !== 'low');
    const without =
      category === 'dns' || category === 'email' || category === 'hosting' ? (random.chance(0.3) ? 2 : 3) : 4;
    return bits | ((isHeld ? 1 : without) << (index * 3));
  }, 0);
}
