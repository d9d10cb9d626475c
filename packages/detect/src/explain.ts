// `strata stack explain`: a hand-made record in, the services that its parts prove out. No network, no clock.
import { z } from 'zod';
import { detect } from './detect.ts';
import type {
  AddressEvidence,
  CaaRecord,
  DnsEvidence,
  Evidence,
  HttpEvidence,
  Lookup,
  TlsEvidence,
} from './evidence.ts';
import { parseDomain } from './names.ts';
import { extractPage } from './page.ts';
import type { Category, ConfidenceLevel, ServiceEvidence } from './profile.ts';
import type { Rulebook } from './rulebook.ts';

/** A record that cannot be read; `field` is the path of the first part that is wrong. */
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
    /** Display name. */
    readonly provider: string;
    readonly provider_id: string;
    readonly confidence: ConfidenceLevel;
    readonly evidence: readonly ServiceEvidence[];
    /** Where the evidence shows it. */
    readonly version?: string;
  }[];
}

// Bounds on one record: more than any zone or page that a person pastes, and little enough to hold a million lines at bay.
const Host = z.string().max(1024).transform(cleanHost);
const Text = z.string().max(65_535);
const DnsRecord = z.object({
  domain: z.string().max(1024),
  ns: z.array(Host).max(64).optional(),
  mx: z
    .array(z.object({ preference: z.int().min(0).max(65_535), exchange: Host }))
    .max(64)
    .optional(),
  txt: z.array(Text).max(5000).optional(),
  dmarc: Text.optional(),
  caa: z.array(Text).max(64).optional(),
  cname: z.record(z.string().max(1024), Host).refine(isShort, 'has too many entries').optional(),
  a: z
    .array(
      z.object({
        address: z.string().max(64),
        asn: z.int().positive().max(4_294_967_295).nullish(),
        as_name: z.string().max(256).nullish(),
      }),
    )
    .max(64)
    .optional(),
  headers: z.record(z.string().max(256), Text).refine(isShort, 'has too many entries').optional(),
  cookies: z.array(z.string().max(4096)).max(512).optional(),
  html: z.string().max(16_777_216).optional(),
  tls_issuer: z.string().max(1024).optional(),
});
type DnsRecord = z.infer<typeof DnsRecord>;

const MAX_ENTRIES = 512;
/** Longest alias chain that is followed inside a record's `cname`. */
const MAX_CHAIN = 16;
/** A record has no time of its own. */
const NO_TIME = '1970-01-01T00:00:00Z';

/** Reads one record (API.md, "Explain") and says what it proves; unknown members are ignored. Throws RecordError. */
export function explainRecord(record: unknown, rulebook: Rulebook): Explanation {
  const profile = detect(evidenceFromRecord(record, { keepSource: rulebook.sets?.needsSource ?? false }), rulebook);
  return {
    domain: profile.domain,
    services: profile.services.map(({ category, provider, confidence, evidence, version }) => ({
      category,
      provider: rulebook.providers.get(provider)?.name ?? provider,
      provider_id: provider,
      confidence,
      evidence,
      ...(version === null ? {} : { version }),
    })),
  };
}

/** The same record as Evidence: a part that was not given was not measured. `keepSource` is for community sets. */
export function evidenceFromRecord(record: unknown, { keepSource = false } = {}): Evidence {
  const parsed = DnsRecord.safeParse(record);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new RecordError(issue?.path.map(String).join('.') || 'record', issue?.message ?? 'is not a record');
  }
  const name = parseDomain(parsed.data.domain);
  if (!name.ok) throw new RecordError('domain', name.message);
  const { domain } = name;
  return {
    domain,
    observedAt: NO_TIME,
    durationMs: 0,
    dns: dnsPart(domain, parsed.data),
    addresses: (parsed.data.a ?? []).map(toAddress),
    http: httpPart(domain, parsed.data, keepSource),
    tls: tlsPart(parsed.data.tls_issuer),
  };
}

function dnsPart(domain: string, record: DnsRecord): DnsEvidence {
  const aliases = new Map(Object.entries(record.cname ?? {}).map(([from, to]) => [cleanHost(from), to]));
  const aliased = (host: string, addresses?: readonly string[]): Lookup<string> => ({
    ...lookup(addresses ?? (aliases.has(host) ? [] : undefined)),
    aliases: chainFrom(host, aliases),
  });
  const labels = [...aliases.keys()].filter((host) => host.endsWith(`.${domain}`) && host !== `www.${domain}`);
  return {
    ns: lookup(record.ns),
    soa: lookup(undefined),
    a: aliased(
      domain,
      record.a?.map(({ address }) => address),
    ),
    aaaa: lookup(undefined),
    mx: lookup(record.mx?.toSorted((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1))),
    txt: lookup(record.txt),
    caa: lookup(record.caa?.map(toCaa)),
    ds: lookup(undefined),
    www: aliased(`www.${domain}`),
    dmarc: lookup(record.dmarc === undefined ? undefined : [record.dmarc]),
    mtaSts: lookup(undefined),
    tlsRpt: lookup(undefined),
    bimi: lookup(undefined),
    named: Object.fromEntries(labels.map((host) => [host.slice(0, -domain.length - 1), aliased(host)])),
    wildcardTxt: lookup(undefined),
    wildcardA: lookup(undefined),
  };
}

function lookup<T>(records: readonly T[] | undefined): Lookup<T> {
  if (records === undefined) return { status: 'skipped', records: [], aliases: [] };
  return { status: records.length > 0 ? 'found' : 'empty', records, aliases: [] };
}

/** Follows a chain as far as the record tells it; a loop ends it. */
function chainFrom(host: string, aliases: ReadonlyMap<string, string>): string[] {
  const chain: string[] = [];
  let next = aliases.get(host);
  while (next !== undefined && next !== host && !chain.includes(next) && chain.length < MAX_CHAIN) {
    chain.push(next);
    next = aliases.get(next);
  }
  return chain;
}

/** Zone-file form (`0 issue "ca.example"`) or the bare issuer. */
function toCaa(text: string): CaaRecord {
  const match = /^\s*(\d{1,3})\s+([A-Za-z0-9]+)\s+(.*)$/s.exec(text);
  if (!match) return { critical: false, tag: 'issue', value: unquote(text) };
  const [, flags = '0', tag = 'issue', value = ''] = match;
  return { critical: Number(flags) >= 128, tag: tag.toLowerCase(), value: unquote(value) };
}

function unquote(text: string): string {
  return text.trim().replace(/^"|"$/g, '');
}

function toAddress({ address, asn, as_name }: NonNullable<DnsRecord['a']>[number]): AddressEvidence {
  const status = asn == null ? 'skipped' : 'found';
  return { address, use: 'web', status, asn: asn ?? null, asName: as_name ?? null, prefix: null };
}

function httpPart(domain: string, { headers, cookies, html }: DnsRecord, keepSource: boolean): HttpEvidence {
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

/** People paste whole `Set-Cookie` values; the name is all that is read. */
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

function isShort(entries: object): boolean {
  return Object.keys(entries).length <= MAX_ENTRIES;
}

function cleanHost(host: string): string {
  const lower = host.trim().toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
