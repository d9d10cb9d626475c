// What the service says of advisories, in words.
import type { Advisory, AdvisorySeverity, AdvisorySource, Affected } from '@strata/client';
import type { Tone } from '../../ui/badge.tsx';

/** The gravest first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const satisfies readonly AdvisorySeverity[];

export const PRIORITIES: Readonly<Record<Advisory['priority'], { readonly tone: Tone; readonly meaning: string }>> = {
  act: { tone: 'bad', meaning: 'is exploited, or EPSS is at least 0.5' },
  attend: { tone: 'warn', meaning: 'EPSS is at least 0.1, or critical' },
  track: { tone: 'plain', meaning: 'neither' },
};

export const REASONS: Readonly<Record<Affected['reason'], string>> = {
  in_range: 'the version shown is in the range',
  no_version: 'shows no version',
  no_range: 'no range that its version could be compared with',
  condition: 'affected only together with something that was not seen',
  backport: 'its distribution mends old versions without a new number',
};

export const SOURCE_NAMES: Readonly<Record<string, string>> = {
  kev: 'CISA KEV',
  epss: 'FIRST EPSS',
  nvd: 'NVD',
  osv: 'OSV and GHSA',
  cve: 'CVE Program',
};

export const STATES: Readonly<Record<AdvisorySource['state'], { readonly tone: Tone; readonly name: string }>> = {
  complete: { tone: 'good', name: 'complete' },
  syncing: { tone: 'accent', name: 'reading now' },
  interrupted: { tone: 'warn', name: 'interrupted, goes on' },
  failed: { tone: 'bad', name: 'failed' },
  never: { tone: 'warn', name: 'never read' },
  off: { tone: 'plain', name: 'switched off' },
};

export const RANGE_SOURCES: Readonly<Record<string, string>> = { nvd: 'NVD', cna: 'CNA', ghsa: 'GitHub', osv: 'OSV' };

/** Where an id's own record stands; null for one of neither kind. */
export function recordOf(id: string): { readonly name: string; readonly address: string } | null {
  if (/^CVE-\d{4}-\d{4,}$/.test(id)) return { name: 'cve.org', address: `https://www.cve.org/CVERecord?id=${id}` };
  if (/^GHSA(?:-[0-9a-z]{4}){3}$/.test(id)) return { name: 'GitHub', address: `https://github.com/advisories/${id}` };
  return null;
}
