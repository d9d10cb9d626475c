// The open advisories of one domain, for its profile and its risk.
import type { Entry } from '@strata/advisories';
import type { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import type { StoredProfile } from '../../store/index.ts';
import { type OpenAdvisoriesSchema, openAdvisories } from './advisory-report.ts';
import type { Exposure } from './exposures.ts';

type Deps = Pick<StackApp, 'exposures' | 'names'>;

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

/** Cache tags of answers about a domain: a scan that replaces it may show any product. */
export const ADVISORY_TAGS: readonly string[] = [...tags.enrichment, ...tags.advisories];
