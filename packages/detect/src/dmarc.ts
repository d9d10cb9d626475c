// DMARC records (RFC 9989): policy, what `t=y` makes of it, and where reports go. Unknown and removed tags are ignored.

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

export interface Dmarc {
  readonly record: string | null;
  readonly policy: DmarcPolicy | null;
  /** One step lower while the domain owner is testing (`t=y`). */
  readonly effectivePolicy: DmarcPolicy | null;
  readonly subdomainPolicy: DmarcPolicy | null;
  /** For names that do not exist; falls back to `sp`, then `p`. */
  readonly nonexistentPolicy: DmarcPolicy | null;
  /** `rua` has an address that reports can be sent to. */
  readonly hasReporting: boolean;
  /** Lower-case hosts of `rua` and `ruf` addresses. */
  readonly reportHosts: readonly string[];
}

const NO_DMARC: Dmarc = {
  record: null,
  policy: null,
  effectivePolicy: null,
  subdomainPolicy: null,
  nonexistentPolicy: null,
  hasReporting: false,
  reportHosts: [],
};

const LOWERED: Readonly<Record<DmarcPolicy, DmarcPolicy>> = { reject: 'quarantine', quarantine: 'none', none: 'none' };
/** More tags or addresses than any record needs. */
const MAX_PARTS = 64;

/** Reads the DMARC policy among the TXT records of `_dmarc`; several policies are none at all (RFC 9989, policy discovery). */
export function parseDmarc(txts: readonly string[]): Dmarc {
  const records = txts.filter(isDmarcRecord);
  const [record] = records;
  if (record === undefined || records.length > 1) return NO_DMARC;
  const tags = parseTags(record);
  const reports = [...mailHosts(tags.get('rua')), ...mailHosts(tags.get('ruf'))];
  const hasReporting = mailHosts(tags.get('rua')).length > 0;
  const policy = readPolicy(tags, hasReporting);
  const subdomainPolicy = toPolicy(tags.get('sp')) ?? policy;
  return {
    record,
    policy,
    effectivePolicy: policy !== null && tags.get('t')?.toLowerCase() === 'y' ? LOWERED[policy] : policy,
    subdomainPolicy: policy === null ? null : subdomainPolicy,
    nonexistentPolicy: policy === null ? null : (toPolicy(tags.get('np')) ?? subdomainPolicy),
    hasReporting,
    reportHosts: [...new Set(reports)],
  };
}

/** `v` comes first and its value is case-sensitive. */
function isDmarcRecord(txt: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/i.test(txt.slice(0, 64)) && txt.slice(0, 64).includes('DMARC1');
}

function parseTags(record: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of record.split(';', MAX_PARTS)) {
    const equals = part.indexOf('=');
    if (equals === -1) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (!tags.has(name)) tags.set(name, part.slice(equals + 1).trim());
  }
  return tags;
}

/** A missing `p` asks for nothing. One that cannot be read does too where reports are wanted, and else voids the record. */
function readPolicy(tags: ReadonlyMap<string, string>, hasReporting: boolean): DmarcPolicy | null {
  const published = tags.get('p');
  if (published === undefined) return 'none';
  return toPolicy(published) ?? (hasReporting ? 'none' : null);
}

function toPolicy(value: string | undefined): DmarcPolicy | null {
  const policy = value?.toLowerCase();
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null;
}

/** Hosts of `mailto:` URIs; a size limit (`!10m`) may follow an address in older records. */
function mailHosts(uris: string | undefined): string[] {
  if (uris === undefined) return [];
  return uris.split(',', MAX_PARTS).flatMap((uri) => {
    const address = uri.trim();
    if (address.slice(0, 7).toLowerCase() !== 'mailto:') return [];
    const host = /@([^!?\s]+)/.exec(address)?.[1]?.toLowerCase().replace(/\.$/, '');
    return host ? [host] : [];
  });
}
