// `strata inference network accounts`: the work of the workers for this gateway, from receipts that both have signed.
import { existsSync } from 'node:fs';
import { sqliteFileOf } from '@strata/db';
import { type GatewayStoreConfig, openGatewayStore } from '@strata/gateway';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import type { OutputOptions } from '../../output.ts';
import { type Labels, printTotals, startOfDays } from './segment-totals.ts';

export interface AccountsOptions extends OutputOptions {
  readonly by: 'worker' | 'caller' | 'model' | 'day';
  readonly days: number;
}

type Store = Awaited<ReturnType<typeof openGatewayStore>>;

/** Throws CommandError where the gateway's database does not exist; never creates it. */
export async function accountsCommand(
  { stdout }: CommandContext,
  { by, days, json = false }: AccountsOptions,
  config: GatewayStoreConfig,
): Promise<void> {
  const file = sqliteFileOf(config.databaseUrl);
  if (file !== undefined && !existsSync(file))
    throw new CommandError(`no gateway has run here: ${file} does not exist; check STRATA_DATA`);
  await using store = await openGatewayStore(config);
  const fromMs = startOfDays(days);
  const totals = await store.segments.totals({ by, fromMs });
  await printTotals(stdout, totals, { by, fromMs, json, labels: () => labelsOf(by, store) });
}

/** Labels of ids and digests. */
async function labelsOf(by: AccountsOptions['by'], { keys, answers }: Store): Promise<Labels | undefined> {
  switch (by) {
    case 'caller':
      return { head: 'label', byKey: new Map((await keys.list()).map(({ id, label }) => [id, label])) };
    case 'model':
      return { head: 'name', byKey: await answers.modelNames() };
    case 'worker':
    case 'day':
      return undefined;
    default:
      return by satisfies never;
  }
}
