// The names in the body of a look-up: JSON, CSV or NDJSON.
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

/** Maximum names of a look-up. */
export const MAX_NAMES = 1_000;
/** Names of the maximum length, or with other columns beside them. */
export const BODY_BYTES = 262_144;

/** A name as given, or why a line has none. */
export interface GivenName {
  readonly text: string;
  readonly error?: string;
}

const COUNT = `must have 1 to ${MAX_NAMES} names`;

/** The length is checked first: a long list costs nothing else. */
export const NameList = z.preprocess(
  (list, context) => {
    const isFitting = !Array.isArray(list) || (list.length > 0 && list.length <= MAX_NAMES);
    if (!isFitting) context.addIssue({ code: 'custom', message: COUNT });
    return isFitting ? list : [];
  },
  z
    .array(z.string().transform((text): GivenName => ({ text })))
    .max(MAX_NAMES)
    .meta({ minItems: 1, description: 'Domains or hosts below them, in Unicode or as A-labels.' }),
);

/** Text whose names `read` finds; throws an Error with a message for the client if it cannot be read. */
const names = (description: string, read: (text: string) => GivenName[]) =>
  z
    .string()
    .describe(description)
    .transform((text, context): { readonly domains: readonly GivenName[] } => {
      try {
        const domains = read(text);
        if (domains.length > 0 && domains.length <= MAX_NAMES) return { domains };
        context.addIssue({ code: 'custom', message: COUNT });
      } catch (error) {
        if (!(error instanceof CsvError)) throw error;
        context.addIssue({ code: 'custom', message: `is not CSV: ${error.message}` });
      }
      return z.NEVER;
    });

export const CsvNames = names(
  'One name per row: in the column with the header `domain`, else in the first column, without a header.',
  (text) => {
    // One more than allowed shows that there are too many.
    const rows = parse(text, {
      bom: true,
      relaxColumnCount: true,
      skipEmptyLines: true,
      trim: true,
      to: MAX_NAMES + 2,
    });
    const { at, isHeader } = nameColumn(rows[0] ?? []);
    return rows.slice(isHeader ? 1 : 0).map((row) => ({ text: row[at] ?? '' }));
  },
);

/** The column of the names, by the first row. */
export function nameColumn(first: readonly string[]): { readonly at: number; readonly isHeader: boolean } {
  const column = first.findIndex((cell) => cell.toLowerCase() === 'domain');
  return { at: Math.max(column, 0), isHeader: column >= 0 };
}

export const NdjsonNames = names('On each line a string, or an object with `domain`.', (text) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(nameOnLine),
);

export function nameOnLine(line: string): GivenName {
  try {
    const value: unknown = JSON.parse(line);
    const name = typeof value === 'object' && value !== null && 'domain' in value ? value.domain : value;
    if (typeof name === 'string') return { text: name };
  } catch {
    // Answered like any other line without a name.
  }
  return { text: line.trim(), error: 'The line is neither a JSON string nor an object with the string `domain`.' };
}
