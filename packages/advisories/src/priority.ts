// In which order advisories are told: known to be exploited first, then likely to be, then grave, then new.
import type { Assessed } from './exposure-index.ts';

const EPSS_STEPS = 100_000;
const DAY_MS = 86_400_000;

/**
 * A number that grows with urgency: exploited (1 bit), EPSS to five places (17), CVSS to one (7), day of publication (16).
 * Whatever is not known counts as least.
 */
export function urgencyOf({ advisory, exploited, score }: Assessed): number {
  const epss = Math.round(clamp(score?.epss ?? 0, 1) * EPSS_STEPS);
  const cvss = Math.round(clamp(advisory.cvss?.score ?? 0, 10) * 10);
  const day = Math.floor(clamp(Date.parse(advisory.published) / DAY_MS, 65_535));
  return (((exploited ? 1 : 0) * 2 ** 17 + epss) * 2 ** 7 + cvss) * 2 ** 16 + day;
}

export type Priority = 'act' | 'attend' | 'track';

/** `act`: exploited, or as likely as not within 30 days; `attend`: a tenth as likely, or critical; else `track`. */
export function priorityOf({ advisory, exploited, score }: Assessed): Priority {
  const epss = score?.epss ?? 0;
  if (exploited || epss >= 0.5) return 'act';
  return epss >= 0.1 || advisory.severity === 'critical' ? 'attend' : 'track';
}

const clamp = (value: number, most: number): number => (value > 0 ? Math.min(value, most) : 0);
