// `strata inference worker earnings`: what was served, from the receipts that worker and gateway have signed.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openStore, type Segments } from '@strata/store';
import { checkProof, proofLine, proofName, storeFile, type WorkerConfig } from '@strata/worker';
import type { CommandContext, OutputStream } from '../../context.ts';
import { fileError } from '../../errors.ts';
import { CommandError, counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';

export interface EarningsOptions extends OutputOptions {
  readonly days: number;
  readonly by: 'day' | 'gateway' | 'model';
  readonly export?: boolean;
  /** A file, or `-`. */
  readonly verify?: string;
}

const DAY_MS = 86_400_000;
const PAGE = 500;

export async function earningsCommand(
  context: CommandContext,
  options: EarningsOptions,
  config: WorkerConfig,
): Promise<void> {
  const { stdout } = context;
  if (options.verify !== undefined) return verifyExport(context, options.verify, options);
  const file = storeFile(config);
  if (!existsSync(file))
    throw new CommandError(`this worker has served nothing yet: there is no ${file}; STRATA_DATA names another place`);
  await using store = await openStore(`sqlite:${file}`);
  // From midnight, UTC.
  const fromMs = (Math.floor(Date.now() / DAY_MS) - options.days + 1) * DAY_MS;
  if (options.export) await printReceipts(stdout, store.segments, fromMs);
  else await printTotals(stdout, store.segments, { ...options, fromMs });
}

async function printTotals(
  stdout: OutputStream,
  segments: Segments,
  { by, fromMs, json = false }: EarningsOptions & { readonly fromMs: number },
): Promise<void> {
  const totals = await segments.totals({ by, fromMs });
  if (json) {
    printJson(
      stdout,
      totals.map(({ key, segments: count, settled, promptTokens, cachedTokens, outputTokens }) => ({
        [by]: key,
        ...{ segments: count, settled, prompt_tokens: promptTokens },
        ...{ cached_tokens: cachedTokens, output_tokens: outputTokens },
      })),
    );
  } else if (totals.length === 0)
    stdout.write(`nothing was served since ${new Date(fromMs).toISOString().slice(0, 10)}\n`);
  else
    printTable(
      stdout,
      [by, 'segments', 'settled', 'prompt', 'cached', 'output'],
      totals.map(({ key, segments: count, settled, promptTokens, cachedTokens, outputTokens }) => [
        key,
        ...[count, settled, promptTokens, cachedTokens, outputTokens].map(String),
      ]),
    );
}

async function printReceipts(stdout: OutputStream, segments: Segments, fromMs: number): Promise<void> {
  let before: Uint8Array | undefined;
  for (;;) {
    const page = await segments.list({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const segment of page) if (segment.endedAtMs >= fromMs) stdout.write(`${proofLine(segment)}\n`);
    before = page.at(-1)?.nonce;
    if (page.length < PAGE) return;
  }
}

async function verifyExport(
  { stdin, stdout, stderr }: CommandContext,
  file: string,
  { json = false }: OutputOptions,
): Promise<void> {
  const input = file === '-' ? stdin : createReadStream(file);
  const count = { settled: 0, signed: 0, wrong: 0, outputTokens: 0 };
  /** The line at which each receipt stands. */
  const seen = new Map<string, number>();
  let number = 0;
  const checked = async (line: string) => {
    const outcome = await checkProof(line);
    if (outcome.kind === 'wrong') return outcome;
    const name = proofName(outcome.receipt);
    const before = seen.get(name);
    if (before !== undefined) return { kind: 'wrong', reason: `its receipt stands at line ${before} already` } as const;
    seen.set(name, number);
    return outcome;
  };
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === '') continue;
      const outcome = await checked(line);
      count[outcome.kind] += 1;
      if (outcome.kind === 'wrong') stderr.write(`line ${number}: ${plainText(outcome.reason)}\n`);
      else count.outputTokens += outcome.receipt.to - outcome.receipt.from;
    }
  } catch (cause) {
    throw fileError(file, cause);
  }
  const { settled, signed, wrong, outputTokens } = count;
  if (json) printJson(stdout, { settled, signed, wrong, output_tokens: outputTokens });
  else
    stdout.write(
      `${counted(settled, 'receipt')} signed by both sides, ${signed} by the worker alone, ${wrong} wrong; ${counted(outputTokens, 'token')}\n`,
    );
  if (wrong > 0) throw new CommandError(`${counted(wrong, 'line')} of ${file} cannot be believed`);
}
