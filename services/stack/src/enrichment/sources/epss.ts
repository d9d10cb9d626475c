// FIRST's exploit prediction scores: one compressed CSV a day. https://www.first.org/epss/data_stats
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { type ExploitScore, isEpssColumns, readEpssHead, readEpssRow } from '@strata/advisories';
import { parse } from 'csv-parse';
import { z } from 'zod';
import { type AdvisorySource, SourceError, type Step } from '../source.ts';
import { download } from './downloads.ts';

export interface EpssOptions {
  /** The full URL of the newest file. */
  readonly url: string;
  readonly everyMs: number;
}

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_ROWS = 5_000_000;
const MAX_LINE = 1_000;
const ROWS_AT_ONCE = 5_000;
const ROWS_PER_SLICE = 500;
const TIMEOUT_MS = 600_000;
const DAY_MS = 86_400_000;
const Cursor = z.object({ date: z.string() });

export function epssSource({ url, everyMs }: EpssOptions): AdvisorySource {
  return {
    name: 'epss',
    everyMs,
    async *sync(stored, deps) {
      const file = path.join(deps.directory, 'epss.csv.gz');
      await download(url, file, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }, deps);
      try {
        return yield* epssSteps(file, stored, deps.now());
      } finally {
        await rm(file, { force: true });
      }
    },
  };
}

/** The scores of a compressed or plain file. A day that was read before is skipped. */
export async function* epssSteps(file: string, stored: unknown, now: Date): AsyncGenerator<Step, unknown> {
  const before = Cursor.safeParse(stored).data;
  let scores: ExploitScore[] = [];
  let skipped = 0;
  let problem: string | null = null;
  let date: string | undefined;
  let rows = 0;
  const step = (): Step => ({ scores, skipped, problem, read: scores.length + skipped, cursor: before ?? null });
  for await (const fields of rowsOf(file)) {
    rows += 1;
    // Decompressed rows arrive without yielding to the event loop.
    if (rows % ROWS_PER_SLICE === 0) await yieldToEventLoop();
    if (rows > MAX_ROWS) throw new SourceError(`${path.basename(file)} has more than ${MAX_ROWS} rows`);
    if (date === undefined) {
      date = readEpssHead(fields.join(','))?.scoredAt;
      if (date === undefined) throw new SourceError(`${path.basename(file)} is not a file of EPSS scores`);
      const tomorrow = new Date(now.getTime() + DAY_MS).toISOString();
      if (date > tomorrow) throw new SourceError(`${path.basename(file)} has a future date, ${date}`);
      if (before && date <= before.date && before.date <= tomorrow) return before;
      continue;
    }
    if (isEpssColumns(fields)) continue;
    const score = readEpssRow(fields);
    if (score) scores.push(score);
    else {
      skipped += 1;
      problem ??= `row ${rows}: not a CVE with two numbers from 0 to 1`;
    }
    if (scores.length + skipped === ROWS_AT_ONCE) {
      yield step();
      scores = [];
      skipped = 0;
    }
  }
  if (date === undefined) throw new SourceError(`${path.basename(file)} is empty`);
  yield step();
  return { date } satisfies z.infer<typeof Cursor>;
}

async function* rowsOf(file: string): AsyncGenerator<string[]> {
  const parser = parse({ relax_column_count: true, relax_quotes: true, bom: true, max_record_size: MAX_LINE });
  const done = () => {};
  const reading = createReadStream(file);
  if (file.endsWith('.gz')) pipeline(reading, createGunzip(), parser, done);
  else pipeline(reading, parser, done);
  try {
    for await (const row of parser) yield row as string[];
  } catch (cause) {
    throw new SourceError(`${path.basename(file)} cannot be read: it is damaged or not CSV`, { cause });
  }
}
