// Interprets the evidence before matching: which records may be used, given wildcard answers, null MX, redirects and
// bot walls.

import { hostOfUrl, isWithin, registrableDomain } from '../names/names.ts';
import { type Dmarc, readDmarc } from '../posture/mail/dmarc-policy.ts';
import { spfOf } from '../spf/policy.ts';
import type { SpfPolicy } from '../spf/types.ts';
import { type Evidence, isFailed, isMeasured, type Lookup, type MxRecord } from './evidence.ts';

interface MailExchange {
  readonly host: string;
  /** Has the lowest preference value; several may. */
  readonly isPreferred: boolean;
}

/**
 * The origin of the HTTP answer: `own`, the site's own; `redirect`, its redirect to another owner, headers without a page;
 * `wall`, a bot wall; `elsewhere`, another domain's after such a redirect; `none`, no answer.
 */
export type WebAnswer = 'own' | 'redirect' | 'wall' | 'elsewhere' | 'none';

export interface NamedAnswer {
  /** Relative to the domain: `selector1._domainkey`. */
  readonly label: string;
  readonly lookup: Lookup<string>;
}

/**
 * Look-ups that were made and failed. Evidence that a failed look-up could overrule is not used; otherwise a time-out would
 * look like a new provider.
 */
export interface Failures {
  readonly ns: boolean;
  readonly mx: boolean;
  readonly txt: boolean;
  /** A policy that the SPF record references. */
  readonly policies: boolean;
  readonly dmarc: boolean;
  /** Any of the labels that the rulebook requests. */
  readonly named: boolean;
  /** The addresses, and therefore the aliases, of the apex or www. */
  readonly aliases: boolean;
  /** The network of an address of the apex or www. */
  readonly networks: boolean;
  /** There is a web site, but only a transient error, a wall or nothing was received. */
  readonly web: boolean;
  readonly tls: boolean;
}

export interface Reading {
  readonly evidence: Evidence;
  readonly existence: 'exists' | 'nonexistent' | 'unmeasured';
  /** `none`: measured, and no MX accepts mail (a null MX, RFC 7505, or no MX). */
  readonly mail: 'exchanges' | 'none' | 'unmeasured';
  readonly hasNullMx: boolean;
  readonly exchanges: readonly MailExchange[];
  /** The policy in the apex's TXT records, followed as far as records were looked up. */
  readonly spf: SpfPolicy;
  readonly dmarc: Lookup<string>;
  /** The names of mail policies with an alias, which leads to the provider that keeps the policy. No wildcard answers. */
  readonly hostedPolicies: readonly Lookup<string>[];
  /** The policy in `dmarc`'s records, or a parent's. */
  readonly dmarcPolicy: Dmarc;
  /**
   * The requested labels that have an answer, except wildcard answers, and those whose look-up was not measured.
   * The other labels have no records.
   */
  readonly named: readonly NamedAnswer[];
  readonly webAnswer: WebAnswer;
  readonly redirectsTo: string | null;
  /** The apex redirects to www, and a different network announces www. */
  readonly leadsToWww: boolean;
  /** The domain's own page offers the name for sale. */
  readonly isForSale: boolean;
  /** The certificate was presented for this domain. */
  readonly hasOwnCertificate: boolean;
  readonly failures: Failures;
  /** Measured: neither the apex nor www has an address, so there is no web site. */
  readonly hasNoWeb: boolean;
}

/** Interprets evidence once; matching and judging use the result. */
export function readEvidence(evidence: Evidence): Reading {
  const { dns } = evidence;
  const exchanges = mailExchanges(dns.mx);
  const redirectsTo = foreignTarget(evidence);
  const { wildcardTxt, wildcardA } = dns;
  const hasWildcard = answers(wildcardTxt) || answers(wildcardA);
  const own = (lookup: Lookup<string>) =>
    hasWildcard && (isSameAnswer(lookup, wildcardTxt) || isSameAnswer(lookup, wildcardA)) ? NO_ANSWER : lookup;
  const dmarc = own(dns.dmarc);
  const named: NamedAnswer[] = [];
  let hasFailedLabel = false;
  for (const label in dns.named) {
    const lookup = dns.named[label];
    // True of nearly all labels of nearly all domains.
    if (!lookup || (isMeasured(lookup.status) && !answers(lookup))) continue;
    if (isFailed(lookup.status)) hasFailedLabel = true;
    if (own(lookup) !== NO_ANSWER) named.push({ label, lookup });
  }
  const webAnswer = webAnswerOf(evidence, redirectsTo);
  const hasOwnCertificate = evidence.tls.status === 'found' && (webAnswer !== 'elsewhere' || coversDomain(evidence));
  const hasNoWeb = isVoid(dns.a) && isVoid(dns.aaaa) && isVoid(dns.www);
  return {
    evidence,
    existence: existenceOf(evidence),
    mail: exchanges.length > 0 ? 'exchanges' : isMeasured(dns.mx.status) ? 'none' : 'unmeasured',
    hasNullMx: dns.mx.records.length > 0 && dns.mx.records.every(({ exchange }) => exchange === ''),
    exchanges,
    spf: spfOf(evidence),
    dmarc,
    hostedPolicies: [dmarc, ...[dns.mtaSts, dns.tlsRpt, dns.bimi].map(own)].filter(({ aliases }) => aliases.length > 0),
    dmarcPolicy: readDmarc(evidence.domain, dmarc, evidence.policies),
    named,
    webAnswer,
    redirectsTo,
    leadsToWww: leadsToWww(evidence),
    isForSale: webAnswer === 'own' && !isPassingError(evidence.http.statusCode) && offersDomain(evidence),
    hasOwnCertificate,
    failures: {
      ns: isFailed(dns.ns.status),
      mx: isFailed(dns.mx.status),
      txt: isFailed(dns.txt.status),
      policies: evidence.policies !== undefined && hasFailure(evidence.policies.spf),
      dmarc: isFailed(dns.dmarc.status),
      named: hasFailedLabel,
      aliases: isFailed(dns.a.status) || isFailed(dns.aaaa.status) || isFailed(dns.www.status),
      networks: evidence.addresses.some(({ use, status }) => (use === 'web' || use === 'www') && isFailed(status)),
      web: !hasNoWeb && isUnseen(evidence, webAnswer),
      tls: !hasNoWeb && !hasOwnCertificate && evidence.tls.status !== 'skipped',
    },
    hasNoWeb,
  };
}

