// Prometheus metrics of feeds.
import type { Metrics } from '@strata/http';
import type { LiveMentions } from './live-mentions.ts';
import type { FeedPoller, PollCounts } from './poller.ts';

const COUNTED: readonly (readonly [name: string, help: string, count: keyof PollCounts])[] = [
  ['strata_feed_polls', 'Feeds polled since the start', 'polls'],
  ['strata_feed_polls_failed', 'Polls that failed', 'failed'],
  ['strata_feed_polls_unchanged', 'Polls that found nothing changed', 'unchanged'],
  ['strata_feed_items', 'New items found by polls', 'items'],
  ['strata_feed_mentions', 'Mentions in these items', 'mentions'],
];

export function addPollMetrics(metrics: Metrics, poller: FeedPoller): void {
  for (const [name, help, count] of COUNTED) metrics.gauge(name, help, () => poller.counts()[count]);
}

/** Metrics of the API. */
export function addMentionMetrics(metrics: Metrics, mentions: LiveMentions): void {
  metrics.gauge('strata_feed_domains', 'Domains mentioned within 64 days', () => mentions.tally().size);
  metrics.gauge(
    'strata_feed_mentions_left_out',
    'Mentions dropped above the domain limit',
    () => mentions.tally().dropped,
  );
}
