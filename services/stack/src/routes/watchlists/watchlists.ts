// Watchlists of the caller's key.
import { CATEGORIES } from '@strata/detect';
import { type RequestContext, refuse, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import type { Watchlist } from '../../watchlists/watchlist.ts';
import { ADDRESS_STATES, CHANNEL_KINDS, DIGESTS, limitsOf, RULE_KINDS } from '../../watchlists/watchlist.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { refuseField } from '../parameters.ts';
import { BODY_BYTES, contentOf, WatchlistBody } from './watchlist-body.ts';

export const common = { tag: 'Watchlists' } as const;
const id = z.string().regex(/^wl_[0-9a-f]{24}$/, 'must be the id of a watchlist');
export const WatchlistPath = z.object({ id });

const WatchlistSchema = z
  .object({
    id,
    name: z.string(),
    domain_count: z.int(),
    query: z.string().describe('Decides the domains.').optional(),
    evaluated_at: z.iso.datetime().describe('Of the query.').optional(),
    rules: z.array(
      z.object({
        kind: z.enum(RULE_KINDS),
        provider: z.string().optional(),
        from: z.string().optional(),
        category: z.enum(CATEGORIES).optional(),
        points: z.int().optional(),
        days: z.int().optional(),
      }),
    ),
    channels: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(CHANNEL_KINDS),
        url: z.string().optional(),
        to: z.string().optional(),
        secret: z.string().optional(),
        digest: z.enum(DIGESTS),
        time_zone: z.string(),
        quiet_hours: z.object({ from: z.string(), to: z.string() }).optional(),
        confirmation: z.enum(ADDRESS_STATES).describe('email: by the owner of the address.').optional(),
      }),
    ),
    feed: z.string().describe('Path of the Atom feed; it contains a secret.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Watchlist' });
const WithDomains = z.object({
  watchlist: WatchlistSchema.extend({ domains: z.array(z.string()) }).meta({ id: 'WatchlistWithDomains' }),
});

export function watchlistReport(list: Watchlist): z.input<typeof WatchlistSchema> {
  return {
    ...{ id: list.id, name: list.name, domain_count: list.domainCount, rules: [...list.rules] },
    ...(list.query !== undefined && { query: list.query, evaluated_at: list.evaluatedAt?.toISOString() }),
    channels: list.channels.map(({ id, kind, target, secret, digest, timeZone, quietHours, confirmation }) => ({
      ...{ id, kind, [kind === 'email' ? 'to' : 'url']: target, digest, time_zone: timeZone },
      ...(secret !== undefined && { secret }),
      ...(quietHours && { quiet_hours: quietHours }),
      ...(kind === 'email' && { confirmation: confirmation?.state ?? 'waiting' }),
    })),
    feed: `/stack/v1/watchlists/${list.id}/feed.atom?token=${list.feedToken}`,
    created_at: list.createdAt.toISOString(),
    updated_at: list.updatedAt.toISOString(),
  };
}

/** The list of the path, if it belongs to the key. */
export async function ownList(
  { store }: StackApp,
  id: string,
  context: RequestContext<'not_found'>,
): Promise<Watchlist> {
  const list = await store.watchlists.find(id);
  return list && list.keyId === context.key?.id ? list : context.refuse('not_found', NO_LIST);
}
const ADDRESS_PROBLEMS = {
  address_refused: 'have an e-mail address whose owner wants no e-mail',
  asked_too_often: 'have an e-mail address, or several, that were asked to confirm too often: try again tomorrow',
} as const;
const NO_LIST = 'This key has no watchlist with this id.';

