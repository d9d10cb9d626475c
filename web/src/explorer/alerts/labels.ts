// What kinds of alerts and metrics of anomalies there are, in words.
import type { Alert, Anomaly, Severity } from '@strata/client';

/** The gravest first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const satisfies readonly Severity[];

export const KIND_NAMES: Readonly<Record<Alert['kind'], string>> = {
  migration: 'Migration',
  anomaly: 'Anomaly',
  advisory: 'Exploited vulnerability',
  security: 'Security regression',
};
export const KINDS = Object.keys(KIND_NAMES) as Alert['kind'][];

interface MetricWords {
  readonly name: string;
  readonly meaning: string;
}

export const METRICS: Readonly<Record<Anomaly['metric'], MetricWords>> = {
  domains: { name: 'domains', meaning: 'how many domains used the provider at the end of the day' },
  gains: { name: 'gains', meaning: 'how many domains began to use the provider on the day' },
  losses: { name: 'losses', meaning: 'how many domains stopped using the provider on the day' },
  migrations: { name: 'migrations', meaning: 'how many domains changed their provider of this category on the day' },
  services: { name: 'services', meaning: 'how many services the domain showed' },
  changes: { name: 'changes', meaning: 'how many changes of the domain were seen on the day' },
  records: { name: 'records', meaning: 'how many DNS records the domain showed' },
};
