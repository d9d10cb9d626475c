// `strata inference network accounts`: what workers made for this gateway, from the receipts that both have signed.

import { existsSync } from 'node:fs';
import { sqliteFileOf } from '@strata/db';
import { type GatewayStoreConfig, openGatewayStore } from '@strata/gateway';
import type { CommandContext } from '../../context.ts';
import { CommandError, type OutputOptions, printJson, printTable } from '../../output.ts';

export interface AccountsOptions extends OutputOptions {
  readonly by: 'worker' | 'caller' | 'model' | 'day';
  readonly days: number;
}

type Store = Awaited<ReturnType<typeof openGatewayStore>>;

const DAY_MS = 86_400_000;

/** Looks, and makes nothing: a directory without a gateway's database is told. */
export async function accountsCommand(
  { stdout }: CommandContext,
  { by, days, json = false }: AccountsOptions,
  config: GatewayStoreConfig,
): Promise<void> {
  const file = sqliteFileOf(config.databaseUrl);
  if (file !== undefined && !existsSync(file))
    throw new CommandError(`no gateway has run here: there is no ${file}; STRATA_DATA names another place`);
  await using store = await openGatewayStore(config);
  const fromMs = (Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS;
  const totals = await store.segments.totals({ by, fromMs });
  if (json) {
    printJson(
      stdout,
      totals.map(({ key, segments, settled, promptTokens, cachedTokens, outputTokens }) => ({
        [by]: key,
        segments,
        settled,
        prompt_tokens: promptTokens,
        cached_tokens: cachedTokens,
        output_tokens: outputTokens,
      })),
    );
    return;
  }
  if (totals.length === 0) {
    stdout.write(`no worker made anything since ${new Date(fromMs).toISOString().slice(0, 10)}\n`);
    return;
  }
  const named = await namesOf(by, store);
  const rows = totals.map(({ key, segments, settled, promptTokens, cachedTokens, outputTokens }) => [
    key === '' ? 'unknown' : key,
    ...[segments, settled, promptTokens, cachedTokens, outputTokens].map(String),
    ...(named ? [named.names.get(key) ?? ''] : []),
  ]);
  printTable(stdout, [by, 'segments', 'settled', 'prompt', 'cached', 'output', ...(named ? [named.head] : [])], rows);
}

/** What people call them, where an id or a digest says little. */
async function namesOf(
  by: AccountsOptions['by'],
  { keys, answers }: Store,
): Promise<{ readonly head: string; readonly names: ReadonlyMap<string, string | null> } | undefined> {
  switch (by) {
    case 'caller':
      return { head: 'label', names: new Map((await keys.list()).map(({ id, label }) => [id, label])) };
    case 'model':
      return { head: 'name', names: await answers.modelNames() };
    case 'worker':
    case 'day':
      return undefined;
    default:
      return by satisfies never;
  }
}
