// Domain names as users type them -> the registrable domain in A-label form (UTS 46, Public Suffix List).
import { parse } from 'tldts';
import { isPrivateName } from './private-names.ts';
import { decodePunycode } from './punycode.ts';

export type NameProblem =
  | 'empty'
  | 'too-long'
  | 'bad-label'
  | 'ip-address'
  | 'public-suffix'
  | 'private-name'
  | 'not-a-domain';

export type ParsedDomain =
  | { readonly ok: true; readonly host: string; readonly domain: string }
  | { readonly ok: false; readonly problem: NameProblem; readonly message: string };

// RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text; a label has at most 63.
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
/** Mapping shortens a name at most a few times; longer input is refused before any work. */
const MAX_INPUT_LENGTH = 1024;

/** The package that has the list, and the day of its release, which is not before that of the list. */
export const PUBLIC_SUFFIX_LIST = { source: 'tldts 7.6.0', date: '2026-11-25' } as const;

/** Private suffixes count: `me.github.io` and `github.io` have different owners. Hosts are already clean. */
const SUFFIX_OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;

const NOT_IN_A_NAME = /[^a-z0-9._-]/;
const IPV6_CHARACTERS = /^\[?[0-9a-f:.]+(?:%[^\]]*)?\]?$/i;
/** Labels that the WHATWG host parser reads as part of an IPv4 address: decimal, hexadecimal or octal. */
const NUMERIC_LABEL = /^(?:\d+|0x[0-9a-f]*)$/;

/**
 * Lower-cases, maps by UTS 46 to A-labels, removes one trailing dot, and finds the registrable domain.
 * The message of a refusal is a sentence for the user.
 */
export function parseDomain(input: string): ParsedDomain {
  if (input.trim() === '' || input === '.') return refuse('empty', 'The domain name is empty.');
  if (input.length > MAX_INPUT_LENGTH) return refuse('too-long', 'A domain name has at most 253 characters.');
  if (isIpv6Literal(input)) return refuse('ip-address', 'This is an IP address; give a domain name.');
  const mapped = mapToAscii(input);
  if (mapped === null) {
    return refuse('not-a-domain', 'A domain name has only letters, digits, hyphens and dots.');
  }
  const host = mapped.endsWith('.') ? mapped.slice(0, -1) : mapped;
  if (host.length > MAX_NAME_LENGTH) return refuse('too-long', 'A domain name has at most 253 characters.');
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (NUMERIC_LABEL.test(last)) {
    return labels.every((label) => NUMERIC_LABEL.test(label))
      ? refuse('ip-address', 'This is an IP address; give a domain name.')
      : refuse('not-a-domain', 'No top-level domain is a number.');
  }
  for (const label of labels) {
    const complaint = complaintAbout(label);
    if (complaint) return refuse('bad-label', complaint);
  }
  return toRegistrable(host, labels.length);
}

/** The registrable domain of a clean lower-case host, or null for an address or a public suffix. */
export function registrableDomain(host: string): string | null {
  return parse(host.endsWith('.') ? host.slice(0, -1) : host, SUFFIX_OPTIONS).domain;
}

/**
 * The suffix of a registrable domain if it is in the private section of the Public Suffix List, such as `github.io`, where
 * names are free of charge; otherwise null.
 */
export function privateSuffixOf(domain: string): string | null {
  const { isPrivate, publicSuffix } = parse(domain, SUFFIX_OPTIONS);
  return isPrivate ? publicSuffix : null;
}

/** Whether a clean lower-case host is a suffix under which a registry gives names to anyone: `com`, `co.uk`. */
export function isRegistrySuffix(host: string): boolean {
  return parse(host, { ...SUFFIX_OPTIONS, allowPrivateDomains: false }).domain === null;
}

