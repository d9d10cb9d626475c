// Who has feeds: companies whose sites work plainly, and every eighth time a publisher that is none of the companies.
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
  /** Whether a name is a company's or a provider's. */
  readonly isTaken: (domain: string) => boolean;
  /** A company as it is on day 0. */
  readonly companyPlan: (domain: string) => Plan;
}

const EVERY = 8;

/** The domains that are added for their feeds alone. */
export function addedPublishers({ seed, count, isTaken }: PublishersOptions): string[] {
  return companyNames(`${seed}/publishers`, Math.floor(count / EVERY), isTaken);
}

/** What such a domain runs: anything, as long as it works. */
export function publisherPlan(domain: string, world: World): Plan {
  const plan = planOf(domain, world, { hasFaults: false, other: () => domain });
  return { ...plan, state: 'active', fault: null, site: 'ok', redirectsTo: null, isBogus: false, situation: CALM };
}

/** As many feeds as asked for, several of a publisher where there are few; the first n are the same for any count. */
export function planFeeds(options: PublishersOptions, added: readonly string[]): FeedPlan[] {
  const { seed, count } = options;
  const working = workingCompanies(options, count - added.length);
  const taken = new Map<string, number>();
  let nextCompany = 0;
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => {
    const isAdded = index % EVERY === EVERY - 1 || working.length === 0;
    const place = isAdded ? Math.floor(index / EVERY) : nextCompany++;
    const from = isAdded ? added : working;
    const publisher = from[place % from.length];
    // An internet of a company or two may have nobody.
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
