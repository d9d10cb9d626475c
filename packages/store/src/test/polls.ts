// Outcomes of polls, in short.
import type { PolledFeed } from '../index.ts';

export interface ShortItem {
  readonly key: string;
  readonly at?: string | null;
  readonly domains?: readonly string[];
  readonly title?: string;
  readonly url?: string;
}

/** A poll that read these items; `state` says what is to be stored otherwise. */
export function poll(
  url: string,
  items: readonly ShortItem[] | null,
  state: Partial<PolledFeed['state']> = {},
): PolledFeed {
  return {
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
  };
}
