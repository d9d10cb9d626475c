// Files at standard locations: the MTA-STS policy (RFC 8461) and security.txt (RFC 9116).
import { type FileEvidence, registrableDomain } from '@strata/detect';
import { redirectTarget } from '../redirect.ts';
import { type Answered, isBlockedStatus } from './response-evidence.ts';
import type { Failure, SiteVisit } from './site-visit.ts';

/** Bytes kept of a file: hundreds of exchanges, or keys and contacts in many languages. */
const MAX_KEPT_BYTES = 16 * 1024;
const MAX_REDIRECTS = 5;
const WANTED = { accept: 'text/plain, */*;q=0.1', maxBodyBytes: MAX_KEPT_BYTES } as const;

export function noFile(status: FileEvidence['status'], detail: string): FileEvidence {
  return { status, statusCode: null, contentType: null, text: '', detail };
}

/**
 * Fetches the policy as a sending server does (RFC 8461 §3.3): the certificate must be trusted, and redirects are not followed. A
 * truncated policy is rejected, since a part of it could be read as another policy.
 */
export async function fetchMtaSts(visit: SiteVisit): Promise<FileEvidence> {
  const url = new URL(`https://mta-sts.${visit.domain}/.well-known/mta-sts.txt`);
  const answer = await visit.page(url, { ...WANTED, isVerified: true });
  if (!('kind' in answer)) return unreached(answer);
  if (answer.statusCode !== 200) return withoutFile(answer);
  if (answer.isTruncated) return { ...fileHead(answer), status: 'failed', detail: 'longer than 16 KiB, or cut off' };
  if (!isPlainText(answer)) return { ...fileHead(answer), status: 'failed', detail: 'not text/plain' };
  return fileOf(answer);
}

/**
 * Follows redirects within the domain. An HTML page in the position of the file, which many sites serve for any path, counts as
 * missing. An oversized file is kept up to the limit.
 */
export async function fetchSecurityTxt(visit: SiteVisit): Promise<FileEvidence> {
  let url = new URL(`https://${visit.domain}/.well-known/security.txt`);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await visit.page(url, WANTED);
    if (!('kind' in answer)) return unreached(answer);
    const next = redirectTarget(answer.statusCode, answer.headers.location, url);
    if (next === undefined) {
      if (answer.statusCode !== 200) return withoutFile(answer);
      return isPlainText(answer) && !isMarkup(answer) ? fileOf(answer) : { ...fileHead(answer), status: 'missing' };
    }
    // RFC 9116 §3 requires HTTPS; a redirect to another owner's domain is not followed in this scan.
    if (next.protocol !== 'https:' || registrableDomain(next.hostname) !== visit.domain)
      return { ...fileHead(answer), status: 'skipped', detail: `redirected to ${next.origin}`.slice(0, 300) };
    url = next;
  }
  return noFile('failed', 'too many redirects');
}

function fileHead({ statusCode, headers }: Answered): Omit<FileEvidence, 'status'> {
  return { statusCode, contentType: headers['content-type']?.slice(0, 200) ?? null, text: '' };
}

function fileOf(answer: Answered): FileEvidence {
  const text = answer.body.toString('utf8');
  return {
    ...fileHead(answer),
    status: 'found',
    text,
    ...(answer.isTruncated ? { detail: 'only its beginning' } : {}),
  };
}

/** For every answer but 200. Only 404 and 410 mean that the file does not exist. */
function withoutFile(answer: Answered): FileEvidence {
  const { statusCode } = answer;
  const status = statusCode === 404 || statusCode === 410 ? 'missing' : isBlockedStatus(answer) ? 'blocked' : 'failed';
  return { ...fileHead(answer), status, ...(status === 'failed' ? { detail: `answered ${statusCode}` } : {}) };
}

/** A host that does not exist has no file. */
function unreached({ status, detail }: Failure): FileEvidence {
  return noFile(status === 'skipped' ? 'missing' : status, detail);
}

function isPlainText({ headers }: Answered): boolean {
  return /^\s*text\/plain\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

function isMarkup({ body }: Answered): boolean {
  return /^\s*</.test(body.toString('latin1', 0, 512));
}
