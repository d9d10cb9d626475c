// The mail and transport posture of a domain, part by part, from one reading of its evidence.
import type { Evidence, Lookup } from './evidence.ts';
import { caaIssuer } from './match-dns.ts';
import { measurementOf } from './measure.ts';
import { isDkimLabel } from './patterns.ts';
import type { Measurement, Posture } from './profile.ts';
import { type Reading, readEvidence } from './reading.ts';
import { scorePosture } from './score.ts';
import { cutText } from './text.ts';

/** Records are kept whole up to here; a valid SPF record that receivers read is far shorter. */
const MAX_RECORD_LENGTH = 2048;
const MAX_ISSUERS = 32;
const MAX_SELECTORS = 32;

type Parts = Omit<Posture, 'factors' | 'score' | 'grade' | 'coverage' | 'scoreVersion'>;

/** SPF, DMARC, DKIM, DNSSEC, CAA, MTA-STS, TLS-RPT, BIMI and TLS of a domain, with score and grade. */
export function assessPosture(evidence: Evidence): Posture {
  return posture(readEvidence(evidence));
}

/** As `assessPosture`, of evidence already read. */
export function posture(reading: Reading): Posture {
  const { dns } = reading.evidence;
  const { dmarcPolicy } = reading;
  const parts: Parts = {
    spf: spfPart(reading),
    dmarc: {
      status: recordStatus(reading.dmarc, dmarcPolicy.record !== null),
      record: dmarcPolicy.record === null ? null : cutText(dmarcPolicy.record, MAX_RECORD_LENGTH),
      policy: dmarcPolicy.policy,
      effectivePolicy: dmarcPolicy.effectivePolicy,
      subdomainPolicy: dmarcPolicy.subdomainPolicy,
      hasReporting: dmarcPolicy.hasReporting,
    },
    dkim: dkimPart(reading),
    dnssec: { status: measurementOf(dns.ds.status), isSigned: asClaim(measurementOf(dns.ds.status)) },
    caa: { status: measurementOf(dns.caa.status), issuers: caaIssuers(reading.evidence) },
    mtaSts: policyPart(reading.mtaSts, 'v=STSv1'),
    tlsRpt: policyPart(reading.tlsRpt, 'v=TLSRPTv1'),
    bimi: policyPart(reading.bimi, 'v=BIMI1'),
    tls: tlsPart(reading),
  };
  return { ...parts, ...scorePosture(parts, reading) };
}

function spfPart({ evidence, spf }: Reading): Posture['spf'] {
  const status = measurementOf(evidence.dns.txt.status);
  if (status === 'unmeasured') return { status, record: null, all: null, result: 'unmeasured' };
  return {
    status: spf.record === null ? 'absent' : 'observed',
    record: spf.record === null ? null : cutText(spf.record, MAX_RECORD_LENGTH),
    all: spf.all,
    result: spf.result,
  };
}

/** Measured where every selector that was asked for answered; that others exist can never be ruled out. */
function dkimPart({ named }: Reading): Posture['dkim'] {
  const selectors: string[] = [];
  let isComplete = false;
  let hasFailure = false;
  for (const [label, lookup] of named) {
    if (!isDkimLabel(label)) continue;
    const measurement = measurementOf(lookup.status);
    if (measurement === 'unmeasured') hasFailure = true;
    else isComplete = true;
    if (lookup.records.some(isDkimKey) && selectors.length < MAX_SELECTORS)
      selectors.push(label.slice(0, -'._domainkey'.length));
  }
  const status = selectors.length > 0 ? 'observed' : isComplete && !hasFailure ? 'absent' : 'unmeasured';
  return { status, selectors: selectors.sort() };
}

/** RFC 6376 §3.6.1: an empty `p=` is a revoked key. */
function isDkimKey(record: string): boolean {
  return /(?:^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(record.slice(0, MAX_RECORD_LENGTH));
}

function caaIssuers({ dns }: Evidence): readonly string[] {
  const issuers = dns.caa.records
    .filter(({ tag }) => /^issue(?:wild)?$/i.test(tag))
    .map(({ value }) => cutText(caaIssuer(value), 253))
    .filter((issuer) => issuer !== '');
  return [...new Set(issuers)].sort().slice(0, MAX_ISSUERS);
}

/** A policy is published by exactly one record of its version; several are none (RFC 8461 §3.1, RFC 8460 §3). */
function policyPart(lookup: Lookup<string>, version: string): { status: Measurement; hasRecord: boolean | null } {
  const matching = lookup.records.filter((record) => isVersion(record, version));
  const status = recordStatus(lookup, matching.length === 1);
  return { status, hasRecord: asClaim(status) };
}

function isVersion(record: string, version: string): boolean {
  const rest = record.slice(version.length, version.length + 16).trimStart();
  return record.startsWith(version) && (rest === '' || rest.startsWith(';'));
}

/** Other records under the name are not the policy: a measured look-up without it is `absent`. */
function recordStatus(lookup: Lookup<string>, hasRecord: boolean): Measurement {
  const status = measurementOf(lookup.status);
  return status === 'observed' && !hasRecord ? 'absent' : status;
}

function asClaim(status: Measurement): boolean | null {
  return status === 'unmeasured' ? null : status === 'observed';
}

function tlsPart({ evidence, hasOwnCertificate, hasNoWeb }: Reading): Posture['tls'] {
  const { status, protocol, isTrusted, problem, validTo } = evidence.tls;
  if (hasOwnCertificate) return { status: 'observed', protocol, isTrusted, problem, validTo };
  // A site that answers over HTTP and refuses port 443 was measured: it has no TLS.
  const isRefused = status === 'refused' && evidence.http.status === 'found';
  const measurement = (hasNoWeb && status !== 'found') || isRefused ? 'absent' : 'unmeasured';
  return { status: measurement, protocol: null, isTrusted: null, problem: null, validTo: null };
}
