// The SPF policies that a domain's policy leads to, asked for as far as receivers would go (RFC 7208 §4.6.4).
import { type Lookup, spfNamesToAsk } from '@strata/detect';
import { type Ask, cutTexts } from '../dns/ask.ts';
import { without } from '../dns/message/answer.ts';

/** A chain of slow servers must not hold a probe; receivers give a check about as long (RFC 7208 §4.6.4). */
const TIMEOUT_MS = 10_000;
const UNASKED = without<string>('timeout', 'not asked: the policies before it took too long');
const SPF_RECORD = /^v=spf1(?: |$)/i;

/**
 * TXT of each name that the records lead to, level by level. No level is begun after `timeoutMs`: its names are told as
 * `timeout`, since what was not asked for must not read as a policy that names nobody.
 */
export async function askSpfPolicies(
  records: readonly string[],
  ask: Ask,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<Readonly<Record<string, Lookup<string>>>> {
  const startedAt = performance.now();
  let policies: Readonly<Record<string, Lookup<string>>> = {};
  for (;;) {
    const names = spfNamesToAsk(records, policies);
    if (names.length === 0) return policies;
    const isLate = performance.now() - startedAt > timeoutMs;
    const lookUp = async (name: string) => (isLate ? UNASKED : onlySpf(await ask(name, 'TXT')));
    const lookups = await Promise.all(names.map(async (name) => [name, await lookUp(name)] as const));
    policies = { ...policies, ...Object.fromEntries(lookups) };
  }
}

/** The name may be a busy one whose other records are nobody's business here; one is kept, since it is not empty. */
function onlySpf(lookup: Lookup<string>): Lookup<string> {
  const policies = lookup.records.filter((record) => SPF_RECORD.test(record));
  return cutTexts({ ...lookup, records: policies.length > 0 ? policies : lookup.records.slice(0, 1) });
}
