// Follows a URL through its redirects to an answer: each host is resolved, checked and rate-limited before it is dialled.
import type { IncomingMessage } from 'node:http';
import type { SecureContext } from 'node:tls';
import type { KeyedSemaphore } from '@strata/limits';
import { type AddressDeps, checkAddress } from '../checked-address.ts';
import type { Deadline } from '../deadline.ts';
import { isWeb, redirectTarget, withoutSecrets } from '../redirect.ts';
import { type Agents, hostOf, portOf, requestHead, type Target } from '../web-request.ts';

export interface FetchRequest {
  /** Lower-case names; `user-agent`, `host` and `accept-encoding` are set by the fetcher. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `GET` by default. A POST is not redirected, and may be sent twice if a kept-alive connection breaks. */
  readonly method?: 'GET' | 'POST';
  /** For a POST. */
  readonly body?: string;
  /** Decompressed; a longer body is truncated and marked. */
  readonly maxBytes: number;
  /** From the first lookup to the last byte, redirects included. */
  readonly timeoutMs: number;
  /** 5 by default. */
  readonly maxRedirects?: number;
  readonly signal?: AbortSignal;
}

export interface Redirect {
  /** 301, 302, 303, 307 or 308. */
  readonly status: number;
  /** The absolute target. */
  readonly url: string;
}

/** The outcome of a fetch; never an exception. Any HTTP status is an answer. */
export type Fetched =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names; repeated ones joined by `, `. */
      readonly headers: Readonly<Record<string, string>>;
      /** The URL of the answer, after `redirects` in order. */
      readonly url: string;
      readonly redirects: readonly Redirect[];
      /** Decompressed. */
      readonly body: Buffer;
      readonly isTruncated: boolean;
    }
  | {
      readonly kind: 'failed';
      /** `forbidden`: an address, port or scheme that is not permitted; `unresolved`: the name has no address. */
      readonly reason: 'forbidden' | 'unresolved' | 'refused' | 'timeout' | 'failed' | 'redirects' | 'aborted';
      readonly detail: string;
      readonly redirects: readonly Redirect[];
    };

export interface WalkDeps extends AddressDeps {
  readonly agents: Agents;
  readonly secureContext: SecureContext;
  readonly dial: (target: Target) => Target;
  readonly perHost: KeyedSemaphore;
  /** One key for all hosts. */
  readonly overall: KeyedSemaphore;
  readonly trustedOrigins: ReadonlySet<string>;
  readonly namedOrigins: ReadonlySet<string>;
  readonly hasHighPorts: boolean;
  readonly userAgent: string;
}

export interface WalkRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly acceptEncoding: string;
  /** Sent by POST to the first URL only: its redirects are not followed. */
  readonly body?: string | undefined;
  /** 5 if omitted. */
  readonly maxRedirects: number | undefined;
  readonly deadline: Deadline;
}

export interface WebAnswer {
  readonly response: IncomingMessage;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly redirects: readonly Redirect[];
}

export type Failed = Extract<Fetched, { kind: 'failed' }>;
type Failure = Pick<Failed, 'kind' | 'reason' | 'detail'>;

type Step<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'redirected'; readonly status: number; readonly next: URL }
  | Failure;

