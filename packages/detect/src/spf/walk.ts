// Follows an SPF policy through the records that it references, as for a sender that matches no term
// (RFC 7208 §4.6.4, §5.2, §6.1).
import { isMeasured, type Lookup } from '../evidence/evidence.ts';
import { cutText } from '../evidence/text.ts';
import { isWithin, registrableDomain } from '../names/names.ts';
import { countAddresses, type Range } from './networks.ts';
import { isSpfError, type SpfProblem, type SpfProblemCode } from './problems.ts';
import { type DomainSpec, type Mechanism, type SpfRecord, selectRecords } from './record.ts';
import { parseShared } from './shared-records.ts';
import type { SpfAll, SpfPolicy, SpfSender, SpfSurroundings } from './types.ts';

/** RFC 7208 §4.6.4: terms that cause look-ups, void look-ups, and exchanges of one `mx` term. */
const MAX_LOOKUPS = 10;
const MAX_VOIDS = 2;
const MAX_EXCHANGES = 10;

/** Far more than any policy that can be evaluated; bounds the work for endless includes. */
const MAX_COUNTED = 64;
const MAX_PROBLEMS = 16;
const MAX_SENDERS = 64;
const MAX_RANGES = 4096;
const MAX_TERM = 128;
const MAX_HOST = 253;
/** Shorter prefixes than these, named by the domain itself, authorise entire providers (docs/posture.md). */
const WIDE = { 4: 16, 6: 32 } as const;
/** Up to these prefix lengths a term covers more than any registry assigns to one holder: as good as everyone. */
const EVERYONE = { 4: 8, 6: 16 } as const;

/** How a record ends: with an `all`, or with a redirect to an unknown policy. */
export interface End {
  readonly all: SpfAll | null;
  readonly isRedirected: boolean;
}

interface Step {
  /** Foreign policies between the domain and this record. */
  readonly depth: number;
  /** The names that lead to this record, the nearest first. */
  readonly path: Path;
  /** A match here passes the sender: every include that leads here has the qualifier `+`. */
  readonly isPassing: boolean;
  /** The policy ends as this record does: it is the domain's own, or its redirect target. */
  readonly isFinal: boolean;
}

interface Path {
  readonly name: string;
  readonly from: Path | null;
}

/** No `all` and no redirect: neutral (§4.7). */
export const NO_END: End = { all: null, isRedirected: false };
const UNKNOWN_END: End = { all: null, isRedirected: true };

