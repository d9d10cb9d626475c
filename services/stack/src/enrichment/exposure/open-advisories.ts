// The open advisories of one domain, for its profile and its risk.
import type { Entry } from '@strata/advisories';
import type { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import type { StoredProfile } from '../../store/index.ts';
import { type OpenAdvisoriesSchema, openAdvisories } from './advisory-report.ts';
import type { Exposure } from './exposures.ts';

type Deps = Pick<StackApp, 'exposures' | 'index' | 'names'>;

/** Each advisory once, by the services of the profile; undefined until a source has been read. */
export function exposuresOf({ exposures }: Deps, { services }: StoredProfile): readonly Exposure[] | undefined {
  return exposures.isKnown ? eachOnce(exposures.ofServices(services)) : undefined;
}

/** An advisory for several products counts once, and is affected if any of them is. */
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

/** Cache tags: an answer about a domain is outdated when an advisory of one of its products changes. */
export function advisoryTags({ index, exposures }: Deps, domain: string): string[] {
  const number = index.names.sorted.find(domain);
  // A domain that is scanned during the request may use any product.
  if (number === undefined) return [...tags.enrichment, ...tags.advisories];
  const used = new Set(index.services(number).map(([, provider]) => provider));
  return [...tags.enrichment, ...exposures.advisories.products.filter((id) => used.has(id)).map(tags.advisoriesOf)];
}
