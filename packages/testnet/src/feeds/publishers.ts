// The publishers of feeds: companies with working sites, and for every eighth feed a publisher that is not one of the
// companies.
import { companyNames } from '../companies/names.ts';
import { planOf } from '../companies/plan.ts';
import type { Plan } from '../companies/plan-type.ts';
import { CALM } from '../companies/situations.ts';
import type { World } from '../world.ts';
import { type FeedPlan, feedPlanOf } from './plan.ts';

export interface PublishersOptions {
  readonly seed: string;
  /** Feeds. */
  readonly count: number;
  readonly companies: readonly string[];
  /** Whether a name belongs to a company or a provider. */
  readonly isTaken: (domain: string) => boolean;
  /** A company's plan on day 0. */
  readonly companyPlan: (domain: string) => Plan;
}

const EVERY = 8;

/** The domains that exist only for their feeds. */
export function addedPublishers({ seed, count, isTaken }: PublishersOptions): string[] {
  return companyNames(`${seed}/publishers`, Math.floor(count / EVERY), isTaken);
}

/** The plan of such a domain: random, but working. */
export function publisherPlan(domain: string, world: World): Plan {
  const plan = planOf(domain, world, { hasFaults: false, other: () => domain });
  return { ...plan, state: 'active', fault: null, site: 'ok', redirectsTo: null, isBogus: false, situation: CALM };
}

/** The given number of feeds, several per publisher if there are few; a shorter list is a prefix of a longer one. */
export function planFeeds(options: PublishersOptions, added: readonly string[]): FeedPlan[] {
  const { seed, count } = options;
  const working = workingCompanies(options, count - added.length);
  const taken = new Map<string, number>();
  let nextCompany = 0;
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => {
    const isAdded = index % EVERY === EVERY - 1 || working.length === 0;
    const position = isAdded ? Math.floor(index / EVERY) : nextCompany++;
    const from = isAdded ? added : working;
    const publisher = from[position % from.length];
    // An internet of one or two companies may have none.
    if (publisher === undefined) return [];
    const nth = taken.get(publisher) ?? 0;
    taken.set(publisher, nth + 1);
    return [feedPlanOf(seed, { index, publisher, nth })];
  });
}

function workingCompanies({ companies, companyPlan }: PublishersOptions, count: number): string[] {
  const working: string[] = [];
  for (const domain of companies) {
    if (working.length === count) break;
    const { state, site, certificate, isBogus, situation } = companyPlan(domain);
    const isReached = !isBogus && !situation.isIpv6Only && !situation.isDangling;
    if (state === 'active' && site === 'ok' && certificate === 'good' && isReached) working.push(domain);
  }
  return working;
}
