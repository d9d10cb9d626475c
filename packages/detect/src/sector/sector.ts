// The sector of a domain's owner: from the operator's list, from a suffix that a registry reserves for one sector, or
// from
// the schema.org types of the home page; otherwise 'unknown'.
import { parse } from 'tldts';
import type { Page } from '../evidence/evidence.ts';
import { SECTOR_OF_TYPE, type Sector } from './sector-types.ts';

/** The source of a sector: the operator's list, the domain's suffix, its home page; null for `unknown`. */
export type SectorSource = 'list' | 'suffix' | 'page' | null;

/** By registrable domain. */
export type SectorList = ReadonlyMap<string, Sector>;

/** Public suffixes that only one sector may register under. */
const BY_LAST_LABEL: ReadonlyMap<string, Sector> = new Map([
  ['gov', 'government'],
  ['mil', 'government'],
  ['edu', 'education_research'],
  ['bank', 'finance_insurance'],
  ['insurance', 'finance_insurance'],
  ['museum', 'museums_libraries_entertainment'],
  ['post', 'freight_postal'],
  ['aero', 'travel'],
  ['pharmacy', 'health'],
  ['ngo', 'community_nonprofit'],
  ['ong', 'community_nonprofit'],
]);

/** Second-level labels with the same meaning under country suffixes: `gov.uk`, `ac.jp`, `mil.br`. */
const BY_SECOND_LABEL: ReadonlyMap<string, Sector> = new Map([
  ['gov', 'government'],
  ['gob', 'government'],
  ['gouv', 'government'],
  ['govt', 'government'],
  ['gv', 'government'],
  ['gc', 'government'],
  ['go', 'government'],
  ['lg', 'government'],
  ['mil', 'government'],
  ['police', 'government'],
  ['edu', 'education_research'],
  ['ac', 'education_research'],
  ['sch', 'education_research'],
  ['school', 'education_research'],
  ['k12', 'education_research'],
  ['nhs', 'health'],
]);

/** Exceptions that anyone may register under: Gorizia's province, and Poland's `edu`. */
const OPEN_SUFFIXES: ReadonlySet<string> = new Set(['go.it', 'edu.pl']);

const UNKNOWN = { sector: 'unknown', source: null } as const;

/** The sector and its source. `page` is the domain's own home page, or null. */
export function decideSector(
  domain: string,
  { list, page }: { readonly list: SectorList; readonly page: Page | null },
): { readonly sector: Sector; readonly source: SectorSource } {
  const listed = list.get(domain);
  if (listed !== undefined) return { sector: listed, source: 'list' };
  const bySuffix = sectorOf(domain);
  if (bySuffix !== 'unknown') return { sector: bySuffix, source: 'suffix' };
  const types = page?.types ?? [];
  if (types.length === 0) return UNKNOWN;
  const sectors = new Set(types.flatMap((type) => SECTOR_OF_TYPE.get(type) ?? []));
  const [only, another] = sectors;
  // A page with several sectors (a directory, a university hospital) decides nothing.
  return only === undefined || another !== undefined ? UNKNOWN : { sector: only, source: 'page' };
}

/** Whether any label could decide a sector: most names do not need a look-up of their suffix. */
function hasSectorLabel(domain: string): boolean {
  for (let end = domain.length; end > 0; ) {
    const dot = domain.lastIndexOf('.', end - 1);
    const label = domain.slice(dot + 1, end);
    if (BY_SECOND_LABEL.has(label) || BY_LAST_LABEL.has(label)) return true;
    end = dot;
  }
  return false;
}

/** Sector of a registrable domain by its public suffix; `unknown` if anyone may register under the suffix. */
export function sectorOf(domain: string): Sector {
  if (!hasSectorLabel(domain)) return 'unknown';
  const suffix = parse(domain, {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  }).publicSuffix;
  if (suffix === null || OPEN_SUFFIXES.has(suffix)) return 'unknown';
  const labels = suffix.split('.');
  const top = BY_LAST_LABEL.get(labels.at(-1) ?? '');
  if (top !== undefined) return top;
  // From the right: Acre's `ac.gov.br` is a state government, not academia.
  for (const label of labels.slice(0, -1).reverse()) {
    const sector = BY_SECOND_LABEL.get(label);
    if (sector !== undefined) return sector;
  }
  return 'unknown';
}
