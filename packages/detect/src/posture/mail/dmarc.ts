// Parses one DMARC record (RFC 9989 §4.7): its tags and their problems. Also parses records written for RFC 7489.
// RFC 9989 has no rule of its own for a tag that occurs twice. §4.7 takes its tag lists from DKIM, where such a list is
// invalid (RFC 6376 §3.2), so the record is void: which of two policies a receiver would apply is not known.
import { cutText } from '../../evidence/text.ts';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

/**
 * `unreadable-record`: evidently meant as a policy, but with a wrong beginning. `removed-tag`: dropped by RFC 9989
 * (`pct`, `rf`, `ri`), receivers ignore it.
 */
export type DmarcProblemCode =
  | 'several-records'
  | 'unreadable-record'
  | 'removed-tag'
  | 'unknown-tag'
  | 'duplicate-tag'
  | 'bad-tag'
  | 'bad-value'
  | 'no-policy'
  | 'bad-address'
  | 'size-limit';

export interface DmarcProblem {
  readonly code: DmarcProblemCode;
  /** The tag or address, at most 128 characters. */
  readonly term: string;
}

export interface DmarcRecord {
  readonly record: string;
  /** As published; `none` if missing. Null if it is invalid and the record is void. */
  readonly policy: DmarcPolicy | null;
  readonly subdomainPolicy: DmarcPolicy | null;
  readonly nonexistentPolicy: DmarcPolicy | null;
  /** `t=y`: receivers are asked to apply one level less. */
  readonly isTesting: boolean;
  /** Whether the name is a public suffix; `u` leaves the decision to the tree walk. */
  readonly psd: 'y' | 'n' | 'u';
  readonly alignment: { readonly dkim: 'r' | 's'; readonly spf: 'r' | 's' };
  /** Lower-case hosts of the report addresses. */
  readonly aggregateHosts: readonly string[];
  readonly failureHosts: readonly string[];
  readonly problems: readonly DmarcProblem[];
}

/** More tags or addresses than any record needs. */
const MAX_PARTS = 64;
const MAX_PROBLEMS = 16;
const VERSION = /^[vV]\s*=\s*DMARC1\s*(?:;|$)/;
const TAGS: ReadonlySet<string> = new Set(['v', 'p', 'sp', 'np', 't', 'psd', 'rua', 'ruf', 'fo', 'adkim', 'aspf']);
const REMOVED: ReadonlySet<string> = new Set(['pct', 'rf', 'ri']);
/** Values of the tags with a fixed set; policies and addresses are parsed separately. */
const VALUES: Readonly<Record<string, RegExp>> = {
  t: /^[yn]$/i,
  psd: /^[ynu]$/i,
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
};
/** A host of at least two labels; records for RFC 7489 may have a size limit (`!10m`) after an address. */
const MAIL_ADDRESS =
  /^mailto:[^@\s!?]{1,256}@([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,30})\.?(![^?]{0,16})?(?:\?.*)?$/is;

/** The DMARC records among the TXT records of a name: `v` comes first, and its value is case-sensitive. */
export function selectDmarc(txts: readonly string[]): readonly string[] {
  return txts.length === 0 ? txts : txts.filter((txt) => VERSION.test(txt.slice(0, 64)));
}

/** The first record that is evidently meant as a policy but not selected, such as one without a semicolon. */
export function unreadableDmarc(txts: readonly string[]): DmarcProblem | null {
  const record = txts.find((txt) => /^["'\s]{0,8}v\s{0,8}[=:]\s{0,8}dmarc1?(?![a-z0-9])/i.test(txt.slice(0, 64)));
  return record === undefined ? null : { code: 'unreadable-record', term: cutText(record.trim(), 128) };
}

/** Parses a selected record. */
export function parseDmarc(record: string): DmarcRecord {
  const problems: DmarcProblem[] = [];
  const report = (code: DmarcProblemCode, term: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ code, term: cutText(term.trim(), 128) });
  };
  const tags = readTags(record, report);
  const aggregateHosts = readAddresses(tags.get('rua'), report);
  const failureHosts = readAddresses(tags.get('ruf'), report);
  if (!tags.has('p')) report('no-policy', '');
  const isVoid = problems.some(({ code }) => code === 'duplicate-tag');
  const [policy, subdomainPolicy, nonexistentPolicy] = isVoid ? VOID : readPolicies(tags, report);
  const letter = (tag: string) => tags.get(tag)?.toLowerCase();
  const psd = letter('psd');
  return {
    record,
    policy,
    subdomainPolicy,
    nonexistentPolicy,
    isTesting: letter('t') === 'y',
    psd: psd === 'y' || psd === 'n' ? psd : 'u',
    alignment: { dkim: letter('adkim') === 's' ? 's' : 'r', spf: letter('aspf') === 's' ? 's' : 'r' },
    aggregateHosts,
    failureHosts,
    problems,
  };
}

/** No policy for the domain, for names below it, and for names that do not exist. */
const VOID = [null, null, null] as const;

type Report = (code: DmarcProblemCode, term: string) => void;

function readTags(record: string, report: Report): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of record.split(';', MAX_PARTS)) {
    const equals = part.indexOf('=');
    if (equals === -1 && part.trim() === '') continue;
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    const value = part.slice(equals + 1).trim();
    if (name === '') report('bad-tag', part);
    else if (tags.has(name)) report('duplicate-tag', part);
    else if (REMOVED.has(name)) report('removed-tag', part);
    else if (!TAGS.has(name)) report('unknown-tag', part);
    else if (VALUES[name]?.test(value) === false) report('bad-value', part);
    if (name !== '' && !tags.has(name)) tags.set(name, value);
  }
  return tags;
}

/**
 * §4.10.1: if `p`, `sp` or `np` is present and invalid, the record counts as `none` if it requests reports, and is void
 * otherwise.
 */
function readPolicies(tags: ReadonlyMap<string, string>, report: Report) {
  let isBad = false;
  const read = (tag: string): DmarcPolicy | null => {
    const value = tags.get(tag);
    if (value === undefined) return null;
    const policy = toPolicy(value);
    if (policy === null) {
      isBad = true;
      report('bad-value', `${tag}=${value}`);
    }
    return policy;
  };
  const policies = [read('p') ?? 'none', read('sp'), read('np')] as const;
  if (!isBad) return policies;
  return wantsReports(tags.get('rua')) ? (['none', null, null] as const) : VOID;
}

/** Any URI is valid (§4.8), though reports are only sent by mail. */
function wantsReports(uris = ''): boolean {
  return uris.split(',', MAX_PARTS).some((uri) => /^\s*[a-z][a-z0-9+.-]*:/i.test(uri));
}

function toPolicy(value: string): DmarcPolicy | null {
  const policy = value.toLowerCase();
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null;
}

function readAddresses(uris: string | undefined, report: Report): readonly string[] {
  if (uris === undefined) return [];
  const hosts = new Set<string>();
  for (const uri of uris.split(',', MAX_PARTS)) {
    const [, host, limit] = MAIL_ADDRESS.exec(uri.trim().slice(0, 512)) ?? [];
    if (host === undefined) report('bad-address', uri);
    else hosts.add(host.toLowerCase());
    if (limit !== undefined) report('size-limit', uri);
  }
  return [...hosts];
}
