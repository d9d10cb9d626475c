// The types of an SPF policy, of the hosts that it authorises, and of the data that its evaluation uses.
import type { Lookup, MxRecord } from '../evidence/evidence.ts';
import type { SpfProblem } from './problems.ts';

export type SpfAll = '-all' | '~all' | '?all' | '+all';

export interface SpfPolicy {
  /** `permerror`: a receiver that evaluates all of it ends in a permanent error. */
  readonly result: 'valid' | 'none' | 'permerror';
  /** Whether the complete policy works; `unknown` if a record that it references could not be looked up. */
  readonly evaluation: 'valid' | 'invalid' | 'unknown' | 'none';
  /** The record; the first one if several make a permanent error. */
  readonly record: string | null;
  /** The record's own `all`. */
  readonly all: SpfAll | null;
  /** The `all` in force, through redirects; null without one, or if its record was not available. */
  readonly effectiveAll: SpfAll | null;
  /** `redirect=` references a record that was not available, so the end of the policy is unknown. */
  readonly isRedirected: boolean;
  /** Uses `ptr` itself, which RFC 7208 §5.5 says not to publish. */
  readonly usesPtr: boolean;
  /** A `+all` or an all-encompassing network in force, also of an include: anyone may send. */
  readonly isOpen: boolean;
  /** At least one term with a pass: the policy does not refuse all senders. */
  readonly isPermitting: boolean;
  /** Terms that cause look-ups, §4.6.4; more than 64 are not counted. */
  readonly lookups: number;
  /** Terms known to have no answer; those of foreign `a`, `mx` and `exists` are not looked up. */
  readonly voids: number;
  /** IPv4 addresses that `ip4` terms authorise. */
  readonly authorizedIpv4: number;
  /** Has terms with macros, which depend on the sender and are not resolved. */
  readonly isDynamic: boolean;
  readonly problems: readonly SpfProblem[];
  readonly senders: readonly SpfSender[];
}

/** Other available data: TXT of the names that the policy references, and the domain's own hosts. */
export interface SpfSurroundings {
  readonly lookup: (name: string) => Lookup<string> | undefined;
  readonly addresses?: readonly Lookup<string>[];
  readonly exchanges?: Lookup<MxRecord>;
  /** The registrable domain of the domain, if known. */
  readonly owner?: string;
}

export interface SpfSender {
  /** Lower-case target as written; macros are kept (`%{i}.spf.example.net`). */
  readonly host: string;
  readonly via: 'include' | 'exists' | 'a' | 'mx' | 'redirect';
  /**
   * Foreign policies between the domain and the term. 0: chosen by the domain itself, in its record or another one under its
   * own name. From 1 on: chosen by a domain that it includes.
   */
  readonly depth: number;
  /** The name whose record has the term. */
  readonly from: string;
  /** Has macros: the queried name depends on the sender. */
  readonly isDynamic: boolean;
}