interface Hop {
  readonly url: URL;
  /** The operator configured this origin, and all previous ones of the chain. */
  readonly isTrusted: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_MAX_REDIRECTS = 5;
const MAX_URL_LENGTH = 8_192;
/** Headers that the fetcher or the connection sets. */
const OWN_HEADERS =
  /^(?:user-agent|host|accept-encoding|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-length|expect|proxy-.*)$/;
/** Headers that may be sent to another origin; the remaining ones may contain secrets for the first one. */
const PORTABLE_HEADERS = /^(?:accept|accept-language|range|if-.*)$/;

/**
 * Requests `start` and passes the answer at the end of its redirects to `read`, while the slot of its host is held. Rejects only if
 * `read` does.
 */
export async function walk<T>(
  deps: WalkDeps,
  start: string,
  request: WalkRequest,
  read: (answer: WebAnswer) => Promise<T>,
): Promise<T | Failed> {
  const redirects: Redirect[] = [];
  if (start.length > MAX_URL_LENGTH || !URL.canParse(start))
    return { ...failure('forbidden', 'not a URL that can be visited'), redirects };
  const url = withoutSecrets(new URL(start));
  const named = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const headers = named.filter(([name]) => !OWN_HEADERS.test(name));
  let hop: Hop = {
    url,
    isTrusted: deps.trustedOrigins.has(url.origin),
    headers: Object.fromEntries(headers),
  };
  const visited = new Set([url.href]);
  for (;;) {
    const { href } = hop.url;
    const step = await withSlot(deps, hop, request, (response) => {
      const { statusCode: status = 0 } = response;
      return read({ response, status, headers: headersOf(response), url: href, redirects });
    });
    if (step.kind === 'read') return step.value;
    if (step.kind === 'failed') return { ...step, redirects };
    const { next, status } = step;
    redirects.push({ status, url: next.href });
    const maxRedirects = request.body === undefined ? (request.maxRedirects ?? DEFAULT_MAX_REDIRECTS) : 0;
    if (maxRedirects === 0) return { ...failure('redirects', 'the redirect is not followed'), redirects };
    if (visited.has(next.href) || redirects.length > maxRedirects)
      return { ...failure('redirects', 'too many redirects'), redirects };
    visited.add(next.href);
    hop = afterRedirect(deps, hop, next);
  }
}

/** Waits for a slot of the host; the deadline does not run during the wait. */
async function withSlot<T>(
  deps: WalkDeps,
  hop: Hop,
  request: WalkRequest,
  take: (response: IncomingMessage) => Promise<T>,
): Promise<Step<T>> {
  const { deadline } = request;
  const { signal } = deadline;
  const work = () => deadline.during(() => visit(deps, hop, request, take));
  try {
    return await deps.perHost.run(hostOf(hop.url), () => deps.overall.run('', work, { signal }), { signal });
  } catch (error) {
    if (signal.aborted && error === signal.reason) return stopped(deadline);
    throw error;
  }
}

async function visit<T>(
  deps: WalkDeps,
  hop: Hop,
  { acceptEncoding, body, deadline }: WalkRequest,
  take: (response: IncomingMessage) => Promise<T>,
): Promise<Step<T>> {
  const { url } = hop;
  const target = await targetOf(deps, hop, deadline.signal);
  if ('kind' in target) return target;
  const head = await requestHead({
    url,
    target,
    headers: { accept: '*/*', ...hop.headers, 'user-agent': deps.userAgent, 'accept-encoding': acceptEncoding },
    body,
    agents: deps.agents,
    secureContext: deps.secureContext,
    isVerified: true,
    signal: deadline.signal,
  });
  if (head.kind === 'failed') return deadline.signal.aborted ? stopped(deadline) : failure(head.reason, head.detail);
  const { response } = head;
  try {
    const { statusCode = 0, headers } = response;
    const next = redirectTarget(statusCode, headers.location, url);
    return next ? { kind: 'redirected', status: statusCode, next } : { kind: 'read', value: await take(response) };
  } finally {
    // Closes a connection whose response was not read to its end; has no effect on a finished response.
    response.destroy();
  }
}

/** The address to dial for a hop; its name is resolved and checked now. */
async function targetOf(deps: WalkDeps, { url, isTrusted }: Hop, signal: AbortSignal): Promise<Target | Failure> {
  if (!isWeb(url)) return failure('forbidden', `${url.protocol.slice(0, 40)} is not visited`);
  const port = portOf(url);
  const isAnyPort = isTrusted || deps.namedOrigins.has(url.origin) || (deps.hasHighPorts && port >= 1_024);
  const ports = deps.hasHighPorts ? 'ports 80, 443 and from 1024' : 'ports 80 and 443';
  if (!isAnyPort && port !== 80 && port !== 443) return failure('forbidden', `only ${ports} are visited`);
  const host = hostOf(url);
  // RFC 6761 §6.3: `localhost` is not resolved by DNS.
  if (isTrusted && host === 'localhost') return { address: '127.0.0.1', port };
  const guard = isTrusted ? () => ({ isAllowed: true }) as const : deps.guard;
  const checked = await checkAddress({ guard, addressesOf: deps.addressesOf }, host, signal);
  if (checked.kind === 'failed') return failure(checked.reason, checked.detail);
  const target = { address: checked.address, port };
  return isTrusted ? target : deps.dial(target);
}

/** A redirect keeps the trust only between trusted origins: otherwise any site could redirect to an internal one. */
function afterRedirect({ trustedOrigins }: WalkDeps, { url, isTrusted, headers }: Hop, next: URL): Hop {
  const portable = Object.entries(headers).filter(([name]) => PORTABLE_HEADERS.test(name));
  return {
    url: next,
    isTrusted: isTrusted && trustedOrigins.has(next.origin),
    headers: next.origin === url.origin ? headers : Object.fromEntries(portable),
  };
}

export function stopped(deadline: Deadline): Failure {
  return deadline.isLate ? failure('timeout', 'no answer in time') : failure('aborted', 'aborted by the caller');
}

function failure(reason: Failure['reason'], detail: string): Failure {
  return { kind: 'failed', reason, detail };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  // fromEntries defines own properties, so that a header called __proto__ is only a header.
  return Object.fromEntries(given);
}
