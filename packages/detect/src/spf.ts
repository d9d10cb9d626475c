// SPF records (RFC 7208) as far as one record tells: who may send, how strict, whether it can be evaluated at all.

export type SpfAll = '-all' | '~all' | '?all' | '+all';

export interface Spf {
  readonly result: 'valid' | 'none' | 'permerror';
  /** The record; the first one where several make a permanent error. */
  readonly record: string | null;
  readonly all: SpfAll | null;
  /** Hosts of `include:` and `exists:`, and of `redirect=` where no `all` makes it void; lower-case, of every record. */
  readonly targets: readonly string[];
  /** `redirect=` is in force: the rest of the policy stands in a record that was not read. */
  readonly isRedirected: boolean;
  /** Uses `ptr`, which RFC 7208 §5.5 says not to publish. */
  readonly usesPtr: boolean;
}

/** RFC 7208 §4.6.4: terms that cause DNS look-ups, at most ten for one check. */
const MAX_LOOKUPS = 10;
/** More targets than any policy that can be evaluated holds. */
const MAX_TARGETS = 64;
const MECHANISM = /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:[:/](.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/i;
const NEEDS_VALUE: ReadonlySet<string> = new Set(['include', 'exists', 'ip4', 'ip6']);
const CAUSES_LOOKUP: ReadonlySet<string> = new Set(['include', 'a', 'mx', 'ptr', 'exists']);

/** Reads the SPF policy among a domain's TXT records. */
export function parseSpf(txts: readonly string[]): Spf {
  const records = txts.filter(isSpfRecord);
  const [first] = records;
  if (first === undefined) {
    return { result: 'none', record: null, all: null, targets: [], isRedirected: false, usesPtr: false };
  }
  const parsed = parseRecord(first);
  if (records.length === 1) return parsed;
  // §4.5: several records are a permanent error. What they name is still worth knowing.
  const targets = records.flatMap((record) => parseRecord(record).targets).slice(0, MAX_TARGETS);
  return { ...parsed, result: 'permerror', targets };
}

/** §4.5: the version, then a space or the end. */
function isSpfRecord(txt: string): boolean {
  if (txt.length < 6 || txt.charCodeAt(5) !== 0x31) return false;
  return txt.slice(0, 6).toLowerCase() === 'v=spf1' && (txt.length === 6 || txt[6] === ' ');
}

function parseRecord(record: string): Spf {
  const targets: string[] = [];
  let isValid = true;
  let all: SpfAll | null = null;
  let redirect: string | null = null;
  let lookups = 0;
  let usesPtr = false;
  for (const term of record.slice(6).split(' ')) {
    if (term === '') continue;
    const mechanism = MECHANISM.exec(term);
    if (!mechanism) {
      const modifier = MODIFIER.exec(term);
      if (!modifier) isValid = false;
      else if (modifier[1]?.toLowerCase() === 'redirect') redirect = hostOf(modifier[2]);
      continue;
    }
    const [, qualifier = '', kind = '', value = ''] = mechanism;
    const name = kind.toLowerCase();
    if (value === '' && NEEDS_VALUE.has(name)) isValid = false;
    if (CAUSES_LOOKUP.has(name)) lookups++;
    if (name === 'ptr') usesPtr = true;
    // §5.1: what stands after `all` is never reached.
    if (name === 'all' && all === null) all = `${(qualifier || '+') as '+'}all`;
    if ((name === 'include' || name === 'exists') && targets.length < MAX_TARGETS) targets.push(hostOf(value));
  }
  const isRedirected = redirect !== null && all === null;
  if (isRedirected && redirect !== null) targets.push(redirect);
  if (lookups + (isRedirected ? 1 : 0) > MAX_LOOKUPS) isValid = false;
  return { result: isValid ? 'valid' : 'permerror', record, all, targets, isRedirected, usesPtr };
}

function hostOf(value = ''): string {
  const host = value.toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
