// The names in the body of a look-up: JSON, CSV or NDJSON.
import { delimiterOf } from '@strata/detect';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { CSV_OPTIONS, csvLayout } from './csv-layout.ts';
import type { GivenName } from './lookup-rows.ts';

/** Maximum names of a look-up. */
export const MAX_NAMES = 1_000;
/** Names of the maximum length, or with other columns beside them. */
export const BODY_BYTES = 262_144;

interface GivenList {
  readonly domains: readonly GivenName[];
  /** Names of the other columns of CSV. */
  readonly extra?: readonly string[];
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
    .meta({ minItems: 1, description: 'Domains, hosts below them, URLs or e-mail addresses.' }),
);

/** Text whose names `read` finds; throws an Error with a message for the client if it cannot be read. */
const names = (description: string, read: (text: string) => GivenList) =>
  z
    .string()
    .describe(description)
    .transform((text, context): GivenList => {
      try {
        const list = read(text);
        if (list.domains.length > 0 && list.domains.length <= MAX_NAMES) return list;
        context.addIssue({ code: 'custom', message: COUNT });
      } catch (error) {
        if (!(error instanceof CsvError)) throw error;
        context.addIssue({ code: 'custom', message: `is not CSV: ${error.message}` });
      }
      return z.NEVER;
    });

export const CsvNames = names(
  'One name per row: in the column with the header `domain`, `website`, `web`, `homepage`, `url`, `hostname` or `host`, else in the first one that has a domain in the first or second row. A first row without a dot is a header. Columns are separated by commas, semicolons or tabs, as in the first row. The other columns are returned in each row.',
  (text) => {
    // One more than allowed shows that there are too many.
    const delimiter = delimiterOf(text.split('\n', 1)[0] ?? '');
    const rows = parse(text, { ...CSV_OPTIONS, delimiter, to: MAX_NAMES + 2 });
    const { isHeader, extra, nameIn } = csvLayout(rows.slice(0, 2));
    return { domains: rows.slice(isHeader ? 1 : 0).map(nameIn), extra };
  },
);

export const NdjsonNames = names('On each line a string, or an object with `domain`.', (text) => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { domains: lines.map(nameOnLine) };
});

export function nameOnLine(line: string): GivenName {
  try {
    const value: unknown = JSON.parse(line);
    const name = typeof value === 'object' && value !== null && 'domain' in value ? value.domain : value;
    if (typeof name === 'string') return { text: name };
  } catch {
    // Answered like any other line without a name.
  }
  return { text: line.trim(), error: 'This is neither a JSON string nor an object with the string `domain`.' };
}
