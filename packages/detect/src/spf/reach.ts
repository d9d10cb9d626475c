// The names that a probe queries to follow a domain's SPF policy, also used to check whether all of them were queried.
import type { Lookup } from '../evidence/evidence.ts';
import { spfNames } from './policy.ts';
import { parseShared } from './shared-records.ts';

/** Receivers stop at ten look-ups; twice as many names show by how much a policy exceeds the limit. */
const MAX_NAMES = 20;
const MAX_DEPTH = 10;
/** Names that can be queried directly: macros (RFC 7208 §7) depend on the message. */
const PLAIN_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/**
 * Names whose TXT records are still to be queried, given a domain's TXT records and the known answers by name: all missing
 * names of the first level that has any. Empty once the policy is followed to its end or to a limit.
 */
export function spfNamesToQuery(
  txts: readonly string[],
  known: Readonly<Record<string, Lookup<string>>>,
): readonly string[] {
  const remaining = Math.max(0, MAX_NAMES - Object.keys(known).length);
  const visited = new Set<string>();
  let level = plainNames(spfNames(txts));
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    // Names are untrusted: only own keys count.
    const missing = level.filter((name) => !Object.hasOwn(known, name));
    if (missing.length > 0) return missing.slice(0, remaining);
    const fresh = level.filter((name) => !visited.has(name));
    for (const name of fresh) visited.add(name);
    level = plainNames(fresh.flatMap((name) => spfNames(known[name]?.records ?? [], parseShared)));
  }
  return [];
}

function plainNames(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => PLAIN_NAME.test(name));
}
