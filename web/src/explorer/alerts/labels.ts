// Labels for the kinds of alerts and the metrics of anomalies.
import type { Alert, Anomaly, Severity } from '@strata/client';

/** Most severe first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const satisfies readonly Severity[];

export const KIND_NAMES: Readonly<Record<Alert['kind'], string>> = {
  migration: 'Migration',
  anomaly: 'Anomaly',
  advisory: 'Exploited vulnerability',
  security: 'Security regression',
};
export const KINDS = Object.keys(KIND_NAMES) as Alert['kind'][];

/** What each metric counts. */
export const METRICS: Readonly<Record<Anomaly['metric'], string>> = {
  domains: 'domains that used the provider at the end of the day',
  gains: 'domains that started using the provider on that day',
  losses: 'domains that stopped using the provider on that day',
  migrations: 'domains that changed their provider in this category on that day',
  services: 'services of the domain',
  changes: 'changes of the domain on that day',
  records: 'DNS records of the domain',
};
