// Converts a table row to the facts of one vulnerability of one product.
import type { Scoring, VulnerabilityFacts } from '../facts.ts';
import { of, type SoftwareName } from '../software.ts';

/** CVSS vectors that many rows share. */
export const TAKEOVER = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
export const STOPS = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H';
export const READS = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N';
export const SCRIPTS = 'CVSS:3.1/AV:N/AC:L/PR:L/UI:R/S:C/C:L/I:L/A:N';

export const WINDOWS = { label: 'Windows', cpe: 'microsoft:windows', part: 'o' } as const;

/** NVD's scoring from before CVSS 3. */
export const inV2 = (vector: string, score: number): Scoring => ({
  version: '2.0',
  vector,
  score,
  severity: score < 7 ? 'MEDIUM' : 'HIGH',
  by: 'nvd',
});
/** A CNA's scoring under CVSS 4. */
export const inV4 = (vector: string, score: number): Scoring => ({
  version: '4.0',
  vector,
  score,
  severity: 'MEDIUM',
  by: 'cna',
});

type More = Omit<Partial<VulnerabilityFacts>, 'id' | 'published' | 'title' | 'vector'>;

/** Rows of one product: id without `CVE-`, day, title, ranges separated by `, `, vector. */
export const vulnerabilityOf =
  (name: SoftwareName) =>
  (
    id: string,
    published: string,
    title: string,
    ranges: string,
    vector: string,
    more: More = {},
  ): VulnerabilityFacts => ({
    id: id.startsWith('GHSA') ? id : `CVE-${id}`,
    published,
    title,
    vector,
    affected: [of(name, ...ranges.split(', '))],
    ...more,
  });
