// CVSS scorings in the containers of a CVE record.
import { z } from 'zod';
import type { Cvss } from '../../advisory.ts';
import { cvssOf } from '../../cvss.ts';
import { oneLine } from '../text.ts';

/** The unchecked `metrics` of a container. */
export interface Metrics {
  readonly by: string;
  readonly metrics: unknown;
}

const Scoring = z
  .object({ vectorString: z.string().max(512), baseScore: z.number().min(0).max(10) })
  .optional()
  .catch(undefined);
const Metric = z.object({ cvssV4_0: Scoring, cvssV3_1: Scoring, cvssV3_0: Scoring, cvssV2_0: Scoring });
const MAX_METRICS = 100;

/** An invalid scoring is skipped and does not affect the rest of the record. */
export function scoringsOf(containers: readonly Metrics[]): Cvss[] {
  return containers.flatMap(({ by, metrics }) => {
    const list: readonly unknown[] = Array.isArray(metrics) ? metrics.slice(0, MAX_METRICS) : [];
    return list.flatMap((value) => scored(Metric.safeParse(value).data, oneLine(by, 60)));
  });
}

function scored(metric: z.infer<typeof Metric> | undefined, by: string): Cvss[] {
  if (metric === undefined) return [];
  const scorings = [metric.cvssV4_0, metric.cvssV3_1, metric.cvssV3_0, metric.cvssV2_0];
  return scorings.flatMap((scoring) => {
    const cvss = scoring && cvssOf({ vector: scoring.vectorString, score: scoring.baseScore, by });
    return cvss ?? [];
  });
}
