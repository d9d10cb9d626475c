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

interface MetricLabel {
  readonly name: string;
  readonly meaning: string;
}

export const METRICS: Readonly<Record<Anomaly['metric'], MetricLabel>> = {
  domains: { name: 'domains', meaning: 'domains that used the provider at the end of the day' },
  gains: { name: 'gains', meaning: 'domains that started using the provider on that day' },
  losses: { name: 'losses', meaning: 'domains that stopped using the provider on that day' },
  migrations: { name: 'migrations', meaning: 'domains that changed their provider in this category on that day' },
  services: { name: 'services', meaning: 'services of the domain' },
  changes: { name: 'changes', meaning: 'changes of the domain on that day' },
  records: { name: 'records', meaning: 'DNS records of the domain' },
};
