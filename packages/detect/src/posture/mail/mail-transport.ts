// Transport security of mail to the domain, as published by the domain: MTA-STS (RFC 8461) and TLS-RPT (RFC 8460).
import type { FileEvidence, Lookup } from '../../evidence/evidence.ts';
import { isPassingError, type Reading } from '../../evidence/reading.ts';
import type { MtaStsProblem, Posture } from '../../profile.ts';
import { asClaim, onlyRecordOf, recordProblemOf, statusOf, tagsOf } from '../published.ts';

/** RFC 8461 §3.2: about a year; weeks or more are recommended. */
const MAX_AGE_LIMIT = 31_557_600;
const SHORT_MAX_AGE = 86_400;
const MAX_LINES = 512;
const MAX_PATTERNS = 64;

interface StsPolicy {
  readonly mode: 'enforce' | 'testing' | 'none';
  readonly maxAge: number;
  readonly mx: readonly string[];
}

/** The record, and the policy file if it was requested. */
export function mtaStsPart(reading: Reading): Posture['mtaSts'] {
  const { mtaSts } = reading.evidence.dns;
  const record = onlyRecordOf(mtaSts, 'v=STSv1');
  const status = statusOf(mtaSts, record !== null);
  const base = { status, hasRecord: asClaim(status), mode: null, maxAge: null };
  if (record === null) return { ...base, problem: recordProblemOf(mtaSts, 'v=STSv1') };
  // §3.1: 1 to 32 letters and digits; it changes with the policy.
  if (!/^[a-z0-9]{1,32}$/i.test(tagsOf(record)?.get('id') ?? '')) return { ...base, problem: 'bad-id' };
  const file = reading.evidence.files?.mtaSts;
  if (!file || !isSettled(file)) return { ...base, problem: null };
  if (file.status === 'failed') return { ...base, problem: file.statusCode === 200 ? 'bad-policy' : 'no-policy' };
  if (file.status === 'missing') return { ...base, problem: 'no-policy' };
  const policy = readPolicy(file.text);
  if (policy === null) return { ...base, problem: 'bad-policy' };
  return { ...base, mode: policy.mode, maxAge: policy.maxAge, problem: problemOf(policy, reading) };
}

/**
 * §3.3: for senders a redirect, an error, or a file that is not text/plain means no policy, so these are measurements. A
 * transient failure, a missing request or a wall does not show whether the file exists.
 */
function isSettled({ status, statusCode, contentType }: FileEvidence): boolean {
  if (status !== 'failed') return status === 'found' || status === 'missing';
  if (statusCode === 200) return !/^\s*text\/plain\s*(?:;|$)/i.test(contentType ?? '');
  return statusCode !== null && statusCode >= 300 && !isPassingError(statusCode);
}

function problemOf(
  { mx, mode, maxAge }: StsPolicy,
  { evidence, mail, hasNullMx, exchanges }: Reading,
): MtaStsProblem | null {
  // RFC 5321 §5.1: without MX records the domain itself is the exchange.
  const hosts = mail === 'none' && !hasNullMx ? [evidence.domain] : exchanges.map(({ host }) => host);
  if (mode !== 'none' && hosts.some((host) => !mx.some((pattern) => matchesHost(pattern, host)))) return 'mx-mismatch';
  return mode !== 'none' && maxAge < SHORT_MAX_AGE ? 'short-max-age' : null;
}

/** §4.1: `*.` matches one label. */
function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === pattern.slice(1);
}

/** §3.2: lines of `key: value`; the first of a key counts, except for `mx`. */
function readPolicy(text: string): StsPolicy | null {
  const mx: string[] = [];
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/, MAX_LINES)) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (key === 'mx' && mx.length < MAX_PATTERNS) mx.push(value.toLowerCase().replace(/\.$/, ''));
    else if (key !== '' && !fields.has(key)) fields.set(key, value);
  }
  const mode = fields.get('mode');
  const maxAge = /^\d{1,10}$/.test(fields.get('max_age') ?? '') ? Number(fields.get('max_age')) : Number.NaN;
  if (fields.get('version') !== 'STSv1' || !(maxAge <= MAX_AGE_LIMIT)) return null;
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return null;
  return mode !== 'none' && mx.length === 0 ? null : { mode, maxAge, mx };
}

/** RFC 8460 §3: where failure reports are sent, by mail or HTTPS. */
export function tlsRptPart(lookup: Lookup<string>): Posture['tlsRpt'] {
  const record = onlyRecordOf(lookup, 'v=TLSRPTv1');
  const status = statusOf(lookup, record !== null);
  if (record === null) {
    const hasAddress = status === 'unmeasured' ? null : false;
    return { status, hasRecord: asClaim(status), hasAddress, problem: recordProblemOf(lookup, 'v=TLSRPTv1') };
  }
  const addresses = tagsOf(record)?.get('rua') ?? '';
  const hasAddress = addresses
    .split(',', MAX_PATTERNS)
    .some((uri) => /^\s*(?:mailto:[^@\s]+@[^@\s]+|https:\/\/[^\s/]+\S*)\s*$/i.test(uri));
  return {
    status,
    hasRecord: asClaim(status),
    hasAddress: status === 'unmeasured' ? null : hasAddress,
    problem: null,
  };
}
