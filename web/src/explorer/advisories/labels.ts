// Labels for the enumerated values of advisories.
import type { Advisory, AdvisorySeverity, AdvisorySource, Affected } from '@strata/client';
import type { Tone } from '../../ui/badge.tsx';

/** Most severe first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const satisfies readonly AdvisorySeverity[];

export const PRIORITIES: Readonly<Record<Advisory['priority'], { readonly tone: Tone; readonly meaning: string }>> = {
  act: { tone: 'bad', meaning: 'exploited, or EPSS of at least 0.5' },
  attend: { tone: 'warn', meaning: 'EPSS of at least 0.1, or critical severity' },
  track: { tone: 'plain', meaning: 'lower risk' },
};

export const REASONS: Readonly<Record<Affected['reason'], string>> = {
  in_range: 'version in affected range',
  no_version: 'version not observed',
  no_range: 'no comparable version range',
  condition: 'depends on the configuration or another product',
  backport: 'may be patched by the distribution (backport)',
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
  syncing: { tone: 'accent', name: 'synchronizing' },
  interrupted: { tone: 'warn', name: 'interrupted, will resume' },
  failed: { tone: 'bad', name: 'failed' },
  never: { tone: 'warn', name: 'never synchronized' },
  off: { tone: 'plain', name: 'disabled' },
};

export const RANGE_SOURCES: Readonly<Record<string, string>> = { nvd: 'NVD', cna: 'CNA', ghsa: 'GitHub', osv: 'OSV' };

/** The public record of a CVE or GHSA id; null for other ids. */
export function recordOf(id: string): { readonly name: string; readonly url: string } | null {
  if (/^CVE-\d{4}-\d{4,}$/.test(id)) return { name: 'cve.org', url: `https://www.cve.org/CVERecord?id=${id}` };
  if (/^GHSA(?:-[0-9a-z]{4}){3}$/.test(id)) return { name: 'GitHub', url: `https://github.com/advisories/${id}` };
  return null;
}
