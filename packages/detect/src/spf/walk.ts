// The way through an SPF policy and the records that it leads to, as far as a sender goes that nothing matches
// (RFC 7208 §4.6.4, §5.2, §6.1).
import { isMeasured, type Lookup } from '../evidence.ts';
import { isWithin, registrableDomain } from '../names.ts';
import { cutText } from '../text.ts';
import { MAX_HOSTS, MAX_LOOKUPS, MAX_VOIDS } from './check-host.ts';
import { hasMacro } from './macro.ts';
import type { SpfAll, SpfPolicy, SpfSurroundings } from './policy.ts';
import { isSpfError, type SpfProblem, type SpfProblemCode } from './problems.ts';
import { countAddresses, type Range, rangeOf } from './ranges.ts';
import { type Mechanism, type SpfRecord, selectRecords } from './record.ts';
import type { SpfSender } from './senders.ts';
import { parseShared } from './shared-records.ts';

/** Far beyond any policy that can be evaluated; bounds the work for endless includes. */
const MAX_COUNTED = 64;
const MAX_PROBLEMS = 16;
const MAX_SENDERS = 64;
const MAX_RANGES = 4096;
const MAX_TERM = 128;
/** Shorter prefixes than these, named by the domain itself, let whole providers in (docs/posture.md). */
const WIDE = { 4: 16, 6: 32 } as const;
/** Up to these prefixes a term lets in more than any registry gives one holder: as good as everybody. */
const EVERYBODY = { 4: 8, 6: 16 } as const;

/** How a record ends: with an `all`, or with a redirect that leads nowhere known. */
export interface End {
  readonly all: SpfAll | null;
  readonly isRedirected: boolean;
}

interface Step {
  /** Foreign policies between the domain and this record. */
  readonly depth: number;
  readonly path: readonly string[];
  /** A match here lets the sender in: no include on the way has another qualifier. */
  readonly isPassing: boolean;
  /** The policy ends as this record does: it is the domain's own, or its redirect led here. */
  readonly isFinal: boolean;
}

/** No `all` and no redirect: neutral (§4.7). */
export const NO_END: End = { all: null, isRedirected: false };

/** One reading of a policy: follows it record by record, and notes what it meets. */
export class SpfWalk {
  readonly #domain: string;
  /** Names below it are the domain's own. */
  readonly #owner: string;
  readonly #surroundings: SpfSurroundings;
  /** Errors and remarks apart, so that remarks without end leave room for what decides. */
  readonly #errors: SpfProblem[] = [];
  readonly #remarks: SpfProblem[] = [];
  readonly #senders = new Map<string, SpfSender>();
  readonly #ranges: Range[] = [];
  #lookups = 0;
  #voids = 0;
  #isBroken = false;
  #isComplete = true;
  #isOpen = false;
  #isPermitting = false;
  #isDynamic = false;
  #usesPtr = false;

  constructor(domain: string, surroundings: SpfSurroundings) {
    this.#domain = domain;
    this.#owner = registrableDomain(domain) ?? domain;
    this.#surroundings = surroundings;
  }

  visit(name: string, record: SpfRecord, step: Step): End {
    for (const error of record.errors) this.report('syntax', name, error);
    for (const modifier of record.unknownModifiers) this.report('unknown-modifier', name, modifier);
    this.nameSenders(name, record, step.depth);
    for (const [i, mechanism] of record.mechanisms.entries()) {
      if (mechanism.kind === 'all') {
        const isLast = i === record.mechanisms.length - 1;
        if (!isLast) this.report('unreachable-terms', name, record.mechanisms[i + 1]?.text ?? '');
        if (record.redirect) this.report('redirect-ignored', name, `redirect=${record.redirect.text}`);
        if (step.isPassing && mechanism.qualifier === '+') this.#open();
        return { all: `${mechanism.qualifier}all`, isRedirected: false };
      }
      this.#weigh(name, mechanism, step);
    }
    if (record.redirect) return this.#redirect(name, record.redirect.text, step);
    if (step.isFinal) this.report('no-all', name, '');
    return NO_END;
  }

  /** Hosts that a record lets send, whether or not they can be looked into: no term after `all`, none that refuses. */
  nameSenders(name: string, { mechanisms, redirect }: SpfRecord, depth: number): void {
    for (const mechanism of mechanisms) {
      if (mechanism.kind === 'all') return;
      const isNaming = mechanism.kind === 'include' || mechanism.kind === 'exists';
      if (isNaming && mechanism.qualifier !== '-') this.#addSender(name, mechanism.target.text, mechanism.kind, depth);
    }
    if (redirect) this.#addSender(name, redirect.text, 'redirect', depth);
  }

  report(code: SpfProblemCode, at: string, term: string): void {
    const isError = isSpfError(code);
    if (isError) this.#isBroken = true;
    const problems = isError ? this.#errors : this.#remarks;
    if (problems.length >= MAX_PROBLEMS) return;
    const told = { code, at: cutText(at, 253), term: cutText(term, MAX_TERM) };
    if (!problems.some((known) => known.code === code && known.at === told.at && known.term === told.term))
      problems.push(told);
  }