const NO_ANSWER: Lookup<string> = { status: 'empty', records: [], aliases: [], detail: 'the wildcard answer' };

function isRedirect(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 300 && statusCode < 400;
}

/** A transient server error; a 404 or 403 is an answer of the site. */
export function isPassingError(statusCode: number | null): boolean {
  return statusCode !== null && (statusCode >= 500 || statusCode === 408 || statusCode === 429);
}

/** A wall's answer lacks what the site behind it would have shown. */
function isUnseen({ http }: Evidence, webAnswer: WebAnswer): boolean {
  if (webAnswer === 'wall') return true;
  if (webAnswer === 'own') return isPassingError(http.statusCode);
  return webAnswer === 'none' && http.status !== 'skipped';
}

function existenceOf({ dns }: Evidence): Reading['existence'] {
  const atApex: readonly Lookup<unknown>[] = [dns.ns, dns.soa, dns.a, dns.aaaa, dns.mx, dns.txt];
  if (atApex.some(({ status }) => status === 'found' || status === 'empty')) return 'exists';
  return atApex.some(({ status }) => status === 'nxdomain') ? 'nonexistent' : 'unmeasured';
}

/**
 * Exchanges that receive mail. `.invalid` names (RFC 2606) never do: providers request such a record to verify a domain
 * (`ms12345678.msv1.invalid`), and it is not removed afterwards.
 */
export function mailExchanges({ records }: Lookup<MxRecord>): MailExchange[] {
  const receiving = records.every(receives) ? records : records.filter(receives);
  let lowest = Number.POSITIVE_INFINITY;
  for (const { preference } of receiving) if (preference < lowest) lowest = preference;
  return receiving.map(({ preference, exchange }) => ({ host: exchange, isPreferred: preference === lowest }));
}

function receives({ exchange }: MxRecord): boolean {
  return exchange !== '' && !exchange.endsWith('.invalid');
}

/** The registrable domain of another owner that answered instead of this domain. */
function foreignTarget({ domain, http }: Evidence): string | null {
  if (http.url === null || (http.status !== 'found' && http.status !== 'blocked')) return null;
  const host = hostOfUrl(http.url);
  if (host === null || isWithin(host, domain)) return null;
  const target = registrableDomain(host);
  return target === domain ? null : target;
}

function webAnswerOf({ http }: Evidence, redirectsTo: string | null): WebAnswer {
  if (redirectsTo !== null) return isRedirect(http.statusCode) ? 'redirect' : 'elsewhere';
  if (http.status === 'found') return 'own';
  return http.status === 'blocked' ? 'wall' : 'none';
}

function leadsToWww({ domain, addresses, http }: Evidence): boolean {
  if (http.redirects.length === 0 || http.url === null || hostOfUrl(http.url) !== `www.${domain}`) return false;
  const networkOf = (wanted: 'web' | 'www') => addresses.find(({ use }) => use === wanted)?.asn ?? null;
  const [apex, www] = [networkOf('web'), networkOf('www')];
  return apex !== null && www !== null && apex !== www;
}

const OFFER = /\b(?:is|may be) for sale\b|\bbuy this domain\b|\bdomain (?:name )?for sale\b/i;

/** Sellers put the name and the offer into the title; a page about selling domains does not name this one. */
function offersDomain({ domain, http }: Evidence): boolean {
  const title = http.page?.title ?? '';
  return title.toLowerCase().includes(domain) && OFFER.test(title);
}

function coversDomain({ domain, tls }: Evidence): boolean {
  return tls.names.some((name) => name === domain || name === `www.${domain}` || name === `*.${domain}`);
}

function isVoid({ status, records }: Lookup<string>): boolean {
  return records.length === 0 && isMeasured(status);
}

function hasFailure(lookups: Readonly<Record<string, Lookup<string>>>): boolean {
  for (const name of Object.keys(lookups)) if (isFailed(lookups[name]?.status ?? 'skipped')) return true;
  return false;
}

function answers(lookup: Lookup<string>): boolean {
  return lookup.records.length > 0 || lookup.aliases.length > 0;
}

/** A random label got the same answer: the zone answers any name so, and this name does not exist. */
function isSameAnswer(lookup: Lookup<string>, wildcard: Lookup<string>): boolean {
  if (!answers(lookup) || !answers(wildcard)) return false;
  if (wildcard.aliases.length > 0) return isSameList(lookup.aliases, wildcard.aliases);
  return lookup.aliases.length === 0 && isSameList(lookup.records.toSorted(), wildcard.records.toSorted());
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
