// The sector that a domain's own suffix proves, for suffixes that registries keep for one; anything else is 'unknown'.
import { parse } from 'tldts';

/**
 * Every sector that may be told: NAICSlite's top level (Ziv et al., ASdb, IMC 2021) and `unknown`. Append only: stored
 * snapshots keep a sector by its place.
 */
export const SECTORS = [
  'unknown',
  'computer_it',
  'media',
  'finance_insurance',
  'education_research',
  'service',
  'agriculture_mining',
  'community_nonprofit',
  'construction_real_estate',
  'museums_libraries_entertainment',
  'utilities',
  'health',
  'travel',
  'freight_postal',
  'government',
  'retail_ecommerce',
  'manufacturing',
  'other',
] as const;

/** Public suffixes under which only one sector may register. */
const BY_LAST_LABEL: ReadonlyMap<string, string> = new Map([
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
const BY_FIRST_LABEL: ReadonlyMap<string, string> = new Map([
  ['gov', 'government'],
  ['gob', 'government'],
  ['gouv', 'government'],
  ['govt', 'government'],
  ['gv', 'government'],
  ['gc', 'government'],
  ['go', 'government'],
  ['mil', 'government'],
  ['police', 'government'],
  ['edu', 'education_research'],
  ['ac', 'education_research'],
  ['sch', 'education_research'],
  ['k12', 'education_research'],
  ['nhs', 'health'],
]);

/** Look the same and are open to all: Gorizia's province, and Poland's `edu`. */
const OPEN_SUFFIXES: ReadonlySet<string> = new Set(['go.it', 'edu.pl']);

/** Sector of a registrable domain by its public suffix; a NAICSlite name, or `unknown`. */
export function sectorOf(domain: string): string {
  const suffix = parse(domain, {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  }).publicSuffix;
  if (suffix === null || OPEN_SUFFIXES.has(suffix)) return 'unknown';
  const labels = suffix.split('.');
  if (labels.length === 1) return BY_LAST_LABEL.get(suffix) ?? 'unknown';
  return BY_LAST_LABEL.get(labels.at(-1) ?? '') ?? BY_FIRST_LABEL.get(labels[0] ?? '') ?? 'unknown';
}
