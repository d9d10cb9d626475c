// The values that a probe observed, by kind, for the history of records and for pivots. Pure.
import { type Evidence, isMeasured, type Lookup } from '../evidence/evidence.ts';
import { hostOfUrl, isWithin, registrableDomain } from '../names/names.ts';
import { Digest } from '../rulebook/digest.ts';
import { parseRecord, selectRecords } from '../spf/record.ts';
import { RECORD_KINDS, type RecordKind, recordValue } from './record-kinds.ts';

export interface ObservedRecords {
  /** Sorted, without duplicates. */
  readonly values: ReadonlyMap<RecordKind, readonly string[]>;
  /** Kinds of which a source was not measured: a value that is missing may still be published. */
  readonly unmeasured: ReadonlySet<RecordKind>;
  /** Of `values` and `unmeasured`: the same digest, the same observation. */
  readonly digest: string;
}

/** Of one kind and domain; the first in sorted order. */
const MAX_VALUES = 32;
const TOKEN = /^[a-z0-9][a-z0-9._ -]{0,62}[=:]\s?[^\s;]{6,}$/i;
const POLICY = /^v=/i;
/** RFC 7505; a dot could not be part of a path. */
const NULL_MX = 'null-mx';
const VERIFYING_META = /verif|^msvalidate/;

/** What the evidence shows of every kind. Never throws on hostile records. */
export function observedRecords(evidence: Evidence): ObservedRecords {
  const { dns, addresses, tls } = evidence;
  const hosts = [dns.a, dns.aaaa, dns.www];
  const isWebMeasured = areMeasured(...hosts);
  const networks = addresses.filter(({ use }) => use === 'web' || use === 'www');
  const areNetworksMeasured = isWebMeasured && areMeasured(...networks);
  const hasNoWeb = isWebMeasured && hosts.every(({ records }) => records.length === 0);
  const [spf] = selectRecords(dns.txt.records);
  const { page, target, isPageMeasured } = pageOf(evidence, hasNoWeb);
  const icon = evidence.files?.favicon;
  const isTxtMeasured = areMeasured(dns.txt);
  const isTlsMeasured = tls.status === 'found' || hasNoWeb;
  const tokens = dns.txt.records.filter((txt) => TOKEN.test(txt.slice(0, 512)) && !POLICY.test(txt));
  const metas = Object.entries(page?.metas ?? {}).filter(([name]) => VERIFYING_META.test(name));
  const observed: Readonly<Record<RecordKind, readonly [isMeasured: boolean, values: readonly string[]]>> = {
    ns: [areMeasured(dns.ns), dns.ns.records],
    ns_set: [areMeasured(dns.ns), dns.ns.records.length === 0 ? [] : [dns.ns.records.join(',')]],
    soa: [areMeasured(dns.soa), dns.soa.records.map(({ rname }) => rname)],
    mx: [areMeasured(dns.mx), dns.mx.records.map(({ exchange }) => exchange || NULL_MX)],
    address: [isWebMeasured, hosts.flatMap(({ records }) => records)],
    network: [areNetworksMeasured, networks.flatMap(({ prefix }) => prefix ?? [])],
    asn: [areNetworksMeasured, networks.flatMap(({ asn }) => (asn === null ? [] : `AS${asn}`))],
    cname: [isWebMeasured, hosts.flatMap(({ aliases }) => aliases)],
    txt: [isTxtMeasured, dns.txt.records.filter((txt) => !tokens.includes(txt))],
    verification: [
      isTxtMeasured && isPageMeasured,
      [...tokens, ...metas.map(([name, content]) => `${name}=${content}`)],
    ],
    spf: [isTxtMeasured, spf === undefined ? [] : includedBy(spf)],
    dmarc: [areMeasured(dns.dmarc), dns.dmarc.records.filter((txt) => POLICY.test(txt))],
    caa: [areMeasured(dns.caa), dns.caa.records.map(({ tag, value }) => `${tag} ${value}`)],
    certificate_name: [isTlsMeasured, tls.names],
    certificate_issuer: [isTlsMeasured, issuerOf(tls)],
    tag: [isPageMeasured, page?.tags ?? []],
    favicon: [
      hasNoWeb || target !== null || icon?.status === 'found' || icon?.status === 'missing',
      icon?.hash == null ? [] : [String(icon.hash)],
    ],
    redirect: [isPageMeasured, target === null ? [] : [target]],
  };
  const values = new Map<RecordKind, readonly string[]>();
  const unmeasured = new Set<RecordKind>();
  const digest = new Digest();
  for (const kind of RECORD_KINDS) {
    const [isKindMeasured, texts] = observed[kind];
    const all = distinct(kind, texts);
    const kept = all.slice(0, MAX_VALUES);
    // A list that is cut off, here or by the probe, does not show what is missing.
    const isComplete = isKindMeasured && all.length <= MAX_VALUES;
    if (kept.length > 0) values.set(kind, kept);
    if (!isComplete) unmeasured.add(kind);
    digest.addText(`${kind} ${isComplete} ${kept.join('\n')}\n\n`);
  }
  return { values, unmeasured, digest: digest.hex };
}

function areMeasured(...lookups: readonly Pick<Lookup<unknown>, 'status'>[]): boolean {
  return lookups.every(({ status }) => isMeasured(status));
}

/** The domain's own page, or the other domain it leads to. A page that is cut off, walled or a passing error does not show what is missing. */
function pageOf({ domain, http }: Evidence, hasNoWeb: boolean) {
  const host = http.status === 'found' && http.url !== null ? hostOfUrl(http.url) : null;
  const isOwn = host !== null && isWithin(host, domain);
  const target = host === null || isOwn ? null : (registrableDomain(host) ?? host);
  const page = isOwn ? http.page : null;
  const isOk = (http.statusCode ?? 500) < 400;
  const isRead = page !== null && !page.isTruncated;
  return { page, target: isOk ? target : null, isPageMeasured: (isOk && (isRead || target !== null)) || hasNoWeb };
}

function includedBy(spf: string): readonly string[] {
  const { mechanisms, redirect } = parseRecord(spf);
  const included = mechanisms.flatMap((each) => (each.kind === 'include' ? each.target.host : []));
  return redirect === null ? included : [...included, redirect.host];
}

function issuerOf({ issuer, issuerCommonName }: Evidence['tls']): readonly string[] {
  return [...new Set([issuer, issuerCommonName])].flatMap((name) => name ?? []).slice(0, 2);
}

function distinct(kind: RecordKind, texts: readonly string[]): readonly string[] {
  if (texts.length === 0) return texts;
  const values = new Set(texts.map((text) => recordValue(kind, text)));
  values.delete('');
  return [...values].sort();
}
