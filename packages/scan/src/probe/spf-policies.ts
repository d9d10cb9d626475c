// The SPF policies that a domain's policy refers to, fetched within the limits of receivers (RFC 7208 §4.6.4).
import { type Lookup, spfNamesToQuery } from '@strata/detect';
import { type Ask, cutTexts } from '../dns/ask.ts';
import { noRecords } from '../dns/message/answer.ts';

/** Limits the time of a probe with slow servers; receivers limit a check similarly (RFC 7208 §4.6.4). */
const TIMEOUT_MS = 10_000;
const NOT_QUERIED = noRecords<string>('timeout', 'not queried: the previous policies took too long');
const SPF_RECORD = /^v=spf1(?: |$)/i;

/**
 * TXT of each name that the records refer to, level by level. No level begins after `timeoutMs`: its names become `timeout`, so that
 * a name without a query is not taken for a policy without senders.
 */
export async function askSpfPolicies(
  records: readonly string[],
  ask: Ask,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<Readonly<Record<string, Lookup<string>>>> {
  const startedAt = performance.now();
  let policies: Readonly<Record<string, Lookup<string>>> = {};
  for (;;) {
    const names = spfNamesToQuery(records, policies);
    if (names.length === 0) return policies;
    const isLate = performance.now() - startedAt > timeoutMs;
    const lookUp = async (name: string) => (isLate ? NOT_QUERIED : onlySpf(await ask(name, 'TXT')));
    const lookups = await Promise.all(names.map(async (name) => [name, await lookUp(name)] as const));
    policies = { ...policies, ...Object.fromEntries(lookups) };
  }
}

/** Keeps the SPF records only; without one, keeps one other record to show that the answer is not empty. */
function onlySpf(lookup: Lookup<string>): Lookup<string> {
  const policies = lookup.records.filter((record) => SPF_RECORD.test(record));
  return cutTexts({ ...lookup, records: policies.length > 0 ? policies : lookup.records.slice(0, 1) });
}
