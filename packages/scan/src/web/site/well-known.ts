// Files at places that standards name: the MTA-STS policy (RFC 8461) and security.txt (RFC 9116).
import { type FileEvidence, registrableDomain } from '@strata/detect';
import { redirectTarget } from '../redirect.ts';
import { type Answered, isWall } from './response-evidence.ts';
import type { Failure, SiteVisit } from './site-visit.ts';

/** As much of a file as is kept: hundreds of exchanges, or keys and contacts in many languages. */
const MAX_KEPT_BYTES = 16 * 1024;
const MAX_REDIRECTS = 5;
const WANTED = { accept: 'text/plain, */*;q=0.1', maxBodyBytes: MAX_KEPT_BYTES } as const;

export function noFile(status: FileEvidence['status'], detail: string): FileEvidence {
  return { status, statusCode: null, contentType: null, text: '', detail };
}

/**
 * As a sending server fetches it (RFC 8461 §3.3): the certificate must be trusted, and no redirect is followed. A policy
 * is whole or none, since a part of it would read as another policy.
 */
export async function fetchMtaSts(visit: SiteVisit): Promise<FileEvidence> {
  const url = new URL(`https://mta-sts.${visit.domain}/.well-known/mta-sts.txt`);
  const answer = await visit.page(url, { ...WANTED, isVerified: true });
  if (!('kind' in answer)) return unreached(answer);
  if (answer.statusCode !== 200) return withoutFile(answer);
  if (answer.isTruncated) return { ...seen(answer), status: 'failed', detail: 'longer than 16 KiB, or cut off' };
  if (!isPlainText(answer)) return { ...seen(answer), status: 'failed', detail: 'not text/plain' };
  return fileOf(answer);
}

/**
 * Redirects are followed within the domain. A page in place of the file, as many sites give for anything, is none; of a
 * file that does not end the beginning counts.
 */
export async function fetchSecurityTxt(visit: SiteVisit): Promise<FileEvidence> {
  let url = new URL(`https://${visit.domain}/.well-known/security.txt`);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await visit.page(url, WANTED);
    if (!('kind' in answer)) return unreached(answer);
    const next = redirectTarget(answer.statusCode, answer.headers.location, url);
    if (next === undefined) {
      if (answer.statusCode !== 200) return withoutFile(answer);
      return isPlainText(answer) && !isMarkup(answer) ? fileOf(answer) : { ...seen(answer), status: 'missing' };
    }
    // RFC 9116 §3 asks for HTTPS; where it leads to another owner is not visited in this scan.
    if (next.protocol !== 'https:' || registrableDomain(next.hostname) !== visit.domain)
      return { ...seen(answer), status: 'skipped', detail: `sent on to ${next.origin}`.slice(0, 300) };
    url = next;
  }
  return noFile('failed', 'the redirects do not end');
}

function seen({ statusCode, headers }: Answered): Omit<FileEvidence, 'status'> {
  return { statusCode, contentType: headers['content-type']?.slice(0, 200) ?? null, text: '' };
}

function fileOf(answer: Answered): FileEvidence {
  const text = answer.body.toString('utf8');
  return { ...seen(answer), status: 'found', text, ...(answer.isTruncated ? { detail: 'only its beginning' } : {}) };
}

/** Every answer but 200. Only 404 and 410 say that there is no such file. */
function withoutFile(answer: Answered): FileEvidence {
  const { statusCode } = answer;
  const status = statusCode === 404 || statusCode === 410 ? 'missing' : isWall(answer) ? 'blocked' : 'failed';
  return { ...seen(answer), status, ...(status === 'failed' ? { detail: `answered ${statusCode}` } : {}) };
}

/** A host that is not there has no file. */
function unreached({ status, detail }: Failure): FileEvidence {
  return noFile(status === 'skipped' ? 'missing' : status, detail);
}

function isPlainText({ headers }: Answered): boolean {
  return /^\s*text\/plain\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

function isMarkup({ body }: Answered): boolean {
  return /^\s*</.test(body.toString('latin1', 0, 512));
}
