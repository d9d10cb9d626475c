// `strata stack explain`: reads records, one JSON object a line, and prints the detected services of each on a line. No network.
import { createInterface } from 'node:readline';
import { entries } from '@strata/catalog';
import { compileRulebook, explainRecord, loadCatalog, type Rulebook } from '@strata/detect';
import type { CommandContext } from '../../context.ts';
import { unknownFieldReporter } from './unknown-fields.ts';

/** Full evidence with a large HTML page is far shorter. */
const MAX_LINE_LENGTH = 8 * 1024 * 1024;

export interface ExplainOptions {
  /** Files and folders of fingerprint sets, comma-separated. */
  readonly fingerprints?: string;
}

/** Loads the service only for fingerprint sets, since loading it takes time. */
async function rulebookFor({ fingerprints }: ExplainOptions): Promise<Rulebook> {
  if (!fingerprints) return compileRulebook(loadCatalog(entries));
  const { openRulebook, Paths } = await import('@strata/stack');
  return openRulebook({ fingerprints: Paths.parse(fingerprints) });
}

/**
 * Prints one line for each line of input that is not blank, in order; `{"error", "line"}` for an invalid one. Unknown fields are
 * reported on standard error. Returns the number of invalid lines.
 */
export async function explain(
  { stdin, stdout, stderr }: Pick<CommandContext, 'stdin' | 'stdout' | 'stderr'>,
  options: ExplainOptions = {},
): Promise<number> {
  const rulebook = await rulebookFor(options);
  const checkFields = unknownFieldReporter((message) => stderr.write(`${message}\n`));
  let number = 0;
  let invalid = 0;
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    const result = answer(line, number);
    if ('error' in result) invalid += 1;
    if (!stdout.write(`${JSON.stringify(result)}\n`)) await new Promise((resolve) => stdout.once('drain', resolve));
  }
  return invalid;

  function answer(line: string, number: number): object {
    if (line.length > MAX_LINE_LENGTH) return { error: 'the line is longer than 8 MiB', line: number };
    try {
      const record: unknown = JSON.parse(line);
      checkFields(record, number);
      return explainRecord(record, rulebook);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error), line: number };
    }
  }
}
