// The web part of a probe: robots.txt, then the home page, following redirects as long as they stay with the domain.
import { extractPage, type HttpEvidence, type Lookup, registrableDomain, type TlsEvidence } from '@strata/detect';
import robotsParser, { type Robot } from 'robots-parser';
import type { Verdict } from './address-guard.ts';
import { tlsNone } from './certificate.ts';
import type { KeyedLimit } from './keyed-limit.ts';
import type { Visit, WebClient } from './web-client.ts';

export interface HomePageParts {
  readonly client: WebClient;
  readonly guard: (address: string) => Verdict;
  /** Addresses of a host, by the resolver that the rest of the probe uses. */
  readonly addressesOf: (host: string) => Promise<Lookup<string>>;
  readonly perAddress: KeyedLimit;
  readonly userAgent: string;
}

export interface WebEvidence {
  readonly http: HttpEvidence;
  readonly tls: TlsEvidence;
}

const MAX_REDIRECTS = 5;
/** What a wall against robots answers with: the site is there, and we were kept out. */
const WALL_STATUS = new Set([401, 403, 407, 429, 451, 503]);
const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);

const nothing = { url: null, redirects: [], statusCode: null, headers: {}, cookies: [], page: null } as const;

export function webSkipped(detail: string): WebEvidence {
  return { http: { status: 'skipped', ...nothing, detail }, tls: tlsNone('skipped') };
}

/** Visits `https://{domain}/`, then `http://` when that cannot be reached. */
export async function visitHomePage(parts: HomePageParts, domain: string, signal?: AbortSignal): Promise<WebEvidence> {
  const secure = await follow(parts, new URL(`https://${domain}/`), domain, signal);
  if (secure.http.statusCode !== null || secure.http.status === 'blocked' || secure.http.redirects.length > 0)
    return secure;
  const plain = await follow(parts, new URL(`http://${domain}/`), domain, signal);
  if (plain.http.status !== 'found' && plain.http.status !== 'blocked') return secure;
  // A plain site that sends on to HTTPS elsewhere brings its own handshake; otherwise the failed one is what we know.
  return { http: plain.http, tls: plain.tls.status === 'found' ? plain.tls : secure.tls };
}

async function follow(parts: HomePageParts, start: URL, domain: string, signal?: AbortSignal): Promise<WebEvidence> {
  const redirects: string[] = [];
  const visited = new Set<string>();
  let url = start;
  let tls = tlsNone('skipped');
  for (;;) {
    const failed = (status: HttpEvidence['status'], detail: string): WebEvidence => ({
      http: { status, ...nothing, url: url.href, redirects, detail },
      tls:
        tls.status === 'found' || url.protocol === 'http:'
          ? tls
          : tlsNone(
              status === 'timeout' || status === 'refused' ? status : status === 'skipped' ? 'skipped' : 'failed',
            ),
    });
    const address = await checkedAddress(parts, url);
    if ('problem' in address) return failed(address.status, address.problem);
    const visit = (target: URL) =>
      parts.perAddress.run(address.address, () => parts.client.get(target, address.address, signal));

    const robots = await visit(new URL('/robots.txt', url));
    if (robots.tls && tls.status !== 'found') tls = robots.tls;
    if (robots.kind === 'failed' && robots.reason !== 'failed') return failed(robots.reason, robots.detail);
    if (!isWelcome(robots, url, parts.userAgent)) return failed('blocked', 'robots.txt keeps robots out');

    const answer = await visit(url);
    if (answer.tls && tls.status !== 'found') tls = answer.tls;
    if (answer.kind === 'failed') return failed(answer.reason, answer.detail);
    const next = redirectTarget(answer, url);
    if (!next) return { http: evidenceOf(answer, url, redirects), tls };

    visited.add(url.href);
    redirects.push(url.href);
    // To another owner's domain: where it leads is the finding; that site is not ours to visit in this scan.
    if (registrableDomain(next.hostname) !== domain)
      return { http: { ...evidenceOf(answer, next, redirects), page: null }, tls };
    if (visited.has(next.href) || redirects.length > MAX_REDIRECTS) {
      return {
        http: { ...evidenceOf(answer, url, redirects), status: 'failed', detail: 'the redirects do not end' },
        tls,
      };
    }
    url = next;
  }
}

