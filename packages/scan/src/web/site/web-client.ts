// One GET over HTTP or HTTPS to a checked address, bounded in time and size.
import http from 'node:http';
import https from 'node:https';
import tls, { type SecureContext } from 'node:tls';
import type { TlsEvidence } from '@strata/detect';
import { readBody } from '../body-reader.ts';
import { Deadline } from '../deadline.ts';
import { type Agents, portOf, requestHead, type Target } from '../web-request.ts';
import { readCertificate } from './certificate.ts';

export interface WebClientOptions {
  readonly userAgent: string;
  /** Root certificates in place of the built-in ones, PEM. */
  readonly trustedCa?: readonly string[];
  /** Maps a checked address to the address that is dialled; the identity except in the demo and in tests. */
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
    };

export interface GetOptions {
  /** From dialling to the last byte of the body. */
  readonly timeoutMs: number;
  readonly connections: Connections;
  /** The Accept header; that of a page if omitted. */
  readonly accept?: string | undefined;
  /** That of the client if omitted. */
  readonly maxBodyBytes?: number | undefined;
  /** An untrusted certificate, or one for another name, ends the visit. */
  readonly isVerified?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Without post-quantum groups: nothing secret is sent, their keys take a sixth of the handshake's cost on either side, and some old
 * servers and middleboxes fail on a first message that exceeds one packet.
 */
const GROUPS = 'X25519:P-256:P-384:P-521:X448:ffdhe2048:ffdhe3072';
const ACCEPT_PAGE = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1';

/**
 * The connections of one visit: the page reuses the connection of robots.txt. Disposing closes them. Agents are created on demand:
 * most visits need one of the two, and unreachable hosts need none.
 */
export class Connections implements Agents, Disposable {
  #plain: http.Agent | undefined;
  #secure: https.Agent | undefined;

  get plain(): http.Agent {
    this.#plain ??= new http.Agent({ keepAlive: true, maxSockets: 1 });
    return this.#plain;
  }

  get secure(): https.Agent {
    this.#secure ??= new https.Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });
    return this.#secure;
  }

  [Symbol.dispose](): void {
    this.#plain?.destroy();
    this.#secure?.destroy();
  }
}

export class WebClient {
  readonly #options: WebClientOptions;
  readonly #context: SecureContext;

  constructor(options: WebClientOptions) {
    this.#options = options;
    // Old protocols are permitted as evidence, since nothing secret is sent.
    this.#context = tls.createSecureContext({
      ...(options.trustedCa && { ca: [...options.trustedCa] }),
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
      ecdhCurve: GROUPS,
    });
  }

  /** Visits `url` at `address`. Never rejects: failure, time-out and abort are outcomes. */
  async get(url: URL, address: string, options: GetOptions): Promise<Visit> {
    using deadline = new Deadline(options.timeoutMs, options.signal);
    return await deadline.during(() => this.#visit(url, address, options, deadline));
  }

  async #visit(url: URL, address: string, options: GetOptions, deadline: Deadline): Promise<Visit> {
    const agents: Agents = options.connections;
    let tlsEvidence: TlsEvidence | undefined;
    const head = await requestHead({
      url,
      target: this.#options.dial({ address, port: portOf(url) }),
      headers: {
        'user-agent': this.#options.userAgent,
        accept: options.accept ?? ACCEPT_PAGE,
        'accept-encoding': 'gzip, br, deflate',
      },
      agents,
      secureContext: this.#context,
      isVerified: options.isVerified === true,
      onHandshake: (socket) => {
        tlsEvidence = readCertificate(socket);
      },
      signal: deadline.signal,
    });
    if (head.kind === 'failed') {
      const failure = deadline.isLate ? ({ reason: 'timeout', detail: 'no answer in time' } as const) : head;
      return { kind: 'failed', reason: failure.reason, detail: failure.detail, tls: tlsEvidence };
    }
    const { response } = head;
    const { body, isTruncated } = await readBody(response, options.maxBodyBytes ?? this.#options.maxBodyBytes);
    // A response that was not read to its end blocks its connection.
    if (isTruncated) response.destroy();
    const { statusCode = 0, headers } = response;
    return { kind: 'answered', statusCode, headers, body, isTruncated, tls: tlsEvidence };
  }
}
