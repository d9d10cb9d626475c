// `strata stack explain`: a hand-written record in, the services that it proves out. No network, no clock.
import { detect } from './detect.ts';
import type {
  AddressEvidence,
  DnsEvidence,
  Evidence,
  FileEvidence,
  HttpEvidence,
  Lookup,
  TlsEvidence,
} from './evidence/evidence.ts';
import { extractPage } from './evidence/page.ts';
import { cleanHost, DomainRecord, type GivenAddress } from './explain-record.ts';
import { parseDomain } from './names/names.ts';
import type { Category, ConfidenceLevel, Role, ServiceEvidence } from './profile.ts';
import type { Rulebook } from './rulebook/rulebook.ts';

/** A record that cannot be parsed; `field` is the path of the first invalid part. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
  readonly field: string;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.field = field;
  }
}

export interface Explanation {
  readonly domain: string;
  readonly services: readonly {
    readonly category: Category;
    readonly role: Role;
    /** Display name. */
    readonly provider: string;
    readonly provider_id: string;
    readonly confidence: ConfidenceLevel;
    readonly evidence: readonly ServiceEvidence[];
    /** Present if the evidence shows it. */
    readonly version?: string;
  }[];
}

/** Maximum length of an alias chain inside a record's `cname`. */
const MAX_CHAIN = 16;
/** The maximum length that a probe keeps. */
const MAX_FILE_LENGTH = 16_384;
/** A record has no observation time. */
const NO_TIME = '1970-01-01T00:00:00Z';

/**
 * Parses a record (API.md, "Explain") and returns the services that it proves; unknown members are ignored. Throws
 * RecordError.
 */
export function explainRecord(record: unknown, rulebook: Rulebook): Explanation {
  const profile = detect(evidenceFromRecord(record, { keepSource: rulebook.sets?.needsSource ?? false }), rulebook);
  return {
    domain: profile.domain,
    services: profile.services.map(({ category, role, provider, confidence, evidence, version }) => ({
      category,
      role,
      provider: rulebook.providers.get(provider)?.name ?? provider,
      provider_id: provider,
      confidence,
      evidence,
      ...(version === null ? {} : { version }),
    })),
  };
}

/** The record as Evidence: parts that are missing are not measured. `keepSource` is for community sets. */
export function evidenceFromRecord(record: unknown, { keepSource = false } = {}): Evidence {
  const parsed = DomainRecord.safeParse(record);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new RecordError(issue?.path.map(String).join('.') || 'record', issue?.message ?? 'is not a record');
  }
  return evidenceOf(parsed.data, { keepSource });
}

/** The same for a record that is parsed. Throws RecordError if its domain is not valid. */
export function evidenceOf(record: DomainRecord, { keepSource = false } = {}): Evidence {
  const name = parseDomain(record.domain);
  if (!name.ok) throw new RecordError('domain', name.message);
  const { domain } = name;
  return {
    domain,
    observedAt: NO_TIME,
    durationMs: 0,
    dns: dnsPart(domain, record),
    addresses: addressPart(domain, record),
    http: httpPart(domain, record, keepSource),
    tls: tlsPart(record.tls_issuer),
    ...policyPart(record),
    ...filePart(record),
  };
}

/** Labels whose look-ups are not among the named ones. */
const OWN_LOOKUPS: ReadonlySet<string> = new Set(['www', '_dmarc', '_mta-sts', '_smtp._tls', 'default._bimi']);

function dnsPart(domain: string, record: DomainRecord): DnsEvidence {
  const aliases = new Map(Object.entries(record.cname ?? {}).map(([from, to]) => [cleanHost(from), to]));
  const aliased = (host: string, addresses?: readonly string[]): Lookup<string> => ({
    ...lookup(addresses ?? (aliases.has(host) ? [] : undefined)),
    aliases: chainFrom(host, aliases),
  });
  const labels = [...aliases.keys()]
    .filter((host) => host.endsWith(`.${domain}`))
    .map((host) => host.slice(0, -domain.length - 1))
    .filter((label) => !OWN_LOOKUPS.has(label));
  return {
    ns: lookup(record.ns),
    soa: lookup(record.soa && [record.soa]),
    a: aliased(
      domain,
      record.a?.map(({ address }) => address),
    ),
    aaaa: lookup(record.aaaa?.map(({ address }) => address)),
    mx: lookup(record.mx?.toSorted((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1))),
    txt: lookup(record.txt),
    caa: lookup(record.caa),
    ds: lookup(record.ds),
    www: aliased(
      `www.${domain}`,
      record.www?.map(({ address }) => address),
    ),
    dmarc: aliased(`_dmarc.${domain}`, record.dmarc === undefined ? undefined : [record.dmarc]),
    mtaSts: aliased(`_mta-sts.${domain}`),
    tlsRpt: aliased(`_smtp._tls.${domain}`),
    bimi: aliased(`default._bimi.${domain}`),
    named: Object.fromEntries([
      ...labels.map((label) => [label, aliased(`${label}.${domain}`)] as const),
      ...Object.entries(record.txt_at ?? {}).map(([label, text]) => [label, lookup([text])] as const),
      ...Object.entries(record.dkim ?? {}).map(([selector, key]) => [`${selector}._domainkey`, lookup([key])] as const),
    ]),
    wildcardTxt: lookup(undefined),
    wildcardA: lookup(undefined),
  };
}

