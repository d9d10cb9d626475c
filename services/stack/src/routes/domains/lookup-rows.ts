// The row of a look-up: what the latest scan shows of one domain.
import type { DomainRow } from '@strata/analytics';
import { gradeOf, hostIn, parseDomain, SECTORS } from '@strata/detect';
import type { Cell, TableColumn } from '@strata/http';
import type { StackApp } from '../../context.ts';
import { POSTURE_COLUMNS, postureCells } from './posture-columns.ts';
import { FIRST_ROLES, MORE_ROLES, roleCells, roleColumns } from './role-columns.ts';

/** A name as given, or why a line has none. */
export interface GivenName {
  readonly text: string;
  readonly error?: string;
  /** Cells of the other columns of CSV. */
  readonly extra?: readonly string[];
}

export const LOOKUP_COLUMNS = [
  { name: 'domain', description: 'As given, also a URL or an e-mail address; at most 253 characters of it.' },
  { name: 'registrable', description: 'Registrable domain, as A-labels.' },
  { name: 'error', description: 'Why this is not a domain.' },
  { name: 'state', description: 'active, parked, nonexistent, unmeasured, unknown (never scanned) or invalid.' },
  { name: 'scanned_at', description: 'ISO 8601 UTC.', type: 'time' },
  { name: 'sector', description: SECTORS.join(', ') },
  { name: 'score', description: 'Security score, 0 to 100.', type: 'integer' },
  { name: 'grade', description: 'A+ to F.' },
  ...roleColumns(FIRST_ROLES),
  ...POSTURE_COLUMNS,
  ...roleColumns(MORE_ROLES),
  { name: 'first_seen', description: 'The first scan that measured it.', type: 'time' },
  { name: 'changed_at', description: 'Confirmation of its last change of services; empty: none.', type: 'time' },
] as const satisfies readonly TableColumn[];

/** Of each name, in the order of the columns; cells after the last one are null. */
export async function lookupCells({ analytics, names }: StackApp, given: readonly GivenName[]): Promise<Cell[][]> {
  const parsed = given.map(({ text, error }) =>
    error === undefined ? parseDomain(hostIn(text)) : { ok: false as const, message: error },
  );
  const among = { names: [...new Set(parsed.flatMap((each) => (each.ok ? [each.domain] : [])))] };
  const page = { limit: among.names.length, offset: 0 };
  const { domains } = await analytics.search({ filter: { among }, ...page });
  const known = new Map(domains.map((row) => [row.name, row]));
  return parsed.map((each, i) => {
    const text = (given[i]?.text ?? '').slice(0, 253).toWellFormed();
    if (!each.ok) return [text, null, each.message, 'invalid'];
    const row = known.get(each.domain);
    return [text, each.domain, null, ...(row ? rowCells(row, names) : ['unknown'])];
  });
}

function rowCells(row: DomainRow, names: StackApp['names']): Cell[] {
  const { state, scannedAt, firstSeen, changedAt, sector, score, posture } = row;
  return [
    ...[state, new Date(scannedAt).toISOString(), sector, score, score === null ? null : gradeOf(score)],
    ...roleCells(row, FIRST_ROLES, names),
    ...postureCells(posture),
    ...roleCells(row, MORE_ROLES, names),
    ...[new Date(firstSeen).toISOString(), changedAt === 0 ? null : new Date(changedAt).toISOString()],
  ];
}
