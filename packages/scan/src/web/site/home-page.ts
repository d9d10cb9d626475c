// The home page of a domain: follows redirects within the domain, and records the TLS handshake.
import { type HttpEvidence, registrableDomain, type TlsEvidence } from '@strata/detect';
import { isWeb, redirectTarget } from '../redirect.ts';
import { noTls } from './certificate.ts';
import { evidenceOf } from './response-evidence.ts';
import type { Failure, SiteVisit } from './site-visit.ts';

export interface HomePage {
  readonly http: HttpEvidence;
  readonly tls: TlsEvidence;
}

const MAX_REDIRECTS = 5;

const nothing = { url: null, redirects: [], statusCode: null, headers: {}, cookies: [], page: null } as const;

export function noHomePage(detail: string): HomePage {
  return { http: { status: 'skipped', ...nothing, detail }, tls: noTls('skipped') };
}

/**
 * Visits `https://{domain}/`, then `http://` if that is unreachable; `www` if the domain itself has no address. Rejects only if the
 * visit's signal aborts.
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
  // A plain site that redirects to HTTPS has its own handshake; otherwise the failed handshake is the evidence.
  return { http: plain.http, tls: plain.tls.status === 'found' ? plain.tls : secure.tls };
}

async function follow(visit: SiteVisit, start: URL): Promise<HomePage> {
  let tls = noTls('skipped');
  const onTls = (handshake: TlsEvidence) => {
    if (tls.status !== 'found') tls = handshake;
  };
  const redirects: string[] = [];
  let url = start;
  for (;;) {
    const answer = await visit.page(url, { onTls });
    if (!('kind' in answer)) return failed(answer, url, { redirects, tls });
    const next = redirectTarget(answer.statusCode, answer.headers.location, url);
    if (!next || !isWeb(next)) return { http: evidenceOf(answer, { url, redirects }, visit), tls };
    redirects.push(url.href);
    // A redirect to another owner's domain is evidence in itself; that site is not part of this scan.
    if (registrableDomain(next.hostname) !== visit.domain)
      return { http: { ...evidenceOf(answer, { url: next, redirects }, visit), page: null }, tls };
    if (redirects.includes(next.href) || redirects.length > MAX_REDIRECTS) {
      const detail = 'too many redirects';
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
  const hasNoHandshake = tls.status !== 'found' && url.protocol === 'https:';
  return {
    http: { status, ...nothing, url: url.href, redirects, detail },
    tls: hasNoHandshake ? noTls(status === 'blocked' ? 'failed' : status) : tls,
  };
}
