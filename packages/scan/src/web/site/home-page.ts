// The home page of a domain, following redirects as long as they stay with the domain, and the handshake on the way.
import { type HttpEvidence, registrableDomain, type TlsEvidence } from '@strata/detect';
import { isWeb, redirectTarget } from '../redirect.ts';
import { tlsNone } from './certificate.ts';
import { evidenceOf } from './response-evidence.ts';
import type { Failure, SiteVisit } from './site-visit.ts';

export interface HomePage {
  readonly http: HttpEvidence;
  readonly tls: TlsEvidence;
}

const MAX_REDIRECTS = 5;

const nothing = { url: null, redirects: [], statusCode: null, headers: {}, cookies: [], page: null } as const;

export function noHomePage(detail: string): HomePage {
  return { http: { status: 'skipped', ...nothing, detail }, tls: tlsNone('skipped') };
}

/**
 * Visits `https://{domain}/`, then `http://` when that cannot be reached; `www` when the domain itself has no address.
 * Rejects only when the visit's signal aborts.
 */
export async function visitHomePage(visit: SiteVisit): Promise<HomePage> {
  const apex = await visitHost(visit, visit.domain);
  const hasNoAddress = apex.http.status === 'skipped' && apex.http.redirects.length === 0;
  return hasNoAddress ? visitHost(visit, `www.${visit.domain}`) : apex;
}

async function visitHost(visit: SiteVisit, host: string): Promise<HomePage> {
  const secure = await follow(visit, new URL(`https://${host}/`));
  const { status, statusCode, redirects } = secure.http;
  if (statusCode !== null || status === 'blocked' || status === 'skipped' || redirects.length > 0) return secure;
  const plain = await follow(visit, new URL(`http://${host}/`));
  if (plain.http.status !== 'found' && plain.http.status !== 'blocked') return secure;
  // A plain site that sends on to HTTPS elsewhere brings its own handshake; otherwise the failed one is what we know.
  return { http: plain.http, tls: plain.tls.status === 'found' ? plain.tls : secure.tls };
}

async function follow(visit: SiteVisit, start: URL): Promise<HomePage> {
  let tls = tlsNone('skipped');
  const onTls = (seen: TlsEvidence) => {
    if (tls.status !== 'found') tls = seen;
  };
  const redirects: string[] = [];
  let url = start;
  for (;;) {
    const answer = await visit.page(url, { onTls });
    if (!('kind' in answer)) return failed(answer, url, { redirects, tls });
    const next = redirectTarget(answer.statusCode, answer.headers.location, url);
    if (!next || !isWeb(next)) return { http: evidenceOf(answer, { url, redirects }, visit), tls };
    redirects.push(url.href);
    // To another owner's domain: where it leads is the finding; that site is not ours to visit in this scan.
    if (registrableDomain(next.hostname) !== visit.domain)
      return { http: { ...evidenceOf(answer, { url: next, redirects }, visit), page: null }, tls };
    if (redirects.includes(next.href) || redirects.length > MAX_REDIRECTS) {
      const detail = 'the redirects do not end';
      return { http: { ...evidenceOf(answer, { url, redirects }, visit), status: 'failed', detail }, tls };
    }
    url = next;
  }
}

function failed(
  { status, detail }: Failure,
  url: URL,
  { redirects, tls }: { readonly redirects: readonly string[]; readonly tls: TlsEvidence },
): HomePage {
  const isUnseen = tls.status !== 'found' && url.protocol === 'https:';
  return {
    http: { status, ...nothing, url: url.href, redirects, detail },
    tls: isUnseen ? tlsNone(status === 'blocked' ? 'failed' : status) : tls,
  };
}
