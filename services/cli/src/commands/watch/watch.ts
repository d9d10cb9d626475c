// Requests of `strata stack watch`.
import type { StackClient } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { printJson, printRejected, printTable } from '../../output.ts';
import { clientOf, refused, type ServiceOptions, serviceOf } from '../records/service-client.ts';
import { readTargets } from '../scan/scan-targets.ts';

export interface CreateOptions extends ServiceOptions {
  readonly rule: readonly string[];
  readonly webhook?: readonly string[];
  readonly slack?: readonly string[];
  readonly teams?: readonly string[];
  readonly email?: readonly string[];
  readonly digest?: string;
  readonly query?: string;
}

const LISTS = '/stack/v1/watchlists';

export async function createWatchlist(
  { stdin, stdout, stderr }: CommandContext,
  { name, targets }: { readonly name: string; readonly targets: readonly string[] },
  { rule, digest, query, webhook = [], slack = [], teams = [], email = [], ...service }: CreateOptions,
): Promise<void> {
  if ((targets.length === 0) === (query === undefined)) throw usageError('give domains or --query, not both');
  const { domains, rejected } = await readTargets(targets, stdin);
  printRejected(stderr, rejected);
  const channels = Object.entries({ webhook, slack, teams, email }).flatMap(([kind, targets]) =>
    targets.map((target) => ({
      ...{ kind, [kind === 'email' ? 'to' : 'url']: target },
      ...(digest !== undefined && { digest }),
    })),
  );
  const content = query === undefined ? { domains } : { query };
  const body = { name, ...content, rules: rule.map(ruleOf), channels };
  const answer = await asked(service, (client) => client.send(`POST ${LISTS}`, { body }));
  const { domains: _domains, ...list } = answer.body.watchlist;
  printJson(stdout, { ...list, feed: new URL(list.feed, serviceOf(service).baseUrl).href });
  if (channels.length > 0) stderr.write(`strata stack watch test ${list.id} sends a message to each channel\n`);
}

/** `kind:name=value,…` */
function ruleOf(text: string): Readonly<Record<string, string | number>> {
  const [kind = '', conditions = ''] = text.split(':', 2);
  const pairs = conditions === '' ? [] : conditions.split(',').map((pair) => pair.split('=', 2));
  for (const [name = '', value] of pairs)
    if (value === undefined) throw usageError(`'${name}' in --rule needs a value, as provider=cloudflare`);
  return {
    kind,
    ...Object.fromEntries(pairs.map(([name, value = '']) => [name, /^\d+$/.test(value) ? Number(value) : value])),
  };
}

export async function listWatchlists({ stdout }: CommandContext, service: ServiceOptions): Promise<void> {
  const { body } = await asked(service, (client) => client.get(LISTS));
  const rows = body.watchlists.map(({ id, name, domain_count, rules, channels }) => [
    ...[id, name, String(domain_count), rules.map(({ kind }) => kind).join(' ')],
    channels.map(({ kind }) => kind).join(' '),
  ]);
  printTable(stdout, ['id', 'name', 'domains', 'rules', 'channels'], rows);
}

export async function listDeliveries(
  { stdout }: CommandContext,
  id: string,
  { state, ...service }: ServiceOptions & { readonly state?: string },
): Promise<void> {
  const query = { state: state as 'dead' | undefined };
  const [{ body }, channels] = await asked(service, (client) =>
    Promise.all([client.get(`${LISTS}/{id}/deliveries`, { path: { id }, query }), channelsOf(client, id)]),
  );
  const rows = body.deliveries.map((each) => [
    ...[each.id, each.state, each.kind, channels.get(each.channel) ?? ''],
    ...[String(each.notifications), String(each.attempts)],
    each.next_attempt_at ?? each.finished_at ?? '',
    each.error ?? '',
  ]);
  printTable(
    stdout,
    ['id', 'state', 'kind', 'channel', 'notifications', 'attempts', 'next or finished', 'error'],
    rows,
  );
}

export async function replayDelivery(
  { stdout }: CommandContext,
  path: { readonly id: string; readonly delivery: string },
  service: ServiceOptions,
): Promise<void> {
  await asked(service, (client) => client.send(`POST ${LISTS}/{id}/deliveries/{delivery}:replay`, { path }));
  stdout.write(`${path.delivery} is sent again\n`);
}

export async function testWatchlist({ stdout }: CommandContext, id: string, service: ServiceOptions): Promise<void> {
  const [{ body }, channels] = await asked(service, (client) =>
    Promise.all([client.send(`POST ${LISTS}/{id}:test`, { path: { id } }), channelsOf(client, id)]),
  );
  for (const each of body.deliveries) stdout.write(`${each.id} is queued for ${channels.get(each.channel)}\n`);
}

/** Kind and target by id; without those that a list no longer has. */
async function channelsOf(client: StackClient, id: string): Promise<ReadonlyMap<string, string>> {
  const { body } = await client.get(`${LISTS}/{id}`, { path: { id } });
  return new Map(body.watchlist.channels.map(({ id, kind, url, to }) => [id, `${kind} ${url ?? to}`]));
}

export async function deleteWatchlist({ stdout }: CommandContext, id: string, service: ServiceOptions): Promise<void> {
  await asked(service, (client) => client.send(`DELETE ${LISTS}/{id}`, { path: { id } }));
  stdout.write(`${id} is deleted\n`);
}

/** The answer of the service, or its problem as an error of the command. */
const asked = <T>(service: ServiceOptions, ask: (client: StackClient) => Promise<T>): Promise<T> =>
  ask(clientOf(service)).catch(refused);