function lookup<T>(records: readonly T[] | undefined): Lookup<T> {
  if (records === undefined) return { status: 'skipped', records: [], aliases: [] };
  return { status: records.length > 0 ? 'found' : 'empty', records, aliases: [] };
}

/** Follows the record's chain of aliases to its end; a loop ends it. */
function chainFrom(host: string, aliases: ReadonlyMap<string, string>): string[] {
  const chain: string[] = [];
  let next = aliases.get(host);
  while (next !== undefined && next !== host && !chain.includes(next) && chain.length < MAX_CHAIN) {
    chain.push(next);
    next = aliases.get(next);
  }
  return chain;
}

function addressPart(
  domain: string,
  { a = [], aaaa = [], www = [], mx_addresses = [], ns_addresses = [] }: DomainRecord,
) {
  const toAddress =
    (use: AddressEvidence['use'], name?: string) =>
    ({ address, asn, as_name, host = name }: GivenAddress): AddressEvidence => ({
      address,
      use,
      ...(host === undefined ? {} : { host }),
      status: asn == null ? 'skipped' : 'found',
      asn: asn ?? null,
      asName: as_name ?? null,
      prefix: null,
    });
  return [
    ...[...a, ...aaaa].map(toAddress('web', domain)),
    ...www.map(toAddress('www', `www.${domain}`)),
    ...mx_addresses.map(toAddress('mail')),
    ...ns_addresses.map(toAddress('ns')),
  ];
}

/** Nothing without a policy, as in evidence of a probe that made no such queries. */
function policyPart({ spf_policies, dmarc_parents, report_consents }: DomainRecord): Pick<Evidence, 'policies'> {
  if (spf_policies === undefined && dmarc_parents === undefined && report_consents === undefined) return {};
  const lookups = (given: Readonly<Record<string, readonly string[]>> = {}) =>
    Object.fromEntries(Object.entries(given).map(([name, texts]) => [cleanHost(name), lookup(texts)]));
  const dmarcParents = lookups(dmarc_parents);
  const reportConsents = lookups(report_consents);
  return { policies: { spf: lookups(spf_policies), dmarcParents, reportConsents, validation: 'unknown' } };
}

function filePart({ mta_sts_policy, security_txt }: DomainRecord): Pick<Evidence, 'files'> {
  if (mta_sts_policy === undefined && security_txt === undefined) return {};
  const file = (text: string | undefined): FileEvidence =>
    text === undefined
      ? { status: 'skipped', statusCode: null, contentType: null, text: '' }
      : { status: 'found', statusCode: 200, contentType: 'text/plain', text: text.slice(0, MAX_FILE_LENGTH) };
  return { files: { mtaSts: file(mta_sts_policy), securityTxt: file(security_txt) } };
}

function httpPart(domain: string, { headers, cookies, html }: DomainRecord, keepSource: boolean): HttpEvidence {
  const isGiven = headers !== undefined || cookies !== undefined || html !== undefined;
  const url = `https://${domain}/`;
  return {
    status: isGiven ? 'found' : 'skipped',
    url: isGiven ? url : null,
    redirects: [],
    statusCode: isGiven ? 200 : null,
    headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
    cookies: (cookies ?? []).map(cookieName),
    page: html === undefined ? null : extractPage(html, { url, isTruncated: false, keepSource }),
  };
}

/** People paste complete `Set-Cookie` values; only the name is used. */
function cookieName(cookie: string): string {
  return (cookie.split('=', 1)[0] ?? '').trim();
}

function tlsPart(issuer: string | undefined): TlsEvidence {
  return {
    status: issuer === undefined ? 'skipped' : 'found',
    issuer: issuer ?? null,
    issuerCommonName: null,
    names: [],
    validFrom: null,
    validTo: null,
    protocol: null,
    isTrusted: null,
    problem: null,
  };
}
