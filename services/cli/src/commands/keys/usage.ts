// `strata inference keys usage`: requests and tokens by key, model and day.
import { amountText, type GatewayStore } from '@strata/gateway/store';
import type { CommandContext } from '../../context.ts';
import { type OutputOptions, printJson, printTable } from '../../output.ts';
import { startOfDays } from '../inference/segment-totals.ts';
import { requireDatabase } from './keys.ts';

export interface UsageOptions extends OutputOptions {
  readonly days: number;
}

export async function usageCommand(
  { stdout }: CommandContext,
  keyId: string | undefined,
  { days, json = false }: UsageOptions,
  {
    open,
    databaseUrl,
  }: {
    readonly open: () => Promise<Pick<GatewayStore, 'answers' | 'keys'> & AsyncDisposable>;
    readonly databaseUrl: string;
  },
): Promise<void> {
  requireDatabase(databaseUrl);
  await using store = await open();
  const since = new Date(startOfDays(days)).toISOString().slice(0, 10);
  const rows = await store.answers.usage({ since, ...(keyId === undefined ? {} : { keyId }) });
  if (json) {
    printJson(
      stdout,
      rows.map((row) => ({
        day: row.day,
        key_id: row.keyId,
        model: row.model,
        requests: row.requests,
        prompt_tokens: row.promptTokens,
        cached_tokens: row.cachedTokens,
        completion_tokens: row.completionTokens,
        spend_micros: row.spendMicros,
      })),
    );
  } else if (rows.length === 0) stdout.write(`no requests since ${since}\n`);
  else {
    const labels = new Map((await store.keys.list()).map(({ id, label }) => [id, label]));
    const table = rows.map((row) => [
      row.day,
      row.keyId,
      row.model,
      ...[row.requests, row.promptTokens, row.cachedTokens, row.completionTokens].map(String),
      amountText(row.spendMicros),
      labels.get(row.keyId) ?? '',
    ]);
    printTable(stdout, ['day', 'key', 'model', 'requests', 'prompt', 'cached', 'completion', 'spend', 'label'], table);
  }
}
