// `strata stack explain`: records in, one JSON object a line; what detection makes of each out, one line each. No network.
import { createInterface } from 'node:readline';
import { entries } from '@strata/catalog';
import { compileRulebook, explainRecord, loadCatalog, type Rulebook } from '@strata/detect';
import type { CommandContext } from '../../context.ts';
import { unknownFieldWatch } from './unknown-fields.ts';

/** Longest line read: full evidence with a large HTML page stays well below. */
const maxLineLength = 8 * 1024 * 1024;

export interface ExplainOptions {
  /** Files and folders of community sets, comma-separated. */
  readonly fingerprints?: string;
}

/** The service is loaded only for sets: without, this starts at once. */
async function rulebookFor({ fingerprints }: ExplainOptions): Promise<Rulebook> {
  if (!fingerprints) return compileRulebook(loadCatalog(entries));
  const { openRulebook, Paths } = await import('@strata/stack');
  return openRulebook({ fingerprints: Paths.parse(fingerprints) });
}

/**
 * Answers every line; a bad one with `{"error", "line"}`, so that line n out always belongs to line n in (blank ones aside).
 * Fields that mean nothing are named on standard error. Returns the number of bad lines.
 */
export async function explain(
  { stdin, stdout, stderr }: Pick<CommandContext, 'stdin' | 'stdout' | 'stderr'>,
  options: ExplainOptions = {},
): Promise<number> {
  const rulebook = await rulebookFor(options);
  const watchFields = unknownFieldWatch((message) => stderr.write(`${message}\n`));
  let number = 0;
  let bad = 0;
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    const result = answer(line, number);
    if ('error' in result) bad += 1;
    if (!stdout.write(`${JSON.stringify(result)}\n`)) await new Promise((resolve) => stdout.once('drain', resolve));
  }
  return bad;

  function answer(line: string, number: number): object {
    if (line.length > maxLineLength) return { error: 'the line is longer than 8 MiB', line: number };
    try {
      const record: unknown = JSON.parse(line);
      watchFields(record, number);
      return explainRecord(record, rulebook);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error), line: number };
    }
  }
}
