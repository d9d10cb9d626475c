// The row of a look-up: what the index knows about one domain.
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

/** In the order of the columns; cells after the last one are null. */
export function lookupCells({ index, names }: StackApp, { text, error }: GivenName): Cell[] {
  const given = text.slice(0, 253).toWellFormed();
  const parsed = error === undefined ? parseDomain(hostIn(text)) : { ok: false as const, message: error };
  if (!parsed.ok) return [given, null, parsed.message, 'invalid'];
  const id = index.names.sorted.find(parsed.domain);
  if (id === undefined) return [given, parsed.domain, null, 'unknown'];
  const { scannedAt, firstSeen, changedAt, score, posture } = index.columns.facts(id);
  return [
    ...[given, parsed.domain, null, index.state(id), new Date(scannedAt).toISOString(), index.sector(id)],
    ...[score, score === null ? null : gradeOf(score)],
    ...roleCells({ index, names }, id, FIRST_ROLES),
    ...postureCells(posture),
    ...roleCells({ index, names }, id, MORE_ROLES),
    ...[new Date(firstSeen).toISOString(), changedAt === 0 ? null : new Date(changedAt).toISOString()],
  ];
}
