// What a domain's SPF policy comes to without a sender: followed through includes and redirects, counted against the
// limits of RFC 7208 §4.6.4 as for a sender that nothing matches, since that is how far a receiver may have to go.
import type { Evidence, Lookup, MxRecord } from '../evidence.ts';
import type { SpfProblem } from './problems.ts';
import { parseRecord, type SpfRecord, selectRecords, unreadableRecord } from './record.ts';
import type { SpfSender } from './senders.ts';
import { NO_END, SpfWalk } from './walk.ts';

export type SpfAll = '-all' | '~all' | '?all' | '+all';

export interface SpfPolicy {
  /** `permerror`: a receiver that has to read all of it ends in a permanent error. */
  readonly result: 'valid' | 'none' | 'permerror';
  /** Whether the policy works as a whole; `unknown` where a record that it leads to could not be looked up. */
  readonly evaluation: 'valid' | 'invalid' | 'unknown' | 'none';
  /** The record; the first one where several make a permanent error. */
  readonly record: string | null;
  /** The record's own `all`. */
  readonly all: SpfAll | null;
  /** The one in force, through redirects; null where there is none or its record was not had. */
  readonly effectiveAll: SpfAll | null;
  /** `redirect=` leads to a record that was not had, so the policy's end is not known. */
  readonly isRedirected: boolean;
  /** Uses `ptr` itself, which RFC 7208 §5.5 says not to publish. */
  readonly usesPtr: boolean;
  /** A `+all` or a network of everybody in force, also of an include: anybody may send. */
  readonly isOpen: boolean;
  /** Some term that passes was met: the policy does not refuse everybody. */
  readonly isPermitting: boolean;
  /** Terms that cause look-ups, §4.6.4; more than 64 are not counted. */
  readonly lookups: number;
  /** Terms seen to have no answer; those of foreign `a`, `mx` and `exists` are not looked up. */
  readonly voids: number;
  /** IPv4 addresses that `ip4` terms let send. */
  readonly authorizedIpv4: number;
  /** Terms with macros depend on the sender and are not resolved. */
  readonly isDynamic: boolean;
  readonly problems: readonly SpfProblem[];
  readonly senders: readonly SpfSender[];
}

/** What else is known: TXT of the names that the policy leads to, and the domain's own hosts. */
export interface SpfSurroundings {
  readonly lookup: (name: string) => Lookup<string> | undefined;
  readonly addresses?: readonly Lookup<string>[];
  readonly exchanges?: Lookup<MxRecord>;
  /** The registrable domain of the domain, where it is known. */
  readonly owner?: string;
}

/** Names whose TXT records the policies lead to, by `include:` and `redirect=`; those with macros depend on the sender. */
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

/** The policy of a domain by its evidence; what was not looked up stays open. */
export function spfOf({ domain, dns, policies }: Evidence): SpfPolicy {
  return readSpf(domain, dns.txt, {
    // Names come from strangers: only own keys count, whatever they are called.
    lookup: (name) => (policies && Object.hasOwn(policies.spf, name) ? policies.spf[name] : undefined),
    addresses: [dns.a, dns.aaaa],
    exchanges: dns.mx,
    owner: domain,
  });
}

/** Of several records, which are an error, this many are read for the hosts that they name. */
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
    // What they name is still worth knowing.
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
