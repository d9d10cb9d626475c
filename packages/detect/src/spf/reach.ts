// How far a domain's SPF policy is followed, name by name: for those who ask for the names, and for those who have to
// know whether all of them were asked for.
import type { Lookup } from '../evidence/evidence.ts';
import { spfNames } from './policy.ts';
import { parseShared } from './shared-records.ts';

/** Receivers stop at ten look-ups; twice as many names are enough to see by how much a policy is too long. */
const MAX_NAMES = 20;
const MAX_DEPTH = 10;
/** Names that can be asked for as they stand: macros (RFC 7208 §7) depend on the mail at hand. */
const PLAIN_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/**
 * Names whose TXT is still to be asked for, given a domain's TXT records and what is known by name: all that are missing
 * on the first level where any is. None once the policy was followed to its end, or as far as it is worth it.
 */
export function spfNamesToAsk(
  txts: readonly string[],
  known: Readonly<Record<string, Lookup<string>>>,
): readonly string[] {
  const room = Math.max(0, MAX_NAMES - Object.keys(known).length);
  const seen = new Set<string>();
  let level = plainNames(spfNames(txts));
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    // Names come from strangers: only own keys count, whatever they are called.
    const missing = level.filter((name) => !Object.hasOwn(known, name));
    if (missing.length > 0) return missing.slice(0, room);
    const fresh = level.filter((name) => !seen.has(name));
    for (const name of fresh) seen.add(name);
    level = plainNames(fresh.flatMap((name) => spfNames(known[name]?.records ?? [], parseShared)));
  }
  return [];
}

function plainNames(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => PLAIN_NAME.test(name));
}
