// One request to an address that was checked, as far as the head of the answer; over a kept connection where there is one.
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';

export interface Target {
  readonly address: string;
  readonly port: number;
}

/** Where connections are kept. */
export interface Agents {
  readonly plain: http.Agent;
  readonly secure: https.Agent;
}

export interface WebRequest {
  readonly url: URL;
  /** What is dialled for `url`. */
  readonly target: Target;
  /** Besides `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent by POST; without it the request is a GET. */
  readonly body?: string | undefined;
  readonly agents: Agents;
  readonly secureContext: SecureContext;
  /** Certificates that are not trusted, or are another name's, end the connection. */
  readonly isVerified: boolean;
  readonly onHandshake?: (socket: TLSSocket) => void;
  /** Stops the body, too. */
  readonly signal: AbortSignal;
}

/** Whoever gets a response reads it to its end or destroys it. */
export type Head =
  | { readonly kind: 'answered'; readonly response: http.IncomingMessage }
  | { readonly kind: 'failed'; readonly reason: 'refused' | 'failed'; readonly detail: string };

type Sent = Head | { readonly kind: 'stale' };

const MAX_HEADER_BYTES = 64 * 1024;

/** Sends the request. Never rejects: failure and abort are outcomes. */
export async function requestHead(asked: WebRequest): Promise<Head> {
  const { agents, url } = asked;
  const first = await send(asked, url.protocol === 'https:' ? agents.secure : agents.plain);
  if (first.kind !== 'stale') return first;
  // The server closed the kept connection while we asked over it (RFC 9112 §9.3.1), which says nothing about the site:
  // once more over a new one, for another kept one could be as stale.
  const again = await send(asked, false);
  return again.kind === 'stale' ? { kind: 'failed', reason: 'failed', detail: 'ECONNRESET' } : again;
}

function send(asked: WebRequest, agent: http.Agent | false): Promise<Sent> {
  const { signal } = asked;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ECONNREFUSED' ? 'refused' : 'failed';
      resolve({ kind: 'failed', reason, detail: (error.code ?? error.message).slice(0, 200) });
    };
    let request: http.ClientRequest;
    try {
      request = prepare(asked, agent);
    } catch (error) {
      // A header that HTTP cannot carry: an ETag that we were given and now give back, for one.
      return fail(error as NodeJS.ErrnoException);
    }
    let response: http.IncomingMessage | undefined;
    const stop = () => (response ?? request).destroy(new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });

    request.once('socket', (socket) => {
      if (asked.url.protocol === 'https:' && !request.reusedSocket)
        socket.once('secureConnect', () => asked.onHandshake?.(socket as TLSSocket));
    });
    request.once('response', (incoming) => {
      response = incoming;
      resolve({ kind: 'answered', response });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // With the head of an answer here, this resolves nothing: a broken connection only cuts the body short.
      if (request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) resolve({ kind: 'stale' });
      else fail(error);
    });
    request.once('close', () => {
      signal.removeEventListener('abort', stop);
      // A server that switches protocols unasked (101) ends the request with neither answer nor error.
      fail(new Error('closed without an answer'));
    });
    request.end(asked.body);
  });
}

function prepare(asked: WebRequest, agent: http.Agent | false): http.ClientRequest {
  const { url, target, headers, body } = asked;
  const isTls = url.protocol === 'https:';
  return (isTls ? https : http).request({
    host: target.address,
    port: target.port,
    // The host is a checked address; a name here would be looked up a second time, unchecked.
    lookup: (host, _options, done) => done(new Error(`${host} is not an address`), ''),
    method: body === undefined ? 'GET' : 'POST',
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    agent,
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(isTls ? tlsOptions(asked) : {}),
  });
}

function tlsOptions({ url, secureContext, isVerified }: WebRequest): ConnectionOptions {
  const host = hostOf(url);
  return {
    // RFC 6066 §3: neither addresses nor a trailing dot. Certificates are compared with it, or with the address.
    servername: isIP(host) ? '' : host,
    rejectUnauthorized: isVerified,
    secureContext,
  };
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}

/** The host of a URL as it is resolved and compared: no brackets around IPv6, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$|\.$/g, '');
}
