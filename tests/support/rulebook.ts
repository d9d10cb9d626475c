// The bundled rulebook, and look-ups as a probe leaves them.
import { entries } from '@strata/catalog';
import { compileRulebook, type Evidence, loadCatalog, type Rulebook } from '@strata/detect';

export const rulebook = compileRulebook(loadCatalog(entries));

const without = new Map<string, Rulebook>();
export function rulebookWithout(id: string): Rulebook {
  const remaining = () => entries.filter((entry) => (entry as { id: string }).id !== id);
  const known = without.get(id) ?? compileRulebook(loadCatalog(remaining()));
  without.set(id, known);
  return known;
}

/** What a record does not name was asked for too, with the outcome `remaining`; no probed label exists. */
export function probedDns(
  { dns }: Evidence,
  rules = rulebook,
  remaining: 'empty' | 'timeout' = 'empty',
): Evidence['dns'] {
  const isSkipped = (lookup: object) => 'status' in lookup && lookup.status === 'skipped';
  const asked = Object.entries(dns).map(([name, of]) => [name, isSkipped(of) ? { ...of, status: remaining } : of]);
  const missing = { status: 'nxdomain', records: [], aliases: [] } as const;
  return {
    ...Object.fromEntries(asked),
    named: Object.fromEntries(rules.probeLabels.map((label) => [label, missing])),
  };
}
