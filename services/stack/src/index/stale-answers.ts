// Which cached answers an event makes outdated.
import { type AnswerCache, countedCache } from '@strata/http';
import type { EventBus } from '../events.ts';
import { tags } from './live-index.ts';

/** Own scans whose event in the log is still expected. */
const MAX_OWN_SCANS = 100_000;

/** Subscribes the cache to the events of this process. */
export function invalidateStale(answers: AnswerCache, events: EventBus): void {
  const invalidate = (...stale: readonly string[]) => {
    for (const tag of stale) answers.invalidate(tag);
  };
  /** The latest scan of a domain by this process: it has invalidated the answers already when its event arrives. */
  const ownScans = countedCache<number>(MAX_OWN_SCANS);
  const invalidateDomain = (domain: string, at: number) => {
    if (ownScans.get(domain) !== at) invalidate(tags.domain(domain));
  };
  events.subscribe('scan-recorded', ({ domain, at }) => {
    ownScans.set(domain, at);
    invalidate(tags.domain(domain));
  });
  events.subscribe('event-indexed', ({ event: { domain, at }, effects }) => {
    invalidate(...effects.tags);
    invalidateDomain(domain, at.getTime());
  });
  // A scan without changes has no event.
  events.subscribe('scans-indexed', (scans) => {
    for (const { domain, at } of scans) invalidateDomain(domain, at);
    invalidate(...tags.scans);
  });
  events.subscribe('index-rebuilt', () => answers.invalidateAll());
  events.subscribe('advisories-changed', ({ products, entries }) => {
    invalidate(...[...products].map(tags.advisoriesOf));
    if (entries.length + products.size > 0) invalidate(...tags.advisories);
  });
  events.subscribe('exposures-known', () => invalidate(...tags.enrichment, ...tags.advisories));
  events.subscribe('alert-stored', () => invalidate(...tags.alerts));
  events.subscribe('stream-read', () => invalidate(...tags.stream));
  events.subscribe('feed-polled', () => invalidate(...tags.polls));
  events.subscribe('mentions-counted', (domains) => {
    invalidate(...tags.mentions, ...(domains ? [...domains].map(tags.mentionsOf) : tags.mentionsOfAny));
  });
  // Alerts and polls of other processes.
  events.subscribe('logs-polled', ({ changed }) => {
    if (changed.has('alerts')) invalidate(...tags.alerts);
    if (changed.has('feeds')) invalidate(...tags.polls);
  });
}
