// An SPF policy as it is read, the hosts that it lets send, and what else the reading uses.
import type { Lookup, MxRecord } from '../evidence/evidence.ts';
import type { SpfProblem } from './problems.ts';

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

export interface SpfSender {
  /** Lower-case target as written; macros stay (`%{i}.spf.example.net`). */
  readonly host: string;
  readonly via: 'include' | 'exists' | 'redirect';
  /**
   * Foreign policies between the domain and the term: 0 was chosen by the domain itself, in its record or in another
   * one under its own name; from 1 on it is a choice of whoever the domain included.
   */
  readonly depth: number;
  /** The name whose record has the term. */
  readonly from: string;
  /** Has macros: what it asks for depends on the sender. */
  readonly isDynamic: boolean;
}