/** Whether two clean lower-case hosts have the same registrable domain. A name without one has only itself. */
export function hasSameOwner(host: string, other: string): boolean {
  if (host === other) return true;
  // A registrable domain has at least two labels, and both hosts would end in them.
  if (!other.endsWith(host.slice(host.lastIndexOf('.', host.lastIndexOf('.') - 1) + 1))) return false;
  return (registrableDomain(host) ?? host) === (registrableDomain(other) ?? other);
}

/** Two colons and only characters of an IPv6 literal; a port has only one colon. */
function isIpv6Literal(input: string): boolean {
  return input.indexOf(':') !== input.lastIndexOf(':') && IPV6_CHARACTERS.test(input);
}

function toRegistrable(host: string, labelCount: number): ParsedDomain {
  const { domain, isIcann, isPrivate } = parse(host, SUFFIX_OPTIONS);
  if (domain === null) {
    return labelCount === 1 && !isIcann && !isPrivate
      ? refuse('not-a-domain', `'${host}' is a single word; a domain name has a dot, as in example.com.`)
      : refuse('public-suffix', `'${host}' is a public suffix: names are registered under it, it is not one itself.`);
  }
  if (isPrivateName(host)) return refuse('private-name', `'${host}' belongs to private networks and is not looked up.`);
  // Underscores mark service names (`_dmarc.example.com`), and no registry accepts one in a registered name.
  if (domain.includes('_'))
    return refuse('bad-label', `'${domain}' has an underscore, which registered names do not have.`);
  return { ok: true, host, domain };
}

/**
 * Null if a character cannot be part of a name. The URL parser does the UTS 46 mapping but also parses ports, paths,
 * percent-escapes and numeric hosts, so only non-ASCII names reach it, and only if all their ASCII characters are plain.
 */
function mapToAscii(input: string): string | null {
  const lower = input.toLowerCase();
  if (!hasNonAscii(lower)) return NOT_IN_A_NAME.test(lower) ? null : lower;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant, control characters and all
  if (!input.isWellFormed() || NOT_IN_A_NAME.test(lower.replace(/[^\x00-\x7f]/g, ''))) return null;
  const mapped = hostOf(input);
  return mapped === null || NOT_IN_A_NAME.test(mapped) ? null : mapped;
}

/** Whether a host is the name itself or below it; both lower-case, without trailing dots. */
export function isWithin(host: string, name: string): boolean {
  return host === name || (host.endsWith(name) && host.at(-name.length - 1) === '.');
}

/** A host as the URL standard serialises it, without parts before or after it that need parsing. */
const PLAIN_URL = /^https?:\/\/((?!xn--)[a-z0-9_-]+(?:\.(?!xn--)[a-z0-9_-]+)*\.[a-z][a-z0-9-]*)(?:\/|$)/;

/** The host of a URL, null if it has none. */
export function hostOfUrl(url: string): string | null {
  return PLAIN_URL.exec(url)?.[1] ?? URL.parse(url)?.hostname ?? null;
}

function hasNonAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return true;
  return false;
}

function hostOf(name: string): string | null {
  return URL.parse(`http://${name}/`)?.hostname ?? null;
}

function complaintAbout(label: string): string | null {
  if (label === '') return 'A domain name has no empty label: there are two consecutive dots, or one at the start.';
  if (label.length > MAX_LABEL_LENGTH)
    return `A label has at most 63 characters: '${label.slice(0, 20)}…' has ${label.length}.`;
  if (label.startsWith('-') || label.endsWith('-')) return `The label '${label}' begins or ends with a hyphen.`;
  if (label.startsWith('xn--') && !isTrueALabel(label))
    return `The label '${label}' is not a valid internationalized name.`;
  return null;
}

/** RFC 5890 §2.3.2.1: an A-label is what its own Unicode form maps to. */
function isTrueALabel(label: string): boolean {
  const unicode = decodePunycode(label.slice(4));
  return unicode !== null && hasNonAscii(unicode) && hostOf(unicode) === label;
}

function refuse(problem: NameProblem, message: string): ParsedDomain {
  return { ok: false, problem, message };
}
