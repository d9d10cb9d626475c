// What is known about a list of domains, without scans.
import { type Cell, route, TABLE_FORMATS } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { priceOf, ROWS_PER_REQUEST } from '../../exports/price.ts';
import { Choice, refuseField, splitList, Word, WordList } from '../parameters.ts';
import { BODY_BYTES, CsvNames, MAX_NAMES, NameList, NdjsonNames } from './lookup-names.ts';
import { type GivenName, LOOKUP_COLUMNS, lookupCells } from './lookup-rows.ts';

const NAMES: readonly string[] = LOOKUP_COLUMNS.map(({ name }) => name);

const Row = z
  .object(
    Object.fromEntries(
      LOOKUP_COLUMNS.map(({ name, description }) => {
        const cell = name === 'score' ? z.int() : z.string();
        return [name, (name === 'domain' ? cell : cell.nullable()).describe(description).optional()];
      }),
    ),
  )
  .meta({ id: 'LookupRow' });

const Field = Choice(NAMES as [string, ...string[]]);

/** Names looked up before other requests get a turn: about a millisecond. */
const NAMES_AT_ONCE = 100;

export const postLookup = route(
  {
    method: 'POST',
    path: '/stack/v1/domains:lookup',
    tag: 'Domains',
    summary: `What is known about up to ${MAX_NAMES} domains`,
    description:
      'One row per name, in the order given, from the latest scans: nothing is scanned. A name that is not a domain has a row with `error`. ' +
      'The other columns of CSV, at most 99, follow as they were given; one with the name of a column of the answer becomes `given_…`. ' +
      'The answer is JSON, CSV, NDJSON or Parquet, as `format` or `Accept` asks. It costs one request per started ' +
      `${ROWS_PER_REQUEST} names, each time: a job (\`POST /stack/v1/jobs\`) costs once, however often its file is fetched.`,
    query: z.object({
      fields: WordList(NAMES).describe('Columns of the answer, in this order, separated by commas.').optional(),
      format: Word(TABLE_FORMATS).describe('Format of the answer; it precedes the header `Accept`.').optional(),
    }),
    bodies: {
      'application/json': z.strictObject({
        domains: NameList,
        fields: z.array(Field).min(1).max(NAMES.length).optional(),
      }),
      'text/csv': CsvNames,
      'application/x-ndjson': NdjsonNames,
    },
    bodyBytes: BODY_BYTES,
    output: {
      kind: 'rows',
      columns: LOOKUP_COLUMNS,
      schema: z.object({ rows: z.array(Row) }),
      description: 'The rows, with their receipt.',
    },
    errors: ['payload_too_large', 'unsupported_media_type'],
    isChargedByHandler: true,
  },
  async (app: StackApp, input, context) => {
    const { body } = input;
    const inBody = 'fields' in body ? body.fields : undefined;
    if (inBody && input.fields !== undefined) refuseField('fields', 'is in the query and in the body');
    const columns = [...new Set(inBody ?? (input.fields === undefined ? NAMES : splitList(input.fields)))];
    const positions = columns.map((column) => NAMES.indexOf(column));
    await context.charge(priceOf(body.domains.length));
    const rows: Cell[][] = [];
    for (let from = 0; from < body.domains.length; from += NAMES_AT_ONCE) {
      if (from > 0) await new Promise(setImmediate);
      const given: readonly GivenName[] = body.domains.slice(from, from + NAMES_AT_ONCE);
      for (const [i, cells] of (await lookupCells(app, given)).entries())
        rows.push([...positions.map((at) => cells[at] ?? null), ...(given[i]?.extra ?? [])]);
    }
    const extra = 'extra' in body ? body.extra : [];
    return { filename: 'lookup.csv', columns, extra, rows, isTruncated: false };
  },
);
