// Evidence for tests: a healthy, empty domain plus the records of the test. Every look-up is measured by default.
import type * as E from '../evidence/evidence.ts';

type Lookup<T> = E.Lookup<T>;
/** Records, or the status of a look-up that gave none, or a complete look-up. */
type Given<T> = readonly T[] | E.LookupStatus | Lookup<T>;
type Named = Record<string, Given<string>>;

const BELOW = ['dmarc', 'mtaSts', 'tlsRpt', 'bimi', 'wildcardTxt', 'wildcardA'] as const;
const TEXTS = ['ns', 'a', 'aaaa', 'txt', 'www', ...BELOW] as const;

export interface EvidenceParts extends Partial<Record<(typeof TEXTS)[number], Given<string>>> {
  domain?: string;
  soa?: Given<E.DnsEvidence['soa']['records'][number]>;
  /** `10 mx.example.net`. */
  mx?: readonly string[] | E.LookupStatus;
  /** `0 issue ca.example`. */
  caa?: readonly string[] | E.LookupStatus;
  ds?: Given<E.DnsEvidence['ds']['records'][number]>;
  named?: Named;
  addresses?: readonly Partial<E.AddressEvidence>[];
  /** TXT of the names that SPF leads to. */
  spf?: Named;
  http?: Partial<Omit<E.HttpEvidence, 'page'>> & { page?: Partial<E.Page> };
  tls?: Partial<E.TlsEvidence>;
  /** TXT by name. Parts not given were asked for and led nowhere; without any they were never asked for. */
  policies?: { readonly [Part in 'spf' | 'dmarcParents' | 'reportConsents']?: Named } & {
    readonly validation?: E.PolicyEvidence['validation'];
  };
  /** The text of a file, or how asking for it ended. */
  files?: { readonly [Name in 'mtaSts' | 'securityTxt']?: Partial<E.FileEvidence> } & {
    readonly favicon?: E.FaviconEvidence;
  };
}

/** Every record that decides whether a domain exists, with one status. */
export const everyRecord = (status: E.LookupStatus): EvidenceParts =>
  Object.fromEntries(['ns', 'soa', 'a', 'aaaa', 'mx', 'txt'].map((type) => [type, status]));

/** Parts not given read as asked for and not there: an empty home page, no certificate to be had. */
export function evidenceOf(parts: EvidenceParts = {}): E.Evidence {
  const domain = parts.domain ?? 'example.com';
  return {
    ...{ domain, observedAt: '2026-01-02T03:04:05Z', durationMs: 120 },
    dns: dnsOf(parts),
    addresses: (parts.addresses ?? []).map((address) => ({
      ...{ address: '192.0.2.1', use: 'web', status: 'found', asn: null, asName: null, prefix: null },
      ...address,
    })),
    ...(parts.spf ? { policies: policiesOf({ spf: parts.spf, validation: 'unknown' }) } : {}),
    http: httpOf(domain, parts.http),
    tls: {
      ...{ issuer: null, issuerCommonName: null, names: [domain], validFrom: null, validTo: null, problem: null },
      ...{ status: 'failed', protocol: null, isTrusted: null },
      ...(parts.tls && { status: 'found', protocol: 'TLSv1.3', isTrusted: true, ...parts.tls }),
    },
    ...(parts.policies ? { policies: policiesOf(parts.policies) } : {}),
    ...(parts.files ? { files: filesOf(parts.files) } : {}),
  };
}

function policiesOf(given: NonNullable<EvidenceParts['policies']>): E.PolicyEvidence {
  const [dmarcParents, reportConsents] = [lookupsOf(given.dmarcParents), lookupsOf(given.reportConsents)];
  return { spf: lookupsOf(given.spf), dmarcParents, reportConsents, validation: given.validation ?? 'insecure' };
}

function filesOf({
  mtaSts,
  securityTxt,
  favicon,
}: NonNullable<EvidenceParts['files']>): NonNullable<E.Evidence['files']> {
  const fileOf = (given: Partial<E.FileEvidence> | undefined): E.FileEvidence => ({
    ...{ status: 'skipped', statusCode: null, contentType: null, text: '' },
    ...(given && { status: 'found', statusCode: 200, contentType: 'text/plain', ...given }),
  });
  return { mtaSts: fileOf(mtaSts), securityTxt: fileOf(securityTxt), ...(favicon && { favicon }) };
}

export function aliasTo(...aliases: readonly string[]): Lookup<string> {
  return { status: 'found', records: ['192.0.2.1'], aliases };
}

function dnsOf(parts: EvidenceParts): E.DnsEvidence {
  const given: EvidenceParts = { a: ['192.0.2.1'], wildcardTxt: 'nxdomain', wildcardA: 'nxdomain', ...parts };
  const texts = TEXTS.map((name) => [name, lookupOf<string>(given[name])]);
  return {
    ...(Object.fromEntries(texts) as Record<(typeof TEXTS)[number], Lookup<string>>),
    ...{ soa: lookupOf(parts.soa), ds: lookupOf(parts.ds), named: lookupsOf(parts.named) },
    mx: lookupOf(typeof parts.mx === 'string' ? parts.mx : parts.mx?.map(toMx)),
    caa: lookupOf(typeof parts.caa === 'string' ? parts.caa : parts.caa?.map(toCaa)),
  };
}

const lookupsOf = (given: Named = {}): Record<string, Lookup<string>> =>
  Object.fromEntries(Object.entries(given).map(([name, each]) => [name, lookupOf(each)]));

function lookupOf<T>(given: Given<T> | undefined): Lookup<T> {
  if (given === undefined) return { status: 'empty', records: [], aliases: [] };
  if (typeof given === 'string') return { status: given, records: [], aliases: [] };
  if ('status' in given) return given;
  return { status: given.length > 0 ? 'found' : 'empty', records: given, aliases: [] };
}

function toMx(text: string): E.MxRecord {
  const [preference = '0', exchange = ''] = text.split(' ');
  return { preference: Number(preference), exchange };
}

function toCaa(text: string): E.CaaRecord {
  const [flags = '0', tag = 'issue', ...value] = text.split(' ');
  return { critical: Number(flags) >= 128, tag, value: value.join(' ') };
}

function httpOf(domain: string, { page, ...rest }: NonNullable<EvidenceParts['http']> = {}): E.HttpEvidence {
  return {
    ...{ status: 'found', url: `https://${domain}/`, redirects: [], statusCode: 200, headers: {}, cookies: [] },
    page: page ? { title: null, metas: {}, assets: [], markers: [], isTruncated: false, ...page } : null,
    ...rest,
  };
}