  policy(record: string | null, all: SpfAll | null, end: End): SpfPolicy {
    const senders = [...this.#senders.values()];
    const result = record === null ? 'none' : this.#isBroken ? 'permerror' : 'valid';
    return {
      result,
      evaluation:
        result === 'valid' ? (this.#isComplete ? 'valid' : 'unknown') : result === 'none' ? 'none' : 'invalid',
      record,
      all,
      effectiveAll: end.all,
      isRedirected: end.isRedirected,
      usesPtr: this.#usesPtr,
      isOpen: this.#isOpen,
      isPermitting: this.#isPermitting,
      lookups: this.#lookups,
      voids: this.#voids,
      authorizedIpv4: countAddresses(this.#ranges),
      isDynamic: this.#isDynamic,
      problems: [...this.#errors, ...this.#remarks].slice(0, MAX_PROBLEMS),
      senders,
      targets: senders.filter(({ depth }) => depth === 0).map(({ host }) => host),
    };
  }

  #weigh(name: string, mechanism: Exclude<Mechanism, { readonly kind: 'all' }>, step: Step): void {
    const isOwn = step.depth === 0;
    const isPassing = step.isPassing && mechanism.qualifier === '+';
    if (isPassing && mechanism.kind !== 'include') this.#isPermitting = true;
    if (isPassing && isOfEverybody(mechanism)) this.#open();
    if ('network' in mechanism) {
      const { network } = mechanism;
      if (isOwn && network.bits < WIDE[network.version]) this.report('wide-range', name, mechanism.text);
      if (isPassing && mechanism.kind === 'ip4' && this.#ranges.length < MAX_RANGES)
        this.#ranges.push(rangeOf(network));
      return;
    }
    if (!this.#count(name, mechanism.text)) return;
    if (mechanism.target && hasMacro(mechanism.target.text)) {
      this.#isDynamic = true;
      return;
    }
    switch (mechanism.kind) {
      case 'ptr':
        if (isOwn) {
          this.#usesPtr = true;
          this.report('ptr', name, mechanism.text);
        }
        break;
      case 'a':
      case 'mx':
        if (isOwn && (mechanism.bits4 < WIDE[4] || mechanism.bits6 < WIDE[6]))
          this.report('wide-range', name, mechanism.text);
        this.#weighHosts(name, mechanism);
        break;
      case 'exists':
        break;
      case 'include':
        this.#follow(
          { name, term: mechanism.text, target: mechanism.target.text, kind: 'include' },
          { ...step, isPassing, isFinal: false },
        );
        break;
      default:
        mechanism satisfies never;
    }
  }

  /** Only the domain's own hosts were looked up. */
  #weighHosts(name: string, { kind, target, text }: Extract<Mechanism, { readonly kind: 'a' | 'mx' }>): void {
    if (hostOf(target?.text ?? name) !== this.#domain) return;
    const { addresses, exchanges } = this.#surroundings;
    const known = kind === 'a' ? addresses : exchanges && [exchanges];
    if (known?.length && known.every(isVoid)) this.#countVoid(name, text);
    if (kind === 'mx' && exchanges && exchanges.records.length > MAX_HOSTS)
      this.report('too-many-exchanges', name, text);
  }

  #redirect(name: string, text: string, step: Step): End {
    const term = `redirect=${text}`;
    if (!this.#count(name, term)) return { all: null, isRedirected: true };
    if (hasMacro(text)) {
      this.#isDynamic = true;
      return { all: null, isRedirected: true };
    }
    return this.#follow({ name, term, target: text, kind: 'redirect' }, step);
  }

  /** Reads the policy that a term leads to, and says how it ends. */
  #follow(
    { name, term, target, kind }: { name: string; term: string; target: string; kind: 'include' | 'redirect' },
    step: Step,
  ): End {
    const host = hostOf(target);
    const unknown: End = { all: null, isRedirected: true };
    if (step.path.includes(host)) {
      // Nothing on the way round ends the evaluation, so the look-ups run out.
      this.report('loop', name, term);
      return unknown;
    }
    const answer = this.#surroundings.lookup(host);
    if (!answer || !isMeasured(answer.status)) {
      this.#isComplete = false;
      return unknown;
    }
    if (isVoid(answer)) this.#countVoid(name, term);
    const [record, ...others] = selectRecords(answer.records);
    if (record === undefined) {
      this.report(`${kind}-without-policy`, name, term);
      return NO_END;
    }
    if (others.length > 0) this.report('several-records', host, '');
    const depth = step.depth + (isWithin(host, this.#owner) ? 0 : 1);
    return this.visit(host, parseShared(record), { ...step, depth, path: [...step.path, host] });
  }

  /** Whether the term may still be followed: counted on for a while past the limit, so as to say by how much it is over. */
  #count(name: string, term: string): boolean {
    if (this.#lookups >= MAX_COUNTED) return false;
    this.#lookups++;
    if (this.#lookups === MAX_LOOKUPS + 1) this.report('too-many-lookups', name, term);
    return true;
  }

  #countVoid(name: string, term: string): void {
    this.#voids++;
    this.report(this.#voids > MAX_VOIDS ? 'too-many-voids' : 'void', name, term);
  }

  #open(): void {
    this.#isOpen = true;
    this.#isPermitting = true;
  }

  #addSender(from: string, text: string, via: SpfSender['via'], depth: number): void {
    const host = hostOf(text);
    const known = this.#senders.get(host);
    if (known ? known.depth <= depth : this.#senders.size >= MAX_SENDERS) return;
    this.#senders.set(host, { host: cutText(host, 253), via, depth, from, isDynamic: hasMacro(host) });
  }
}

/** Networks of `ip4` are counted together instead. */
function isOfEverybody(mechanism: Mechanism): boolean {
  if (mechanism.kind === 'ip6') return mechanism.network.bits <= EVERYBODY[6];
  if (mechanism.kind !== 'a' && mechanism.kind !== 'mx') return false;
  return mechanism.bits4 <= EVERYBODY[4] || mechanism.bits6 <= EVERYBODY[6];
}

function isVoid({ status, records }: Lookup<unknown>): boolean {
  return isMeasured(status) && records.length === 0;
}

/** The name that a domain-spec without macros asks for. */
export function hostOf(text: string): string {
  const host = text.toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
