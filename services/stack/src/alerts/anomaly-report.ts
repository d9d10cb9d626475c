// The API representation of an anomaly.

import { z } from 'zod';
import type { KnownNames } from '../index/known-names.ts';
import { SEVERITIES, type StoredAnomaly } from '../store/index.ts';

export const Severity = z.enum(SEVERITIES).meta({ id: 'Severity' });

export const AnomalySchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime().describe('End of the anomalous day; for a domain the time of the scan.'),
    subject: z.string().describe('Name of the provider, category or domain.'),
    subject_kind: z.enum(['provider', 'category', 'domain']),
    subject_id: z.string(),
    metric: z.enum(['domains', 'gains', 'losses', 'migrations', 'services', 'changes', 'records']),
    value: z.number(),
    mean: z.number().describe('Mean of the window, the day itself excluded.'),
    stddev: z.number().describe('Standard deviation, with the value of a Poisson process as its minimum.'),
    sigma: z.number().describe('(value - mean) / stddev.'),
    direction: z.enum(['up', 'down']),
    severity: Severity,
    window_days: z.int(),
    samples: z.int().describe('Days of the window with data.'),
    chance: z.number().describe('Probability of such a day by chance.'),
  })
  .meta({ id: 'Anomaly' });

export function anomalyReport(anomaly: StoredAnomaly, names: KnownNames): z.input<typeof AnomalySchema> {
  const { id, at, subject, subjectKind, metric, severity, facts } = anomaly;
  return {
    id,
    at: at.toISOString(),
    subject: subjectKind === 'provider' ? names.nameOf(subject) : subject,
    subject_kind: subjectKind,
    subject_id: subject,
    metric: metric as z.input<typeof AnomalySchema>['metric'],
    severity,
    ...facts,
  };
}