/** One evaluation of a policy: follows it record by record, and collects its problems and senders. */
export class SpfWalk {
  readonly #domain: string;
  /** Names below it are the domain's own. */
  #owner: string | undefined;
  readonly #surroundings: SpfSurroundings;
  /** Errors and remarks are limited separately, so that many remarks do not displace errors. */
  readonly #errors: SpfProblem[] = [];
  readonly #remarks: SpfProblem[] = [];
  readonly #senders: SpfSender[] = [];
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
    this.#surroundings = surroundings;
    this.#owner = surroundings.owner;
  }

  visit(name: string, record: SpfRecord, step: Step): End {
    for (const error of record.errors) this.report('syntax', name, error);
    for (const modifier of record.unknownModifiers) this.report('unknown-modifier', name, modifier);
    this.nameSenders(name, record, step.depth);
    for (const mechanism of record.mechanisms) {
      if (mechanism.kind === 'all') {
        const next = record.mechanisms[record.mechanisms.indexOf(mechanism) + 1];
        if (next) this.report('unreachable-terms', name, next.text);
        if (record.redirect) this.report('redirect-ignored', name, `redirect=${record.redirect.text}`);
        if (step.isPassing && mechanism.qualifier === '+') this.#open();
        return { all: `${mechanism.qualifier}all`, isRedirected: false };
      }
      this.#weigh(name, mechanism, step);
    }
    if (record.redirect) return this.#redirect(name, record.redirect, step);
    if (step.isFinal) this.report('no-all', name, '');
    return NO_END;
  }

  /** Hosts that a record authorises, whether or not they can be looked up: no term after `all`, none with `-`. */
  nameSenders(name: string, { mechanisms, redirect }: SpfRecord, depth: number): void {
    for (const mechanism of mechanisms) {
      if (mechanism.kind === 'all') return;
      const { kind, qualifier } = mechanism;
      if (kind === 'ip4' || kind === 'ip6' || kind === 'ptr' || qualifier === '-') continue;
      const { target } = mechanism;
      const isHost = kind === 'a' || kind === 'mx';
      if (target && !(isHost && this.#isOwn(target.host))) this.#addSender(name, target, kind, depth);
    }
    if (redirect) this.#addSender(name, redirect, 'redirect', depth);
  }

  report(code: SpfProblemCode, at: string, term: string): void {
    const isError = isSpfError(code);
    if (isError) this.#isBroken = true;
    const problems = isError ? this.#errors : this.#remarks;
    if (problems.length >= MAX_PROBLEMS) return;
    const problem = { code, at: cutText(at, MAX_HOST), term: cutText(term, MAX_TERM) };
    if (!problems.some((known) => known.code === code && known.at === problem.at && known.term === problem.term))
      problems.push(problem);
  }

  policy(record: string | null, all: SpfAll | null, end: End): SpfPolicy {
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
      problems: this.#problems(),
      senders: this.#senders,
    };
  }

  #problems(): readonly SpfProblem[] {
    if (this.#errors.length === 0) return this.#remarks;
    return [...this.#errors, ...this.#remarks].slice(0, MAX_PROBLEMS);
  }

  #weigh(name: string, mechanism: Exclude<Mechanism, { readonly kind: 'all' }>, step: Step): void {
    const isOwn = step.depth === 0;
    const isPassing = step.isPassing && mechanism.qualifier === '+';
    if (isPassing && mechanism.kind !== 'include') this.#isPermitting = true;
    if (isPassing && coversEveryone(mechanism)) this.#open();
    if (mechanism.kind === 'ip4' || mechanism.kind === 'ip6') {
      if (isOwn && mechanism.bits < WIDE[mechanism.kind === 'ip4' ? 4 : 6])
        this.report('wide-range', name, mechanism.text);
      if (isPassing && mechanism.kind === 'ip4' && this.#ranges.length < MAX_RANGES) this.#ranges.push(mechanism.range);
      return;
    }
    if (!this.#count(name, mechanism.text)) return;
    if (mechanism.target?.hasMacro) {
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
        this.#follow({ name, term: mechanism.text, host: mechanism.target.host, kind: 'include' }, step, isPassing);
        break;
      default:
        mechanism satisfies never;
    }
  }

  /** Only the domain's own hosts were looked up. */
  #weighHosts(name: string, { kind, target, text }: Extract<Mechanism, { readonly kind: 'a' | 'mx' }>): void {
    if ((target?.host ?? name) !== this.#domain) return;
    const { addresses, exchanges } = this.#surroundings;
    const known = kind === 'a' ? addresses : exchanges && [exchanges];
    if (known?.length && known.every(isVoid)) this.#countVoid(name, text);
    if (kind === 'mx' && exchanges && exchanges.records.length > MAX_EXCHANGES)
      this.report('too-many-exchanges', name, text);
  }

  #redirect(name: string, { text, host, hasMacro }: DomainSpec, step: Step): End {
    const term = `redirect=${text}`;
    if (!this.#count(name, term)) return UNKNOWN_END;
    if (hasMacro) {
      this.#isDynamic = true;
      return UNKNOWN_END;
    }
    return this.#follow({ name, term, host, kind: 'redirect' }, step, step.isPassing);
  }

  /** Evaluates the policy that a term references, and returns how it ends. */
  #follow(
    { name, term, host, kind }: { name: string; term: string; host: string; kind: 'include' | 'redirect' },
    step: Step,
    isPassing: boolean,
  ): End {
    if (isOn(step.path, host)) {
      // Nothing in the loop ends the evaluation, so the look-ups run out.
      this.report('loop', name, term);
      return UNKNOWN_END;
    }
    const answer = this.#surroundings.lookup(host);
    if (!answer || !isMeasured(answer.status)) {
      this.#isComplete = false;
      return UNKNOWN_END;
    }
    if (answer.records.length === 0) this.#countVoid(name, term);
    const records = selectRecords(answer.records);
    const [record] = records;
    if (record === undefined) {
      this.report(`${kind}-without-policy`, name, term);
      return NO_END;
    }
    if (records.length > 1) this.report('several-records', host, '');
    return this.visit(host, parseShared(record), {
      // RFC 7208 §6.1: the record of a redirect is the domain's own policy.
      depth: step.depth + (kind === 'redirect' || this.#isOwn(host) ? 0 : 1),
      path: { name: host, from: step.path },
      isPassing,
      isFinal: step.isFinal && kind === 'redirect',
    });
  }

  #isOwn(host: string): boolean {
    if (isWithin(host, this.#domain)) return true;
    this.#owner ??= registrableDomain(this.#domain) ?? this.#domain;
    return isWithin(host, this.#owner);
  }

  /**
   * Whether the term may still be followed. Counting continues past the limit, to report by how much it is exceeded.
   */
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

  #addSender(from: string, { host, hasMacro }: DomainSpec, via: SpfSender['via'], depth: number): void {
    const shown = host.length > MAX_HOST ? host.slice(0, MAX_HOST) : host;
    const known = this.#senders.findIndex((sender) => sender.host === shown);
    if (known === -1 ? this.#senders.length >= MAX_SENDERS : (this.#senders[known]?.depth ?? 0) <= depth) return;
    this.#senders[known === -1 ? this.#senders.length : known] = { host: shown, via, depth, from, isDynamic: hasMacro };
  }
}

function isOn(path: Path | null, name: string): boolean {
  for (let at = path; at; at = at.from) if (at.name === name) return true;
  return false;
}

/** `ip4` networks are counted together instead. */
function coversEveryone(mechanism: Mechanism): boolean {
  if (mechanism.kind === 'ip6') return mechanism.bits <= EVERYONE[6];
  if (mechanism.kind !== 'a' && mechanism.kind !== 'mx') return false;
  return mechanism.bits4 <= EVERYONE[4] || mechanism.bits6 <= EVERYONE[6];
}

function isVoid({ status, records }: Lookup<unknown>): boolean {
  return isMeasured(status) && records.length === 0;
}
