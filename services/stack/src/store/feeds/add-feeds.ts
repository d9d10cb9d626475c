// Adds subscriptions in batches.

import { counterIncrement, integer, jsonRows, listed, writePipelined } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { cutText, MAX_TITLE, MAX_URL, type NewFeed, textWithin } from './feed-records.ts';

const NEW_FEEDS = { position: 'integer', url: 'text', title: 'text', site_url: 'text' } as const;

/** Adds feeds that do not exist. With `isReviving`, feeds with status `gone` are polled again, and former addresses are added again. */
export async function addFeeds(
  db: Kysely<Database>,
  feeds: readonly NewFeed[],
  { at, isReviving }: { readonly at: Date; readonly isReviving: boolean },
): Promise<{ readonly added: number; readonly revived: number }> {
  const urls = listed(db, isReviving ? feeds.map(({ url }) => url) : []);
  const rows = feeds.map(({ url, title = null, siteUrl = null }, index) => [
    index,
    url,
    cutText(title, MAX_TITLE),
    textWithin(siteUrl, MAX_URL),
  ]);
  const [revived, , added] = await writePipelined(db, [
    sql<never>`update feeds set status = 'active', next_poll_at = 0, failures = 0, error = null
      where status = 'gone' and url in ${urls}`.compile(db),
    sql<never>`delete from feed_moves where url in ${urls}`.compile(db),
    // Existing feeds are excluded before the insert: a conflict would use up a number.
    sql<never>`
      insert into feeds (url, status, next_poll_at, added_at, title, site_url)
      select new.url, 'active', 0, ${integer(at.getTime())}, new.title, new.site_url
      from ${jsonRows(db, rows, NEW_FEEDS)} as new
      where not exists (select 1 from feed_moves where feed_moves.url = new.url)
        and not exists (select 1 from feeds where feeds.url = new.url)
      order by new.position
      on conflict (url) do nothing`.compile(db),
    counterIncrement(db, 'feeds'),
  ]);
  return { added: Number(added.numAffectedRows ?? 0), revived: Number(revived.numAffectedRows ?? 0) };
}
