// The tools for watchlists: what they reported, and lists that are created or changed.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Watchlist } from '@strata/client';
import { plainText } from '@strata/questions';
import { z } from 'zod';
import type { AskOptions } from './ask.ts';
import { MAX_NAMES, resultOf } from './table-tools.ts';

const LISTS = '/stack/v1/watchlists';
const id = z.string().regex(/^wl_[0-9a-f]{24}$/, 'must be the id of a watchlist');
const text = z.string().min(1).max(2_048);

export const watchlistsTool = {
  name: 'stack_watchlists',
  title: 'Watchlists',
  description: "The key's watchlists; with id, what the rules of one reported, newest first.",
  input: z.object({
    id: id.optional(),
    limit: z.int().min(1).max(100).default(20),
    cursor: text.optional(),
  }),
} as const;

export async function listWatchlists(
  { id, limit, cursor }: z.output<typeof watchlistsTool.input>,
  options: AskOptions,
): Promise<CallToolResult> {
  const { client, signal } = options;
  const query = { limit, ...(cursor !== undefined && { cursor }) };
  if (id === undefined) {
    const answer = await client.get(LISTS, { query }, { signal });
    const { watchlists, next_cursor } = answer.body;
    return resultOf(answer, { watchlists: watchlists.map(shown), next_cursor }, watchlists.map(lineOf), options);
  }
  const answer = await client.get(`${LISTS}/{id}/notifications`, { path: { id }, query }, { signal });
  const { notifications: all, next_cursor } = answer.body;
  const notifications = all.map(({ at, rule, domain, title }) => ({ at, rule, domain, title: plainText(title) }));
  const lines = notifications.map(({ at, domain, title }) => `${at} ${domain}: ${title}`);
  return resultOf(answer, { notifications, next_cursor }, lines.length > 0 ? lines : ['Nothing yet.'], options);
}

export const watchTool = {
  name: 'stack_watch',
  title: 'Create or change a watchlist',
  description:
    'Creates a watchlist, or changes the given fields of the one with id. Rules: gained_provider, lost_provider, migrated_to (provider, from, category), posture_fell (points), advisory_known_exploited, expires_soon (days), named_in_feed. Channels send to an https webhook, or an e-mail address that its owner confirms: only those that the user names. Secrets of webhooks are on the page /watchlists.',
  input: z.object({
    id: id.optional(),
    name: text.max(100).optional(),
    domains: z.array(z.string().max(253)).min(1).max(MAX_NAMES).optional(),
    query: text.max(2_000).describe('Instead of domains.').optional(),
    rules: z
      .array(z.looseObject({ kind: text.max(64) }))
      .min(1)
      .max(10)
      .optional(),
    channels: z
      .array(z.looseObject({ kind: z.enum(['webhook', 'slack', 'teams', 'email']) }))
      .max(5)
      .describe('With url, or to for email.')
      .optional(),
  }),
} as const;

export async function changeWatchlist(
  { id, ...given }: z.output<typeof watchTool.input>,
  options: AskOptions,
): Promise<CallToolResult> {
  const { client, signal } = options;
  // The service validates what an agent leaves out or makes up.
  const send = (request: `POST ${typeof LISTS}` | `PUT ${typeof LISTS}/{id}`, input: object) =>
    client.send(request as `POST ${typeof LISTS}`, input as never, { signal });
  const before = id === undefined ? {} : await fieldsOf(id, options);
  const { domains, query, ...rest } = { ...before, ...given };
  // New domains replace a query, and a new query domains.
  const watched = given.domains ? { domains } : given.query ? { query } : { domains, query };
  const body = { ...rest, ...watched };
  const answer = await (id === undefined
    ? send(`POST ${LISTS}`, { body })
    : send(`PUT ${LISTS}/{id}`, { path: { id }, body }));
  const { watchlist } = answer.body;
  return resultOf(answer, shown(watchlist), [lineOf(watchlist)], options);
}

/** The body that would leave the list as it is. */
async function fieldsOf(id: string, { client, signal }: AskOptions) {
  const { body } = await client.get(`${LISTS}/{id}`, { path: { id } }, { signal });
  const { name, domains, query, rules, channels } = body.watchlist;
  const kept = channels.map(({ id: _id, confirmation: _state, ...channel }) => channel);
  return { name, ...(query === undefined ? { domains } : { query }), rules, channels: kept };
}

/** Without the secrets that would let a reader sign messages or read the feed. */
const shown = ({ id, name, domain_count, query, rules, channels, updated_at }: Watchlist) => ({
  ...{ id, name, domain_count, query, rules, updated_at },
  channels: channels.map(({ secret: _, ...channel }) => channel),
});

const lineOf = ({ id, name, domain_count, rules }: Watchlist) =>
  `${id} ${JSON.stringify(plainText(name))}: ${domain_count} domains, ${rules.map(({ kind }) => kind).join(', ')}`;
