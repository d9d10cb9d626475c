// One SPF record -> its terms (RFC 7208 §4.5, §4.6, §12). Terms that cannot be parsed are listed; parsing continues.
import { parsePrefixLength } from '../ranges/ip-address.ts';
import { hasMacro, isDomainSpec, isMacroString } from './macro.ts';
import { parseNetwork, type Range } from './networks.ts';

type Qualifier = '+' | '-' | '~' | '?';

/** A domain-spec (§7.1). */
export interface DomainSpec {
  /** As published. */
  readonly text: string;
  /** Lower-case, without the trailing dot: the name that is queried if there is no macro. */
  readonly host: string;
  readonly hasMacro: boolean;
}

export type Mechanism = { readonly qualifier: Qualifier; readonly text: string } & (
  | { readonly kind: 'all' }
  | { readonly kind: 'include' | 'exists'; readonly target: DomainSpec }
  | { readonly kind: 'ptr'; readonly target: DomainSpec | null }
  | { readonly kind: 'a' | 'mx'; readonly target: DomainSpec | null; readonly bits4: number; readonly bits6: number }
  | { readonly kind: 'ip4'; readonly bits: number; readonly range: Range }
  | { readonly kind: 'ip6'; readonly bits: number }
);

export interface SpfRecord {
  readonly mechanisms: readonly Mechanism[];
  readonly redirect: DomainSpec | null;
  /** Names of modifiers that RFC 7208 does not define; they are ignored (§6). */
  readonly unknownModifiers: readonly string[];
  /** Terms with a syntax error: one makes the record a permanent error. */
  readonly errors: readonly string[];
}

const VERSION = /^v=spf1(?: |$)/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/is;
const DUAL_CIDR = /^(.*?)(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/s;
/** Limit of the lists of errors and of unknown modifiers. */
const MAX_LISTED = 16;

/** The records among a name's TXT records that are SPF, §4.5: the version, then a space or the end. */
export function selectRecords(txts: readonly string[]): readonly string[] {
  return txts.length === 0 ? txts : txts.filter(isSpf);
}

function isSpf(txt: string): boolean {
  return (txt.startsWith('v') || txt.startsWith('V')) && VERSION.test(txt);
}

/** The first record that is evidently meant as a policy but not selected, such as one with a semicolon after the version. */
export function unreadableRecord(txts: readonly string[]): string | null {
  return txts.find((txt) => /^["'\s]{0,8}v\s{0,8}[=:]\s{0,8}spf1/i.test(txt.slice(0, 64))) ?? null;
}

/** Parses a selected record. Linear in its length. */
export function parseRecord(record: string): SpfRecord {
  const mechanisms: Mechanism[] = [];
  const modifiers = new Map<string, DomainSpec>();
  const unknownModifiers: string[] = [];
  const errors: string[] = [];
  for (const term of record.slice(6).split(' ')) {
    if (term === '') continue;
    const modifier = term.includes('=') ? MODIFIER.exec(term) : null;
    if (!modifier) {
      const mechanism = parseMechanism(term);
      if (mechanism) mechanisms.push(mechanism);
      else if (errors.length < MAX_LISTED) errors.push(term);
      continue;
    }
    const name = modifier[1]?.toLowerCase() ?? '';
    const value = modifier[2] ?? '';
    if (name === 'redirect' || name === 'exp') {
      const target = parseTarget(value);
      // §6: each of the two at most once.
      if (target && !modifiers.has(name)) modifiers.set(name, target);
      else if (errors.length < MAX_LISTED) errors.push(term);
    } else if (!isMacroString(value)) {
      if (errors.length < MAX_LISTED) errors.push(term);
    } else if (unknownModifiers.length < MAX_LISTED) {
      unknownModifiers.push(name);
    }
  }
  return {
    mechanisms,
    redirect: modifiers.get('redirect') ?? null,
    unknownModifiers,
    errors,
  };
}

function parseMechanism(text: string): Mechanism | null {
  const first = text.charAt(0);
  const isSigned = first === '-' || first === '~' || first === '?' || first === '+';
  const end = endOfName(text);
  const rest = text.slice(end);
  const qualifier = isSigned ? first : '+';
  const kind = text.slice(isSigned ? 1 : 0, end).toLowerCase();
  const value = rest.startsWith(':') ? rest.slice(1) : null;
  switch (kind) {
    case 'all':
      return rest === '' ? { qualifier, text, kind } : null;
    case 'include':
    case 'exists': {
      const target = value === null ? null : parseTarget(value);
      return target && { qualifier, text, kind, target };
    }
    case 'ptr': {
      if (rest === '') return { qualifier, text, kind, target: null };
      const target = value === null ? null : parseTarget(value);
      return target && { qualifier, text, kind, target };
    }
    case 'a':
    case 'mx': {
      const hosts = parseHosts(rest);
      return hosts && { qualifier, text, kind, ...hosts };
    }
    case 'ip4': {
      const network = value === null ? null : parseNetwork(value, 4);
      return network && { qualifier, text, kind, ...network };
    }
    case 'ip6': {
      const network = value === null ? null : parseNetwork(value, 6);
      return network && { qualifier, text, kind, bits: network.bits };
    }
    default:
      return null;
  }
}

/** The end of a mechanism's name: the first colon or slash, or the end of the term. */
function endOfName(text: string): number {
  const end = text.search(/[:/]/);
  return end === -1 ? text.length : end;
}

/** §5.3: `[":" domain-spec] [dual-cidr-length]`. A domain-spec may contain slashes, but never ends in `/24`. */
function parseHosts(rest: string): { target: DomainSpec | null; bits4: number; bits6: number } | null {
  if (rest === '') return { target: null, bits4: 32, bits6: 128 };
  const [, name = '', length4, length6] = DUAL_CIDR.exec(rest) ?? [];
  const bits4 = length4 === undefined ? 32 : parsePrefixLength(length4, 32);
  const bits6 = length6 === undefined ? 128 : parsePrefixLength(length6, 128);
  if (bits4 === null || bits6 === null) return null;
  if (name === '') return { target: null, bits4, bits6 };
  const target = name.startsWith(':') ? parseTarget(name.slice(1)) : null;
  return target && { target, bits4, bits6 };
}

function parseTarget(text: string): DomainSpec | null {
  return isDomainSpec(text) ? { text, host: hostOf(text), hasMacro: hasMacro(text) } : null;
}

function hostOf(text: string): string {
  const host = text.toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