export const createWatchlist = route(
  {
    ...common,
    method: 'POST',
    path: '/stack/v1/watchlists',
    summary: 'Watch domains by rules',
    description:
      'A list of domains, rules about them, and channels that are notified. Each rule reports an event once; it begins with events after this request. ' +
      'A webhook is signed by Standard Webhooks with the `secret` of its channel. See docs/watchlists.md.',
    bodies: { 'application/json': WatchlistBody },
    bodyBytes: BODY_BYTES,
    output: { kind: 'signed', status: 201, schema: WithDomains },
    errors: ['payload_too_large', 'unsupported_media_type'],
  },
  async (app: StackApp, { body }, { key }) => {
    const { id = '', tier = '' } = key ?? {};
    const content = await contentOf(app, body, { tier, before: [] });
    const { lists } = limitsOf(tier);
    const list = await app.store.watchlists.create(id, content, { maxLists: lists, now: app.now() });
    if (list === 'too_many_lists')
      return refuse('invalid_parameter', `This key has ${lists} watchlists, its maximum: delete one first.`);
    if (typeof list === 'string') return refuseField('channels', ADDRESS_PROBLEMS[list]);
    return { watchlist: { ...watchlistReport(list), domains: [...content.domains].sort() } };
  },
);

const LIST = { name: 'watchlists', key: z.tuple([z.int(), id]).readonly() };

export const getWatchlists = route(
  {
    ...common,
    method: 'GET',
    path: '/stack/v1/watchlists',
    summary: 'Watchlists of the key',
    description: 'Newest first, without their domains.',
    query: z.object(pageParameters(50)),
    output: { kind: 'signed', schema: z.object({ ...pageFields, watchlists: z.array(WatchlistSchema) }) },
  },
  async (app: StackApp, input, { key }) => {
    const page = pageOf(input, LIST, key?.id);
    const found = await app.store.watchlists.ofKey(key?.id ?? '', page.query.limit, page.query.after);
    const { rows, fields } = page.cut(found, ({ createdAt, id }) => [createdAt.getTime(), id] as const);
    return { ...fields, watchlists: rows.map(watchlistReport) };
  },
);

export const getWatchlist = route(
  {
    ...common,
    method: 'GET',
    path: '/stack/v1/watchlists/{id}',
    summary: 'A watchlist with its domains',
    params: WatchlistPath,
    output: { kind: 'signed', schema: WithDomains },
    errors: ['not_found'],
  },
  async (app: StackApp, input, context) => {
    const list = await ownList(app, input.id, context);
    return { watchlist: { ...watchlistReport(list), domains: await app.store.watchlists.domainsOf(list.id) } };
  },
);

export const putWatchlist = route(
  {
    ...common,
    method: 'PUT',
    path: '/stack/v1/watchlists/{id}',
    summary: 'Replace a watchlist',
    description:
      'A rule that the list had before does not report an event again. A channel of the same kind and address keeps its id and secret; messages of removed channels are not sent.',
    params: WatchlistPath,
    bodies: { 'application/json': WatchlistBody },
    bodyBytes: BODY_BYTES,
    output: { kind: 'signed', schema: WithDomains },
    errors: ['not_found', 'payload_too_large', 'unsupported_media_type'],
  },
  async (app: StackApp, { id, body }, context) => {
    const before = await ownList(app, id, context);
    const content = await contentOf(app, body, { tier: context.key?.tier ?? '', before: before.channels });
    const list = await app.store.watchlists.replace(before, content, app.now());
    if (!list) return context.refuse('not_found', NO_LIST);
    if (typeof list === 'string') return refuseField('channels', ADDRESS_PROBLEMS[list]);
    return { watchlist: { ...watchlistReport(list), domains: [...content.domains].sort() } };
  },
);

export const deleteWatchlist = route(
  {
    ...common,
    method: 'DELETE',
    path: '/stack/v1/watchlists/{id}',
    summary: 'Delete a watchlist',
    description: 'With its notifications and messages, sent or not.',
    params: WatchlistPath,
    output: { kind: 'signed', schema: z.object({ deleted: id }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, { key, refuse }) => {
    const isDeleted = await app.store.watchlists.delete(key?.id ?? '', input.id);
    return isDeleted ? { deleted: input.id } : refuse('not_found', NO_LIST);
  },
);
