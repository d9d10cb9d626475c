// Scans written straight into a store: evidence made from a few records, detected by the bundled rulebook.
import { detect, type Evidence, evidenceFromRecord, type Rulebook } from '@strata/detect';
import { probedDns, rulebook } from '../../../../tests/support/rulebook.ts';
import type { RecordedScan, Store } from '../store/index.ts';

export const HOUR_MS = 3_600_000;

/** `unnamed` is the status of the look-ups that the record does not name; those of `failed` timed out, whatever the record contains. */
export function evidenceAt(
  record: Parameters<typeof evidenceFromRecord>[0],
  at: number,
  { unnamed = 'empty', failed = [] }: { unnamed?: 'empty' | 'timeout'; failed?: readonly string[] } = {},
): Evidence {
  const base = evidenceFromRecord(record);
  const timeouts = failed.map((name) => [name, { status: 'timeout', records: [], aliases: [] }]);
  const dns: Evidence['dns'] = { ...probedDns(base, rulebook, unnamed), ...Object.fromEntries(timeouts) };
  return { ...base, observedAt: new Date(at).toISOString(), dns };
}

/** Changes are confirmed by a scan at least six hours later. */
export async function recordScan(store: Store, evidence: Evidence, rules: Rulebook = rulebook): Promise<RecordedScan> {
  const time = new Date(evidence.observedAt);
  const [result] = await store.recordScans(
    [{ profile: detect(evidence, rules), evidence, startedAt: time, finishedAt: time }],
    { confirmAfterMs: 6 * HOUR_MS, redetect: (old) => detect(old, rules) },
  );
  if (result?.status !== 'fulfilled') throw result?.reason;
  return result.value;
}
