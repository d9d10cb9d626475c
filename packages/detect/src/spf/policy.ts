// The evaluation of a domain's SPF policy without a sender: followed through includes and redirects, counted against
// the
// limits of RFC 7208 §4.6.4 as for a sender that matches no term, which is the worst case of a receiver.
import type { Evidence, Lookup } from '../evidence/evidence.ts';
import { parseRecord, type SpfRecord, selectRecords, unreadableRecord } from './record.ts';
import type { SpfAll, SpfPolicy, SpfSurroundings } from './types.ts';
import { NO_END, SpfWalk } from './walk.ts';

/** Names whose TXT records the policies reference, by `include:` and `redirect=`, without those that contain macros. */
export function spfNames(
  txts: readonly string[],
  parse: (record: string) => SpfRecord = parseRecord,
): readonly string[] {
  const names = selectRecords(txts).flatMap((record) => {
    const { mechanisms, redirect } = parse(record);
    const included = mechanisms.flatMap((mechanism) => (mechanism.kind === 'include' ? [mechanism.target] : []));
    const isFinal = mechanisms.some(({ kind }) => kind === 'all');
    return redirect && !isFinal ? [...included, redirect] : included;
  });
  return [...new Set(names.filter((name) => !name.hasMacro).map(({ host }) => host))];
}

/** The policy of a domain by its evidence; records that were not looked up are unknown. */
export function spfOf({ domain, dns, policies }: Evidence): SpfPolicy {
  return readSpf(domain, dns.txt, {
    // Names are untrusted: only own keys count.
    lookup: (name) => (policies && Object.hasOwn(policies.spf, name) ? policies.spf[name] : undefined),
    addresses: [dns.a, dns.aaaa],
    exchanges: dns.mx,
    owner: domain,
  });
}

/** Limit of records of which the hosts are read when there are several, which is an error. */
const MAX_RECORDS = 64;

/** Reads the policy among the TXT records of `domain`. Linear in its records, of which it follows at most 64. */
export function readSpf(domain: string, txt: Lookup<string>, surroundings: SpfSurroundings): SpfPolicy {
  const records = selectRecords(txt.records);
  const [record] = records;
  const walk = new SpfWalk(domain, surroundings);
  if (record === undefined) {
    const unreadable = unreadableRecord(txt.records);
    if (unreadable !== null) walk.report('unreadable-record', domain, unreadable);
    return walk.policy(null, null, NO_END);
  }
  if (records.length > 1) {
    walk.report('several-records', domain, '');
    // The hosts that they name are still reported.
    for (const each of records.slice(0, MAX_RECORDS)) walk.nameSenders(domain, parseRecord(each), 0);
    return walk.policy(record, ownAll(parseRecord(record)), NO_END);
  }
  const parsed = parseRecord(record);
  const end = walk.visit(domain, parsed, {
    depth: 0,
    path: { name: domain, from: null },
    isPassing: true,
    isFinal: true,
  });
  return walk.policy(record, ownAll(parsed), end);
}

function ownAll({ mechanisms }: SpfRecord): SpfAll | null {
  const all = mechanisms.find(({ kind }) => kind === 'all');
  return all ? `${all.qualifier}all` : null;
}
