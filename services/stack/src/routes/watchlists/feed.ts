// The Atom feed of a watchlist, for readers, which cannot send a key.
import { timingSafeEqual } from 'node:crypto';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { atomOf, updatedAtOf } from '../../watchlists/atom.ts';
import { common, WatchlistPath } from './watchlists.ts';

const ENTRIES = 50;

export const getWatchlistFeed = route(
  {
    ...common,
    access: 'open',
    method: 'GET',
    path: '/stack/v1/watchlists/{id}/feed.atom',
    summary: 'The latest notifications of a watchlist as an Atom feed',
    description:
      'Without a key: the address, which is the `feed` of the list, contains a secret token. It has `ETag` and `Last-Modified`: a reader that has the latest entries receives a 304.',
    params: WatchlistPath,
    query: z.object({ token: z.string().regex(/^[\w-]{32}$/, 'must be the token of the feed') }),
    output: { kind: 'bytes', contentType: 'application/atom+xml; charset=utf-8', description: 'RFC 4287.' },
    errors: ['not_found'],
  },
  async (app: StackApp, { id, token }, { refuse }) => {
    const list = await app.store.watchlists.find(id);
    const isValid = list && timingSafeEqual(Buffer.from(list.feedToken), Buffer.from(token));
    if (!isValid || !(await app.store.keys.stillValid([list.keyId])).has(list.keyId))
      return refuse('not_found', 'There is no such feed.');
    const notifications = await app.store.notifications.list(id, ENTRIES);
    return { bytes: atomOf(list, notifications), updatedAt: updatedAtOf(list, notifications) };
  },
);
