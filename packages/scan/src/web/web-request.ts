// Sends one request to a checked address and reads the head of the answer; reuses a kept-alive connection if there is one.
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import {
  type ConnectionOptions,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
  TLSSocket,
} from 'node:tls';

export interface Target {
  readonly address: string;
  readonly port: number;
}

/** Pools of kept-alive connections. */
export interface Agents {
  readonly plain: http.Agent;
  readonly secure: https.Agent;
}

export interface WebRequest {
  readonly url: URL;
  /** The address that is dialled for `url`. */
  readonly target: Target;
  /** In addition to `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent by POST; the request is a GET if omitted. */
  readonly body?: string | undefined;
  readonly agents: Agents;
  readonly secureContext: SecureContext;
  /** An untrusted certificate, or one for another name, ends the connection. */
  readonly isVerified: boolean;
  readonly onHandshake?: (socket: TLSSocket) => void;
  /** Also aborts the body. */
  readonly signal: AbortSignal;
}

/** The caller reads a response to its end or destroys it. */
export type Head =
  | { readonly kind: 'answered'; readonly response: http.IncomingMessage }
  | { readonly kind: 'failed'; readonly reason: 'refused' | 'failed'; readonly detail: string };

type Sent = Head | { readonly kind: 'stale' };

const MAX_HEADER_BYTES = 64 * 1024;

/** Sends the request. Never rejects: failure and abort are outcomes. */
export async function requestHead(outgoing: WebRequest): Promise<Head> {
  const { agents, url } = outgoing;
  const first = await send(outgoing, url.protocol === 'https:' ? agents.secure : agents.plain);
  if (first.kind !== 'stale') return first;
  // The server closed the kept-alive connection while the request was in flight (RFC 9112 §9.3.1), which says nothing about the
  // site. The retry uses a new connection, since another kept one could be stale too.
  const again = await send(outgoing, false);
  return again.kind === 'stale' ? { kind: 'failed', reason: 'failed', detail: 'ECONNRESET' } : again;
}

function send(outgoing: WebRequest, agent: http.Agent | false): Promise<Sent> {
  const { signal } = outgoing;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ECONNREFUSED' ? 'refused' : 'failed';
      resolve({ kind: 'failed', reason, detail: (error.code ?? error.message).slice(0, 200) });
    };
    let request: http.ClientRequest;
    try {
      request = prepare(outgoing, agent);
    } catch (error) {
      // An invalid header value, for example an ETag that the server sent and that is sent back.
      return fail(error as NodeJS.ErrnoException);
    }
    let response: http.IncomingMessage | undefined;
    const stop = () => (response ?? request).destroy(new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });

    request.once('socket', (socket) => {
      if (!(socket instanceof TLSSocket) || request.reusedSocket) return;
      readLeafOnce(socket);
      socket.once('secureConnect', () => outgoing.onHandshake?.(socket));
    });
    request.once('response', (incoming) => {
      response = incoming;
      resolve({ kind: 'answered', response });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // After the head of the answer this resolves nothing: a broken connection only truncates the body.
      if (request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) resolve({ kind: 'stale' });
      else fail(error);
    });
    request.once('close', () => {
      signal.removeEventListener('abort', stop);
      // An unrequested protocol switch (101) ends the request with neither answer nor error. Most requests were answered: an
      // `Error` for each would take two percent of a scan.
      if (response === undefined) fail(new Error('closed without an answer'));
    });
    request.end(outgoing.body);
  });
}

/**
 * Node reads the certificate chain when the handshake ends, to compare the names of its first certificate: that one is enough, and
 * is read once for all callers.
 */
function readLeafOnce(socket: TLSSocket): void {
  let leaf: PeerCertificate | undefined;
  // The two declared forms differ in what `true` adds, which nothing here uses.
  socket.getPeerCertificate = () => {
    leaf ??= TLSSocket.prototype.getPeerCertificate.call(socket, false);
    return leaf as DetailedPeerCertificate;
  };
}

function prepare(outgoing: WebRequest, agent: http.Agent | false): http.ClientRequest {
  const { url, target, headers, body } = outgoing;
  const isTls = url.protocol === 'https:';
  return (isTls ? https : http).request({
    host: target.address,
    port: target.port,
    // The host is a checked address; a name here would be resolved again, unchecked.
    lookup: (host, _options, done) => done(new Error(`${host} is not an address`), ''),
    method: body === undefined ? 'GET' : 'POST',
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    agent,
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(isTls ? tlsOptions(outgoing) : {}),
  });
}

function tlsOptions({ url, secureContext, isVerified }: WebRequest): ConnectionOptions {
  const host = hostOf(url);
  return {
    // RFC 6066 §3: neither addresses nor a trailing dot. The certificate is checked against it, or against the address.
    servername: isIP(host) ? '' : host,
    rejectUnauthorized: isVerified,
    secureContext,
  };
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}

/** The host of a URL for resolution and comparison: without brackets around IPv6 and without trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$|\.$/g, '');
}
