// `strata inference network accounts`: what workers made for this gateway, from the receipts that both have signed.
import type { Store } from '@strata/store';
import { type OutputOptions, printJson, printTable } from '../output.ts';

export const ACCOUNTS_BY = ['worker', 'caller', 'model', 'day'] as const;

export interface AccountsOptions extends OutputOptions {
  readonly by: (typeof ACCOUNTS_BY)[number];
  readonly days: number;
}

const DAY_MS = 86_400_000;

export async function accountsCommand(
  { by, days, json = false }: AccountsOptions,
  open: () => Promise<Pick<Store, 'segments' | 'keys'> & AsyncDisposable>,
): Promise<void> {
  await using store = await open();
  const fromMs = (Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS;
  const totals = await store.segments.totals({ by, fromMs });
  if (json) {
    printJson(
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
    process.stdout.write(`no worker made anything since ${new Date(fromMs).toISOString().slice(0, 10)}\n`);
    return;
  }
  const labels = by === 'caller' ? new Map((await store.keys.list()).map(({ id, label }) => [id, label])) : undefined;
  const rows = totals.map(({ key, segments, settled, promptTokens, cachedTokens, outputTokens }) => [
    key === '' ? 'unknown' : key,
    ...[segments, settled, promptTokens, cachedTokens, outputTokens].map(String),
    ...(labels ? [labels.get(key) ?? ''] : []),
  ]);
  printTable([by, 'segments', 'settled', 'prompt', 'cached', 'output', ...(labels ? ['label'] : [])], rows);
}
