// Measurement of a policy record under a name of its own, for all standards that publish one.
import type { Lookup } from '../evidence/evidence.ts';
import { measurementOf } from '../judge/measure.ts';
import type { Measurement, RecordProblem } from './posture-type.ts';

/** Records are read up to this length; real records of these standards are far shorter. */
const MAX_RECORD_LENGTH = 2048;

/** A policy is published by exactly one record of its version; several count as none (RFC 8461 §3.1, RFC 8460 §3). */
export function onlyRecordOf({ records }: Lookup<string>, version: string): string | null {
  if (records.length === 0) return null;
  const [record, ...rest] = records.filter((each) => isVersion(each, version));
  return record === undefined || rest.length > 0 ? null : record.slice(0, MAX_RECORD_LENGTH);
}

/** Values of a record's tags by lower-case name, without the version; undefined if a tag occurs twice: no value counts. */
export function tagsOf(record: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>();
  for (const tag of record.split(';').slice(1)) {
    const [, name = '', value = ''] = /^\s*([a-z]+)\s*=(.*)$/is.exec(tag) ?? [];
    if (tags.has(name.toLowerCase())) return undefined;
    if (name !== '') tags.set(name.toLowerCase(), value.trim());
  }
  return tags;
}

/** Why `onlyRecordOf` returns null; null if no record under the name was meant as a policy. */
export function recordProblemOf({ records }: Lookup<string>, version: string): RecordProblem | null {
  if (records.length === 0) return null;
  if (records.filter((each) => isVersion(each, version)).length > 1) return 'several-records';
  return records.some((each) => isMeant(each, version)) ? 'unreadable-record' : null;
}

/** Begins with the version in any case, after a space or a quote, and not with a longer word. */
function isMeant(record: string, version: string): boolean {
  const start = record.slice(0, version.length + 8).replace(/^["'\s]+/, '');
  const isSame = start.slice(0, version.length).toLowerCase() === version.toLowerCase();
  return isSame && !/^[a-z0-9]/i.test(start.slice(version.length));
}

function isVersion(record: string, version: string): boolean {
  const rest = record.slice(version.length, version.length + 16).trimStart();
  return record.startsWith(version) && (rest === '' || rest.startsWith(';'));
}

/** Other records under the name are not the policy: a measured look-up without it is `absent`. */
export function statusOf(lookup: Lookup<string>, hasRecord: boolean): Measurement {
  const status = measurementOf(lookup.status);
  return status === 'observed' && !hasRecord ? 'absent' : status;
}

/** Null if it was not measured. */
export function asClaim(status: Measurement): boolean | null {
  return status === 'unmeasured' ? null : status === 'observed';
}
