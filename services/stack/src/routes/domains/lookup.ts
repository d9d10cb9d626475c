// What is known about a list of domains, without scans.
import { gradeOf, parseDomain, ROLE_LIST, ROLES, SECTORS } from '@strata/detect';
import { route, TABLE_FORMATS, type TableColumn } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { refuseField, splitList, unknownWord, Word, WordList } from '../parameters.ts';
import { BODY_BYTES, CsvNames, type GivenName, MAX_NAMES, NameList, NdjsonNames } from './lookup-names.ts';
import { POSTURE_COLUMNS, postureCells } from './posture-columns.ts';

const COLUMNS = [
  { name: 'domain', description: 'As given, at most 253 characters of it.' },
  { name: 'registrable', description: 'Registrable domain, as A-labels.' },
  { name: 'error', description: 'Why this is not a domain.' },
  { name: 'state', description: 'active, parked, nonexistent, unmeasured, unknown (never scanned) or invalid.' },
  { name: 'scanned_at', description: 'ISO 8601 UTC.', type: 'time' },
  { name: 'sector', description: SECTORS.join(', ') },
  { name: 'score', description: 'Security score, 0 to 100.', type: 'integer' },
  { name: 'grade', description: 'A+ to F.' },
  ...ROLE_LIST.map((role) => ({
    name: role,
    description: `Ids of the providers in the role ${role} with high or medium confidence, separated by semicolons.`,
  })),
  ...POSTURE_COLUMNS,
] as const satisfies readonly TableColumn[];
const NAMES: readonly string[] = COLUMNS.map(({ name }) => name);

const Row = z
  .object(
    Object.fromEntries(
      COLUMNS.map(({ name, description }) => {
        const cell = name === 'score' ? z.int() : z.string();
        return [name, (name === 'domain' ? cell : cell.nullable()).describe(description).optional()];
      }),
    ),
  )
  .meta({ id: 'LookupRow' });

const Field = z.enum(NAMES as [string, ...string[]], {
  error: ({ input }) => unknownWord(String(input).slice(0, 64), NAMES),
});

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
      'The answer is JSON, CSV, NDJSON or Parquet, as `format` or `Accept` asks; counts as one request.',
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
      columns: COLUMNS,
      schema: z.object({ rows: z.array(Row) }),
      description: 'The rows, with their receipt.',
    },
    errors: ['payload_too_large', 'unsupported_media_type'],
    access: 'key',
  },
  async (app: StackApp, input) => {
    const { body } = input;
    const inBody = 'fields' in body ? body.fields : undefined;
    if (inBody && input.fields !== undefined) refuseField('fields', 'is in the query and in the body');
    const columns = [...new Set(inBody ?? (input.fields === undefined ? NAMES : splitList(input.fields)))];
    const positions = columns.map((column) => NAMES.indexOf(column));
    const rows: Cell[][] = [];
    for (const [i, name] of body.domains.entries()) {
      if (i % NAMES_AT_ONCE === NAMES_AT_ONCE - 1) await new Promise(setImmediate);
      const cells = cellsOf(app, name);
      rows.push(positions.map((at) => cells[at] ?? null));
    }
    return { filename: 'lookup.csv', columns, rows, isTruncated: false };
  },
);

type Cell = string | number | null;

/** In the order of the columns; cells after the last one are null. */
function cellsOf({ index }: StackApp, { text, error }: GivenName): Cell[] {
  const given = text.slice(0, 253).toWellFormed();
  const parsed = error === undefined ? parseDomain(text) : { ok: false as const, message: error };
  if (!parsed.ok) return [given, null, parsed.message, 'invalid'];
  const id = index.names.sorted.find(parsed.domain);
  if (id === undefined) return [given, parsed.domain, null, 'unknown'];
  const { scannedAt, score, posture } = index.columns.facts(id);
  const services = index.services(id).filter(([, , confidence]) => confidence !== 'low');
  return [
    ...[given, parsed.domain, null, index.state(id), new Date(scannedAt).toISOString(), index.sector(id)],
    ...[score, score === null ? null : gradeOf(score)],
    ...ROLE_LIST.map((role) =>
      services
        .filter(([category]) => ROLES[category] === role)
        .map(([, provider]) => provider)
        .join(';'),
    ),
    ...postureCells(posture),
  ];
}
