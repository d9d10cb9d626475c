// Outcomes of polls, alerts, anomalies and events of the public stream, with defaults.
import type { PolledFeed, StoredAlert, StoredAnomaly, StreamEvent } from '../index.ts';

type ShortItem = Readonly<{
  key: string;
  at?: string | null;
  domains?: readonly string[];
  title?: string;
  url?: string;
}>;

/** A poll that read these items; `state` contains what differs from the defaults. */
export const poll = (
  url: string,
  items: readonly ShortItem[] | null,
  state: Partial<PolledFeed['state']> = {},
): PolledFeed => ({
  state: {
    ...{ url, status: 'active', etag: null, lastModified: null, nextPollAt: Date.parse('2026-03-02T00:00:00Z') },
    ...{ failures: 0, error: null, title: null, siteUrl: null, lastNewAt: null, readAt: null, ttlMs: null },
    ...{ skipHours: [], skipDays: [] },
    ...state,
  },
  feed: items && {
    items: items.map(({ key, at = null, domains = [], title = null, url: link = null }) => ({
      ...{ key, url: link, title, publishedAt: at === null ? null : Date.parse(at) },
      domains: domains.map((domain) => ({ domain, kind: 'link' as const })),
    })),
  },
});

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
