// Well-known published vulnerabilities, as facts. The last three are records that every publisher sends malformed: a
// reader must skip them and accept the rest.
import { readRows } from '../data.ts';
import type { VulnerabilityFacts } from './facts.ts';
import { of } from './software.ts';

/** Affected software by name, with ranges separated by `, `. */
interface Row extends Omit<VulnerabilityFacts, 'affected'> {
  readonly affected: Readonly<Record<string, string>>;
}

export const knownVulnerabilities: readonly VulnerabilityFacts[] = readRows<Row>('vulnerabilities').map((row) => ({
  ...row,
  affected: Object.entries(row.affected).map(([name, ranges]) => of(name, ...ranges.split(', '))),
}));
