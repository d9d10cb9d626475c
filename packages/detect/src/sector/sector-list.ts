// The operator's own list of sectors, from rows of two cells: domain, sector.
import { parseDomain } from '../names/names.ts';
import type { SectorList } from './sector.ts';
import { SECTORS, type Sector } from './sector-types.ts';

/** Invalid rows, each with its number and reason; at most a hundred. */
export class SectorListError extends Error {
  override readonly name = 'SectorListError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the list of sectors has rows that cannot be used:\n${problems.map((row) => `  ${row}`).join('\n')}`);
    this.problems = problems;
  }
}

const MAX_PROBLEMS = 100;
const KNOWN: ReadonlySet<string> = new Set(SECTORS);

/**
 * Skips a header row `domain`, `sector`; a host name represents its registrable domain. Throws SectorListError with all
 * problems, because a partially loaded list would be taken as complete.
 */
export function sectorListOf(rows: readonly (readonly string[])[]): SectorList {
  const sectors = new Map<string, Sector>();
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    if (index === 0 && row[0]?.trim().toLowerCase() === 'domain') continue;
    const problem = addRow(sectors, row);
    if (problem !== undefined && problems.length < MAX_PROBLEMS) problems.push(`row ${index + 1}: ${problem}`);
  }
  if (problems.length > 0) throw new SectorListError(problems);
  return sectors;
}

function addRow(sectors: Map<string, Sector>, row: readonly string[]): string | undefined {
  const [name = '', sector = '', ...more] = row.map((cell) => cell.trim());
  if (more.length > 0) return 'has more than a domain and a sector';
  const parsed = parseDomain(name);
  if (!parsed.ok) return `'${name.slice(0, 80)}' is not a domain: ${parsed.message}`;
  if (!isSector(sector)) return `'${sector.slice(0, 80)}' is not a sector; the sectors are ${SECTORS.join(', ')}`;
  const known = sectors.get(parsed.domain);
  if (known !== undefined && known !== sector) return `${parsed.domain} is ${known} in an earlier row`;
  sectors.set(parsed.domain, sector);
  return undefined;
}

function isSector(text: string): text is Sector {
  return KNOWN.has(text);
}
