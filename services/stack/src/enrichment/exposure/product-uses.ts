// The builds of products that the services of a domain show.
import type { Build } from '@strata/advisories';
import { LEVELS } from '@strata/analytics';
import type { ConfidenceLevel } from '@strata/detect';

export interface ObservedService extends Build {
  readonly provider: string;
  readonly confidence: ConfidenceLevel;
}

export const NO_VERSION: Build = { version: null, platform: null };

/** For each product the service with the highest confidence that shows a version, as analytics choose it; low confidence is excluded. */
export function buildsShown(services: readonly ObservedService[]): ReadonlyMap<string, Build> {
  const surest = new Map<string, ObservedService>();
  for (const service of services) {
    const { provider, confidence, version } = service;
    if (confidence === 'low') continue;
    const other = surest.get(provider);
    const isBetter = !other?.version || LEVELS.indexOf(confidence) < LEVELS.indexOf(other.confidence);
    if (!other || (version && isBetter)) surest.set(provider, service);
  }
  return new Map(
    [...surest].map(([provider, { version, platform }]) => [provider, version ? { version, platform } : NO_VERSION]),
  );
}
