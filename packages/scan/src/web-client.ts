// One polite visit: GET over HTTP or HTTPS to an address that was checked, bounded in time, size and patience.
import http from 'node:http';
import https from 'node:https';
import tls, { type SecureContext, type TLSSocket } from 'node:tls';
import type { TlsEvidence } from '@strata/detect';
import { readBody } from './body-reader.ts';
import { readCertificate } from './certificate.ts';

export interface Target {
  readonly address: string;
  readonly port: number;
}

export interface WebClientOptions {
  readonly userAgent: string;
  /** Roots besides the built-in ones, PEM. */
  readonly trustedCa: readonly string[];
  /** Where a checked address is really dialled; the identity but in the demo and in tests. */
  readonly dial: (target: Target) => Target;
  readonly maxBodyBytes: number;
}

export type Visit =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly headers: http.IncomingHttpHeaders;
      readonly body: Buffer;
      readonly isTruncated: boolean;
      readonly tls: TlsEvidence | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly reason: 'refused' | 'timeout' | 'failed';
      readonly detail: string;
      readonly tls: TlsEvidence | undefined;
      /** A kept connection was closed under the request, which says nothing about the site. */
      readonly isStale: boolean;
    };

export interface GetOptions {
  /** From dialling to the last byte that is wanted. */
  readonly timeoutMs: number;
  readonly connections: Connections;
  readonly signal?: AbortSignal | undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;

/** The connections of one visit: the page comes over the one that brought robots.txt. Disposing closes them. */
export class Connections implements Disposable {
  readonly plain = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly secure = new https.Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });

  [Symbol.dispose](): void {
    this.plain.destroy();
    this.secure.destroy();
  }
}

export class WebClient {
  readonly #options: WebClientOptions;
  readonly #context: SecureContext;

  constructor(options: WebClientOptions) {
    this.#options = options;
    // Made once: reading the roots costs milliseconds. Old protocols are let in, for they are evidence; nothing secret is sent.
    this.#context = tls.createSecureContext({
      ca: [...tls.rootCertificates, ...options.trustedCa],
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
  }

  /** Visits `url` at `address`. Never rejects: failure, time-out and abort are outcomes. */
  async get(url: URL, address: string, options: GetOptions): Promise<Visit> {
    const startedAt = performance.now();
    const first = await this.#request(url, address, options);
    if (first.kind === 'answered' || !first.isStale) return first;
    // The server closed the kept connection while we asked over it (RFC 9112 §9.3.1): once more, over a new one.
    const leftMs = options.timeoutMs - (performance.now() - startedAt);
    return this.#request(url, address, { ...options, timeoutMs: Math.max(1, leftMs) });
  }

  #request(url: URL, address: string, { timeoutMs, connections, signal }: GetOptions): Promise<Visit> {
    const isTls = url.protocol === 'https:';
    const target = this.#options.dial({ address, port: Number(url.port || (isTls ? 443 : 80)) });
    const request = (isTls ? https : http).request({
      host: target.address,
      port: target.port,
      // The host is a checked address; a name here would be looked up a second time, unchecked.
      lookup: (host, _options, done) => done(new Error(`${host} is not an address`), ''),
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        'user-agent': this.#options.userAgent,
        accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
        'accept-encoding': 'gzip, br, deflate',
      },
      agent: isTls ? connections.secure : connections.plain,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(isTls ? { servername: url.hostname, rejectUnauthorized: false, secureContext: this.#context } : {}),
    });
    return new Promise((resolve) => {
      let tlsEvidence: TlsEvidence | undefined;
      let isLate = false;
      let response: http.IncomingMessage | undefined;
      const stop = () => (response ?? request).destroy(new Error('stopped'));
      const timer = setTimeout(() => {
        isLate = true;
        stop();
      }, timeoutMs);
      const settle = (visit: Visit) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        resolve(visit);
      };
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });

      request.once('socket', (socket) => {
        if (isTls && !request.reusedSocket)
          socket.once('secureConnect', () => {
            tlsEvidence = readCertificate(socket as TLSSocket);
          });
      });
      request.once('response', async (incoming) => {
        response = incoming;
        const { body, isTruncated } = await readBody(incoming, this.#options.maxBodyBytes);
        // What was not read to its end cannot carry another request.
        if (isTruncated) request.destroy();
        const { statusCode = 0, headers } = incoming;
        settle({ kind: 'answered', statusCode, headers, body, isTruncated, tls: tlsEvidence });
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // With the head of an answer here, a broken connection only cuts its body short.
        if (response !== undefined) return;
        const detail = isLate ? 'no answer in time' : (error.code ?? error.message).slice(0, 200);
        const reason = isLate ? 'timeout' : error.code === 'ECONNREFUSED' ? 'refused' : 'failed';
        const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !isLate;
        settle({ kind: 'failed', reason, detail, tls: tlsEvidence, isStale });
      });
      request.end();
    });
  }
}
