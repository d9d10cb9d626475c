// The SPF policies that a domain's policy leads to, asked for as far as receivers would go (RFC 7208 §4.6.4).
import { type Lookup, parseSpf } from '@strata/detect';
import type { Ask } from './ask.ts';
import { cutTexts } from './texts.ts';

/** Receivers stop at ten look-ups; twice as many names are enough to see by how much a policy is too long. */
const MAX_NAMES = 20;
const MAX_DEPTH = 10;
/** A chain of slow servers must not hold a probe; receivers give a check about as long (RFC 7208 §4.6.4). */
const PATIENCE_MS = 10_000;
/** Names that can be asked for as they stand: macros (RFC 7208 §7) depend on the mail at hand. */
const PLAIN_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;
const SPF_RECORD = /^v=spf1(?: |$)/i;

/**
 * TXT of each name that the records lead to, level by level; a name that leads back to itself is asked for once. No
 * level is begun after `patienceMs`.
 */
export async function askSpfPolicies(
  records: readonly string[],
  ask: Ask,
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): Promise<Readonly<Record<string, Lookup<string>>>> {
  const policies = new Map<string, Lookup<string>>();
  const startedAt = performance.now();
  let targets = targetsOf(records);
  for (let depth = 0; depth < MAX_DEPTH && targets.length > 0; depth++) {
    if (performance.now() - startedAt > patienceMs) break;
    const names = targets.filter((name) => !policies.has(name)).slice(0, MAX_NAMES - policies.size);
    const lookups = await Promise.all(names.map(async (name) => [name, onlySpf(await ask(name, 'TXT'))] as const));
    for (const [name, lookup] of lookups) policies.set(name, lookup);
    targets = targetsOf(...lookups.map(([, lookup]) => lookup.records));
  }
  return Object.fromEntries(policies);
}

function targetsOf(...policies: readonly (readonly string[])[]): string[] {
  const targets = policies.flatMap((records) => parseSpf(records).targets);
  return [...new Set(targets.filter((target) => PLAIN_NAME.test(target)))];
}

/** The name may be a busy one whose other records are nobody's business here; one is kept, since it is not empty. */
function onlySpf(lookup: Lookup<string>): Lookup<string> {
  const policies = lookup.records.filter((record) => SPF_RECORD.test(record));
  return cutTexts({ ...lookup, records: policies.length > 0 ? policies : lookup.records.slice(0, 1) });
}
