// An HTTP answer as evidence: status, bounded headers, cookie names, and page features.
import { extractPage, type HttpEvidence } from '@strata/detect';
import type { Visit } from './web-client.ts';

export type Answered = Extract<Visit, { kind: 'answered' }>;

/** Statuses of access controls against robots: the site exists, and the visit was blocked. */
const BLOCKED_STATUS = new Set([401, 403, 407, 429, 451, 503]);
const MAX_HEADERS = 100;
const MAX_COOKIES = 100;

export interface EvidenceOptions {
  /** Whether the page's source is kept for patterns of community sets. */
  readonly keepSource: boolean;
}

export function evidenceOf(
  answer: Answered,
  { url, redirects }: { readonly url: URL; readonly redirects: readonly string[] },
  { keepSource }: EvidenceOptions,
): HttpEvidence {
  const isBlocked = isBlockedStatus(answer);
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(answer.headers['content-type'] ?? 'text/html');
  const html = isHtml ? decodeText(answer) : '';
  return {
    status: isBlocked ? 'blocked' : 'found',
    url: url.href.slice(0, 2_048),
    redirects,
    statusCode: answer.statusCode,
    headers: headersOf(answer),
    cookies: cookieNames(answer),
    page: isBlocked ? null : extractPage(html, { url: url.href, isTruncated: answer.isTruncated, keepSource }),
  };
}

/** Whether the visit was blocked. */
export function isBlockedStatus({ statusCode }: Answered): boolean {
  return BLOCKED_STATUS.has(statusCode);
}

/** Decodes with the declared character set if Node supports it, else as UTF-8; invalid bytes become U+FFFD. */
function decodeText({ headers, body }: Answered): string {
  const label = /charset=["']?([\w-]{1,40})/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return body.toString('utf8');
  }
}

function headersOf({ headers }: Answered): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_HEADERS);
  const kept = entries.flatMap(([name, value]) =>
    value === undefined || name === 'set-cookie' || name.length > 100
      ? []
      : [[name, (Array.isArray(value) ? value.join(', ') : value).slice(0, 1_024)] as const],
  );
  // fromEntries defines own properties, so that a header called __proto__ is only a header.
  return Object.fromEntries(kept);
}

function cookieNames({ headers }: Answered): string[] {
  const cookies = (headers['set-cookie'] ?? []).slice(0, MAX_COOKIES);
  const names = cookies.map((cookie) => (cookie.split(/[=;]/, 1)[0] ?? '').trim());
  return [...new Set(names.filter((name) => name !== '' && name.length <= 128))];
}
