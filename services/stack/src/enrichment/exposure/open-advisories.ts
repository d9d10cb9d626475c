// The advisories that stand open for one domain, for its profile and its risk.
import type { Entry } from '@strata/advisories';
import type { StoredProfile } from '@strata/store';
import type { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { type OpenAdvisoriesSchema, openAdvisories } from './advisory-report.ts';
import type { Exposure } from './exposures.ts';

type Deps = Pick<StackApp, 'exposures' | 'index' | 'names'>;

/** Each advisory once, by the services that the profile tells; undefined while no source has been read, for then nothing is known. */
export function exposuresOf({ exposures }: Deps, { services }: StoredProfile): readonly Exposure[] | undefined {
  return exposures.isKnown ? eachOnce(exposures.ofServices(services)) : undefined;
}

/** One that concerns several of the products is one all the same, and affects where it affects any of them. */
function eachOnce(all: readonly Exposure[]): readonly Exposure[] {
  const byEntry = new Map<Entry, Exposure>();
  for (const each of all) {
    const known = byEntry.get(each.entry);
    if (!known || (each.isAffected && !known.isAffected)) byEntry.set(each.entry, each);
  }
  return [...byEntry.values()];
}

export function advisoriesOf(deps: Deps, profile: StoredProfile): z.input<typeof OpenAdvisoriesSchema> {
  const all = exposuresOf(deps, profile);
  return all === undefined ? null : openAdvisories(all, deps);
}

/** What is said of a domain is stale when an advisory of what it uses has changed. */
export function advisoryTags({ index, exposures }: Deps, domain: string): string[] {
  const number = index.names.find(domain);
  // One that is scanned while the request waits may come to use anything.
  if (number === undefined) return [...tags.enrichment, ...tags.advisories];
  const used = new Set(index.services(number).map(([, provider]) => provider));
  return [...tags.enrichment, ...exposures.advisories.products.filter((id) => used.has(id)).map(tags.advisoriesOf)];
}
