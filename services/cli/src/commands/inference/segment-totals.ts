// Totals of segment receipts, as the accounts of a gateway and the earnings of a worker print them.
import type { Segments } from '@strata/segments';
import type { OutputStream } from '../../context.ts';
import { printJson, printTable } from '../../output.ts';

const DAY_MS = 86_400_000;

/** Midnight UTC, this many days ago, counting today as one. */
export const startOfDays = (days: number): number => (Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS;

/** A column with a label for each key. */
export interface Labels {
  readonly head: string;
  readonly byKey: ReadonlyMap<string, string | null>;
}

export interface TotalsOptions {
  readonly by: string;
  readonly fromMs: number;
  readonly json: boolean;
  readonly labels?: () => Promise<Labels | undefined>;
}

export async function printTotals(
  stdout: OutputStream,
  totals: Awaited<ReturnType<Segments['totals']>>,
  { by, fromMs, json, labels: labelsOf }: TotalsOptions,
): Promise<void> {
  if (json) {
    printJson(
      stdout,
      totals.map(({ key, segments, settled, promptTokens, cachedTokens, outputTokens }) => ({
        [by]: key,
        ...{ segments, settled, prompt_tokens: promptTokens },
        ...{ cached_tokens: cachedTokens, output_tokens: outputTokens },
      })),
    );
    return;
  }
  if (totals.length === 0) {
    stdout.write(`no receipts since ${new Date(fromMs).toISOString().slice(0, 10)}\n`);
    return;
  }
  const labels = await labelsOf?.();
  const rows = totals.map(({ key, segments, settled, promptTokens, cachedTokens, outputTokens }) => [
    key === '' ? 'unknown' : key,
    ...[segments, settled, promptTokens, cachedTokens, outputTokens].map(String),
    ...(labels ? [labels.byKey.get(key) ?? ''] : []),
  ]);
  const head = [by, 'segments', 'settled', 'prompt', 'cached', 'output', ...(labels ? [labels.head] : [])];
  printTable(stdout, head, rows);
}
