// `strata stack records` and `strata stack pivot`: what a domain publishes or published, and who shares a value.
import type { StackPaths } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { type OutputOptions, plainText, printJson, printTable } from '../../output.ts';
import { clientOf, refused, type ServiceOptions } from './service-client.ts';

export interface RecordsOptions extends ServiceOptions, OutputOptions {
  readonly at?: string;
  readonly history?: boolean;
}

export interface PivotOptions extends ServiceOptions, OutputOptions {
  readonly past?: boolean;
  readonly limit: string;
}

type Status = NonNullable<StackPaths['/stack/v1/pivot/{kind}/{value}']['query']['status']>;
type Kind = StackPaths['/stack/v1/pivot/{kind}/{value}']['path']['kind'];

const dateOf = (time: string | null) => time?.slice(0, 16).replace('T', ' ') ?? '';

export async function recordsCommand(
  { stdout }: CommandContext,
  domain: string,
  { at, history, json, ...service }: RecordsOptions,
): Promise<void> {
  const client = clientOf(service);
  const writeUnmeasured = (kinds: readonly string[]) =>
    kinds.length > 0 && stdout.write(`not measured, so unknown: ${plainText(kinds.join(', '))}\n`);
  if (history) {
    const { body } = await client.get('/stack/v1/domains/{domain}/history', { path: { domain } }).catch(refused);
    if (json) return printJson(stdout, body);
    writeUnmeasured(
      body.unmeasured.map(({ kind, until }) => (until === null ? kind : `${kind} until ${dateOf(until)}`)),
    );
    const rows = body.changes.map((change) => [dateOf(change.at), change.type, change.kind, change.value]);
    return printTable(stdout, ['at', 'change', 'kind', 'value'], rows);
  }
  const query = at === undefined ? {} : { at };
  const { body } = await client.get('/stack/v1/domains/{domain}/records', { path: { domain }, query }).catch(refused);
  if (json) return printJson(stdout, body);
  writeUnmeasured(body.unmeasured);
  const rows = body.records.map(({ kind, value, first_seen, last_seen, other_domains, shared }) => [
    ...[kind, dateOf(first_seen), dateOf(last_seen), `${other_domains}${shared ? '+' : ''}`, value],
  ]);
  printTable(stdout, ['kind', 'first seen', 'last seen', 'other domains', 'value'], rows);
  for (const { domain: other, values } of body.related) {
    const shared = values.map(({ kind, value }) => `${kind} ${value}`).join(', ');
    stdout.write(`${plainText(`related: ${other}: ${shared}`)}\n`);
  }
}

export async function pivotCommand(
  { stdout }: CommandContext,
  [kind, value]: readonly [kind: string, value: string],
  { past, limit, json, ...service }: PivotOptions,
): Promise<void> {
  const client = clientOf(service);
  const status: Status = past ? 'past' : 'present';
  const { body } = await client
    .get('/stack/v1/pivot/{kind}/{value}', {
      path: { kind: kind as Kind, value },
      query: { status, limit: Number(limit) },
    })
    .catch(refused);
  if (json) return printJson(stdout, body);
  const { total, total_ever } = body;
  const counts = `${total}${body.more_than_counted ? ' or more' : ''} domains now, ${total_ever ?? `${total} or more`} ever`;
  stdout.write(`${plainText(`${body.kind} ${body.value}: ${counts}. ${body.shared_reason ?? ''}`).trim()}\n`);
  const rows = body.domains.map((each) => [
    ...[each.domain, dateOf(each.first_seen), dateOf(each.last_seen), dateOf(each.ended_at)],
  ]);
  if (rows.length > 0) printTable(stdout, ['domain', 'first seen', 'last seen', 'ended'], rows);
}
