// `strata inference worker earnings`: the work of this worker, from receipts that worker and gateway have signed.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Segments } from '@strata/segments';
import { checkProof, proofLine, proofName, storeFile, type WorkerConfig } from '@strata/worker';
import { openStore } from '@strata/worker/store';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, fileError } from '../../errors.ts';
import { counted, type OutputOptions, plainText, printJson } from '../../output.ts';
import { printTotals, startOfDays } from './segment-totals.ts';

export interface EarningsOptions extends OutputOptions {
  readonly days: number;
  readonly by: 'day' | 'gateway' | 'model';
  readonly export?: boolean;
  /** A file, or `-` for standard input. */
  readonly verify?: string;
}

const PAGE_SIZE = 500;

export async function earningsCommand(
  context: CommandContext,
  options: EarningsOptions,
  config: WorkerConfig,
): Promise<void> {
  const { stdout } = context;
  if (options.verify !== undefined) return verifyExport(context, options.verify, options);
  const file = storeFile(config);
  if (!existsSync(file))
    throw new CommandError(`this worker has not served anything yet: ${file} does not exist; check STRATA_DATA`);
  await using store = await openStore(file);
  const fromMs = startOfDays(options.days);
  if (options.export) return await printReceipts(stdout, store.segments, fromMs);
  const { by, json = false } = options;
  await printTotals(stdout, await store.segments.totals({ by, fromMs }), { by, fromMs, json });
}

async function printReceipts(stdout: OutputStream, segments: Segments, fromMs: number): Promise<void> {
  let before: Uint8Array | undefined;
  for (;;) {
    const page = await segments.list({ limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) });
    for (const segment of page) if (segment.endedAtMs >= fromMs) stdout.write(`${proofLine(segment)}\n`);
    before = page.at(-1)?.nonce;
    if (page.length < PAGE_SIZE) return;
  }
}

async function verifyExport(
  { stdin, stdout, stderr }: CommandContext,
  file: string,
  { json = false }: OutputOptions,
): Promise<void> {
  const input = file === '-' ? stdin : createReadStream(file);
  const count = { settled: 0, signed: 0, wrong: 0, outputTokens: 0 };
  /** The line of each receipt. */
  const lines = new Map<string, number>();
  let number = 0;
  const checked = async (line: string) => {
    const outcome = await checkProof(line);
    if (outcome.kind === 'wrong') return outcome;
    const name = proofName(outcome.receipt);
    const before = lines.get(name);
    if (before !== undefined) return { kind: 'wrong', reason: `duplicate of the receipt in line ${before}` } as const;
    lines.set(name, number);
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
      `${counted(settled, 'receipt')} signed by worker and gateway, ${signed} by the worker only, ${wrong} invalid; ${counted(outputTokens, 'token')}\n`,
    );
  if (wrong > 0) throw new CommandError(`${file} has ${counted(wrong, 'invalid line')}`);
}
