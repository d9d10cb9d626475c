// `strata stack explain`: reads records, one JSON object a line, and prints the detected services of each on a line. No network.
import { createInterface } from 'node:readline';
import { entries } from '@strata/catalog';
import {
  compileRulebook,
  evidenceFromRecord,
  explainRecord,
  loadCatalog,
  RecordError,
  type Rulebook,
} from '@strata/detect';
import type { CommandContext } from '../../context.ts';

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

/** For input that is something else entirely, only the first fields are reported. */
const MAX_REPORTED = 20;

/** For each object that has fields, a valid record with an additional field in it. */
const objects: readonly { readonly of: string; readonly record: (field: object) => object }[] = [
  { of: '', record: (field) => ({ domain: 'example.com', ...field }) },
  {
    of: 'mx',
    record: (field) => ({ domain: 'example.com', mx: [{ preference: 1, exchange: 'a.example', ...field }] }),
  },
  ...['a', 'aaaa', 'www'].map((of) => ({
    of,
    record: (field: object) => ({ domain: 'example.com', [of]: [{ address: '192.0.2.1', ...field }] }),
  })),
  ...['mx_addresses', 'ns_addresses'].map((of) => ({
    of,
    record: (field: object) => ({
      domain: 'example.com',
      [of]: [{ host: 'a.example', address: '192.0.2.1', ...field }],
    }),
  })),
];

/** Returns a function that calls `report` once for each unknown field name. */
function unknownFieldReporter(report: (message: string) => void): (record: unknown, line: number) => void {
  const known = new Set<string>();
  let reported = 0;
  return (record, line) => {
    if (reported > MAX_REPORTED || typeof record !== 'object' || record === null) return;
    for (const { of, record: build } of objects) {
      for (const name of namesAt(record as Record<string, unknown>, of)) {
        const path = of === '' ? name : `${of}[].${name}`;
        if (reported > MAX_REPORTED || known.has(path)) continue;
        known.add(path);
        if (isRead(build({ [name]: true }))) continue;
        reported += 1;
        if (reported > MAX_REPORTED) report('further unknown fields are not listed');
        else report(`line ${line}: ignored unknown field ${JSON.stringify(path.slice(0, 60))}`);
      }
    }
  };
}

/** Field names of the record, or of the entries of its list `of`. */
function namesAt(record: Readonly<Record<string, unknown>>, of: string): readonly string[] {
  if (of === '') return Object.keys(record);
  const list = record[of];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.keys(entry) : []));
}

/** No field has the type of `true`, so a known field is rejected. This avoids a second list of field names. */
function isRead(record: object): boolean {
  try {
    evidenceFromRecord(record);
    return false;
  } catch (error) {
    if (error instanceof RecordError) return true;
    throw error;
  }
}
