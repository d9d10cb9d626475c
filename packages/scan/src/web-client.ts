// One polite visit: GET over HTTP or HTTPS to an address that was checked, bounded in time, size and patience.
import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import tls, { type SecureContext, type TLSSocket } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { TlsEvidence } from '@strata/detect';
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
  /** For one request, from dialling to the last byte that is wanted. */
  readonly requestTimeoutMs: number;
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

/** Bytes read off the wire before unpacking; what does not fit its limit packed is not worth unpacking. */
const MAX_PACKED_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;

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

  /** Visits `url` at `address`. Never rejects for the site's fault. */
  get(url: URL, address: string, signal: AbortSignal | undefined): Promise<Visit> {
    const isTls = url.protocol === 'https:';
    const port = Number(url.port || (isTls ? 443 : 80));
    const target = this.#options.dial({ address, port });
    const deadline = AbortSignal.timeout(this.#options.requestTimeoutMs);
    let tlsEvidence: TlsEvidence | undefined;

    return new Promise((resolve) => {
      const fail = (error: NodeJS.ErrnoException) => {
        const reason = deadline.aborted ? 'timeout' : error.code === 'ECONNREFUSED' ? 'refused' : 'failed';
        resolve({
          kind: 'failed',
          reason,
          detail: deadline.aborted ? 'no answer in time' : (error.code ?? error.message).slice(0, 200),
          tls: tlsEvidence,
        });
      };
      const options: https.RequestOptions = {
        host: target.address,
        port: target.port,
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: {
          host: url.host,
          'user-agent': this.#options.userAgent,
          accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
          'accept-encoding': 'gzip, br, deflate',
          connection: 'close',
        },
        agent: false,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        ...(isTls ? { servername: url.hostname, rejectUnauthorized: false, secureContext: this.#context } : {}),
      };
      const request = (isTls ? https : http).request(options, (response) => {
        const finish = (body: Buffer, isTruncated: boolean) => {
          resolve({
            kind: 'answered',
            statusCode: response.statusCode ?? 0,
            headers: response.headers,
            body,
            isTruncated,
            tls: tlsEvidence,
          });
          request.destroy();
        };
        readBody(response, this.#options.maxBodyBytes).then(
          ({ body, isTruncated }) => finish(body, isTruncated),
          () => finish(Buffer.alloc(0), true),
        );
      });
      request.once('socket', (socket) => {
        socket.once('secureConnect', () => {
          tlsEvidence = readCertificate(socket as TLSSocket);
        });
      });
      request.on('error', fail);
      request.end();
    });
  }
}

/** The unpacked body up to the limit. A broken or endless packing gives what came out before. */
async function readBody(
  response: http.IncomingMessage,
  maxBytes: number,
): Promise<{ body: Buffer; isTruncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isTruncated = false;
  let packed = 0;
  response.on('data', (chunk: Buffer) => {
    packed += chunk.length;
    if (packed > MAX_PACKED_BYTES) response.destroy();
  });
  try {
    for await (const chunk of unpacked(response)) {
      const room = maxBytes - size;
      if (chunk.length >= room) {
        chunks.push(chunk.subarray(0, room));
        isTruncated = true;
        break;
      }
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch {
    isTruncated = true;
  }
  response.destroy();
  return { body: Buffer.concat(chunks), isTruncated };
}

function unpacked(response: http.IncomingMessage): AsyncIterable<Buffer> {
  const unpack = (stream: NodeJS.ReadWriteStream & Readable) => {
    // Errors travel along, so that the reader below sees them.
    response.once('error', (error) => stream.destroy(error));
    response.once('aborted', () => stream.destroy(new Error('the connection was cut')));
    return response.pipe(stream) as unknown as AsyncIterable<Buffer>;
  };
  switch (response.headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return unpack(createGunzip());
    case 'br':
      return unpack(createBrotliDecompress());
    case 'deflate':
      return unpack(createInflate());
    case 'zstd':
      return unpack(createZstdDecompress());
    default:
      return response;
  }
}