/** The address to dial, looked up and judged now, so that no later answer can swap it (DNS rebinding). */
async function checkedAddress(
  parts: HomePageParts,
  url: URL,
): Promise<{ address: string } | { problem: string; status: 'refused' | 'failed' | 'timeout' | 'skipped' }> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.port !== '' && url.port !== '80' && url.port !== '443')
    return { problem: 'only ports 80 and 443 are visited', status: 'refused' };
  const { status, records } = await parts.addressesOf(host);
  const [address] = records;
  if (address === undefined) {
    if (status === 'empty' || status === 'nxdomain') return { problem: 'the name has no address', status: 'skipped' };
    return {
      problem: `the address could not be looked up: ${status}`,
      status: status === 'timeout' ? 'timeout' : 'failed',
    };
  }
  const verdict = parts.guard(address);
  return verdict.isAllowed ? { address } : { problem: `not dialled: ${verdict.reason}`, status: 'refused' };
}

// The package is CommonJS and its types describe an ES module: the default import is the function itself.
const parseRobots = robotsParser as unknown as (url: string, contents: string) => Robot;

/** RFC 9309: missing rules allow, a server error forbids, a redirect is left to the page's own redirect. */
function isWelcome(robots: Visit, page: URL, userAgent: string): boolean {
  if (robots.kind === 'failed') return true;
  if (robots.statusCode >= 500) return false;
  if (robots.statusCode !== 200) return true;
  const rules = parseRobots(new URL('/robots.txt', page).href, robots.body.toString('utf8'));
  return rules.isAllowed(page.href, userAgent.split('/')[0] ?? userAgent) !== false;
}

type Answered = Extract<Visit, { kind: 'answered' }>;

function redirectTarget(answer: Answered, base: URL): URL | undefined {
  const { location } = answer.headers;
  if (!REDIRECT_STATUS.has(answer.statusCode) || !location || location.length > 2_048) return undefined;
  if (!URL.canParse(location, base)) return undefined;
  const next = new URL(location, base);
  next.hash = '';
  next.username = '';
  next.password = '';
  return next.protocol === 'http:' || next.protocol === 'https:' ? next : undefined;
}

function evidenceOf(answer: Answered, url: URL, redirects: readonly string[]): HttpEvidence {
  const isBlocked = WALL_STATUS.has(answer.statusCode);
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(answer.headers['content-type'] ?? 'text/html');
  const html = isHtml ? decodeText(answer) : '';
  return {
    status: isBlocked ? 'blocked' : 'found',
    url: url.href.slice(0, 2_048),
    redirects,
    statusCode: answer.statusCode,
    headers: headersOf(answer),
    cookies: cookieNames(answer),
    page: isBlocked ? null : extractPage(html, { url: url.href, isTruncated: answer.isTruncated }),
  };
}

/** The declared character set when Node knows it, else UTF-8; what is invalid becomes U+FFFD. */
function decodeText({ headers, body }: Answered): string {
  const label = /charset=["']?([\w-]{1,40})/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return body.toString('utf8');
  }
}

function headersOf({ headers }: Answered): Record<string, string> {
  const entries = Object.entries(headers).slice(0, 100);
  const kept = entries.flatMap(([name, value]) =>
    value === undefined || name === 'set-cookie' || name.length > 100
      ? []
      : [[name, (Array.isArray(value) ? value.join(', ') : value).slice(0, 1_024)] as const],
  );
  // fromEntries defines own properties, so that a header called __proto__ is only a header.
  return Object.fromEntries(kept);
}

function cookieNames({ headers }: Answered): string[] {
  const names = (headers['set-cookie'] ?? []).slice(0, 100).map((cookie) => (cookie.split(/[=;]/, 1)[0] ?? '').trim());
  return [...new Set(names.filter((name) => name !== '' && name.length <= 128))];
}
