// Alerts, anomalies and events of the public stream, with defaults.
import type { StoredAlert, StoredAnomaly, StreamEvent } from '../index.ts';

export const anomaly = (id: string, at = 0, domain?: string): StoredAnomaly => ({
  ...{ id, at: new Date(at), metric: 'losses', severity: 'high' },
  ...{ subjectKind: domain ? 'domain' : 'provider', subject: domain ?? 'x' },
  facts: { value: 9, mean: 1, stddev: 1, sigma: 8, direction: 'up', window_days: 28, samples: 20, chance: 1e-6 },
});

export const alert = (subject: string, at = 0, more: Partial<StoredAlert> = {}): StoredAlert => ({
  ...{ id: `al_${subject}_${at}`, at: new Date(at), kind: 'anomaly', severity: 'medium', subject },
  ...{ domain: null, provider: 'x', title: subject, detail: 'd', ref: '/' },
  ...more,
});

export const streamEvent = (publishedUs: number, more: Partial<StreamEvent> = {}): Omit<StreamEvent, 'seq'> => ({
  ...{ publishedUs, type: 'migration', domain: 'a.com', providers: ['x', 'y'], category: 'dns' },
  body: `{"at":${publishedUs}}`,
  ...more,
});
