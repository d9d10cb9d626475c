// Evidence for tests: a healthy, empty domain, with what the test names put in. Every look-up is measured unless told otherwise.
import type {
  AddressEvidence,
  CaaRecord,
  DnsEvidence,
  Evidence,
  FileEvidence,
  HttpEvidence,
  Lookup,
  LookupStatus,
  MxRecord,
  Page,
  PolicyEvidence,
  TlsEvidence,
} from '../evidence.ts';

/** Records, or the status of a look-up that gave none, or a whole look-up. */
type Given<T> = readonly T[] | LookupStatus | Lookup<T>;

export interface EvidenceParts {
  domain?: string;
  ns?: Given<string>;
  soa?: Given<{ mname: string; rname: string; serial: number }>;
  a?: Given<string>;
  aaaa?: Given<string>;
  /** `10 mx.example.net`. */
  mx?: readonly string[] | LookupStatus;
  txt?: Given<string>;
  /** `0 issue ca.example`. */
  caa?: readonly string[] | LookupStatus;
  ds?: Given<DnsEvidence['ds']['records'][number]>;
  www?: Given<string>;
  dmarc?: Given<string>;
  mtaSts?: Given<string>;
  tlsRpt?: Given<string>;
  bimi?: Given<string>;
  named?: Record<string, Given<string>>;
  wildcardTxt?: Given<string>;
  wildcardA?: Given<string>;
  addresses?: readonly Partial<AddressEvidence>[];
  /** TXT of the names that SPF leads to. */
  spf?: Record<string, Given<string>>;
  http?: Partial<Omit<HttpEvidence, 'page'>> & { page?: Partial<Page> };
  tls?: Partial<TlsEvidence>;
  /** TXT by name. Parts not given were asked for and led nowhere; without any they were never asked for. */
  policies?: { readonly [Part in 'spf' | 'dmarcParents' | 'reportConsents']?: Record<string, Given<string>> } & {
    readonly validation?: PolicyEvidence['validation'];
  };
  /** The text of a file, or how asking for it ended. */
  files?: { readonly [Name in keyof NonNullable<Evidence['files']>]?: Partial<FileEvidence> };
}

/** Every record that decides whether a domain exists, with one status. */
export const everyRecord = (status: LookupStatus): EvidenceParts =>
  Object.fromEntries(['ns', 'soa', 'a', 'aaaa', 'mx', 'txt'].map((type) => [type, status]));

/** Parts not given read as asked for and not there: an empty home page, no certificate to be had. */
export function evidenceOf(parts: EvidenceParts = {}): Evidence {
  const domain = parts.domain ?? 'example.com';
  return {
    domain,
    observedAt: '2026-01-02T03:04:05Z',
    durationMs: 120,
    dns: dnsOf(parts),
    addresses: (parts.addresses ?? []).map((address) => ({
      ...{ address: '192.0.2.1', use: 'web', status: 'found', asn: null, asName: null, prefix: null },
      ...address,
    })),
    ...(parts.spf ? { policies: { ...NO_POLICIES, spf: lookupsOf(parts.spf) } } : {}),
    http: httpOf(domain, parts.http),
    tls: {
      status: parts.tls ? 'found' : 'failed',
      issuer: null,
      issuerCommonName: null,
      names: [domain],
      validFrom: null,
      validTo: null,
      protocol: parts.tls ? 'TLSv1.3' : null,
      isTrusted: parts.tls ? true : null,
      problem: null,
      ...parts.tls,
    },
    ...(parts.policies ? { policies: policiesOf(parts.policies) } : {}),
    ...(parts.files ? { files: filesOf(parts.files) } : {}),
  };
}

function policiesOf(given: NonNullable<EvidenceParts['policies']>): PolicyEvidence {
  const { spf = {}, dmarcParents = {}, reportConsents = {}, validation = 'insecure' } = given;
  const [parents, consents] = [lookupsOf(dmarcParents), lookupsOf(reportConsents)];
  return { spf: lookupsOf(spf), dmarcParents: parents, reportConsents: consents, validation };
}

function filesOf({ mtaSts, securityTxt }: NonNullable<EvidenceParts['files']>): NonNullable<Evidence['files']> {
  const fileOf = (given: Partial<FileEvidence> | undefined): FileEvidence => ({
    status: given ? 'found' : 'skipped',
    statusCode: given ? 200 : null,
    contentType: given ? 'text/plain' : null,
    text: '',
    ...given,
  });
  return { mtaSts: fileOf(mtaSts), securityTxt: fileOf(securityTxt) };
}

/** A CNAME chain that ends in an address. */
export function aliasTo(...aliases: readonly string[]): Lookup<string> {
  return { status: 'found', records: ['192.0.2.1'], aliases };
}

function dnsOf(parts: EvidenceParts): DnsEvidence {
  return {
    ...{ ns: lookupOf(parts.ns), soa: lookupOf(parts.soa), txt: lookupOf(parts.txt), ds: lookupOf(parts.ds) },
    ...{ a: lookupOf(parts.a ?? ['192.0.2.1']), aaaa: lookupOf(parts.aaaa), www: lookupOf(parts.www) },
    mx: lookupOf(typeof parts.mx === 'string' ? parts.mx : parts.mx?.map(toMx)),
    caa: lookupOf(typeof parts.caa === 'string' ? parts.caa : parts.caa?.map(toCaa)),
    ...{ dmarc: lookupOf(parts.dmarc), mtaSts: lookupOf(parts.mtaSts) },
    ...{ tlsRpt: lookupOf(parts.tlsRpt), bimi: lookupOf(parts.bimi) },
    named: lookupsOf(parts.named ?? {}),
    wildcardTxt: lookupOf(parts.wildcardTxt ?? 'nxdomain'),
    wildcardA: lookupOf(parts.wildcardA ?? 'nxdomain'),
  };
}

const NO_POLICIES: PolicyEvidence = { spf: {}, dmarcParents: {}, reportConsents: {}, validation: 'unknown' };

function lookupsOf(given: Record<string, Given<string>>): Record<string, Lookup<string>> {
  return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, lookupOf(each)]));
}

function lookupOf<T>(given: Given<T> | undefined): Lookup<T> {
  if (given === undefined) return { status: 'empty', records: [], aliases: [] };
  if (typeof given === 'string') return { status: given, records: [], aliases: [] };
  if ('status' in given) return given;
  return { status: given.length > 0 ? 'found' : 'empty', records: given, aliases: [] };
}

function toMx(text: string): MxRecord {
  const [preference = '0', exchange = ''] = text.split(' ');
  return { preference: Number(preference), exchange };
}

function toCaa(text: string): CaaRecord {
  const [flags = '0', tag = 'issue', ...value] = text.split(' ');
  return { critical: Number(flags) >= 128, tag, value: value.join(' ') };
}

function httpOf(domain: string, http: EvidenceParts['http']): HttpEvidence {
  const { page, ...rest } = http ?? {};
  return {
    status: 'found',
    url: `https://${domain}/`,
    redirects: [],
    statusCode: 200,
    headers: {},
    cookies: [],
    page: page ? { title: null, metas: {}, assets: [], markers: [], isTruncated: false, ...page } : null,
    ...rest,
  };
}
