// A hub as Hugging Face's protocol describes it, on loopback: it lists, redirects to another origin, sends ranges, and has faults.
import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeFile {
  readonly bytes: Buffer;
  /** Of the server that sends the bytes. */
  readonly etag?: string;
  /** What the hub says of it; null: it says nothing. */
  readonly sha256?: string | null;
  readonly announcedBytes?: number | null;
}

/** How one request for bytes goes wrong. */
export type Fault =
  | { readonly kind: 'none' }
  | { readonly kind: 'cut' | 'stall'; readonly afterBytes: number }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string> }
  | { readonly kind: 'no-ranges' }
  | { readonly kind: 'raw'; readonly answer: (response: ServerResponse) => void };

export interface Seen {
  readonly server: 'hub' | 'elsewhere';
  readonly url: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly authorization: string | undefined;
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A small model, told apart by its seed. */
export function fakeModel(sizeBytes: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at++) bytes[at] = (at * 31 + seed * 7 + (at >> 8)) & 255;
  bytes.write('GGUF');
  return bytes;
}

export class FakeHub implements AsyncDisposable {
  readonly files = new Map<string, FakeFile>();
  readonly seen: Seen[] = [];
  /** Taken by requests for bytes, one each, in order. */
  readonly faults: Fault[] = [];
  /** Taken by requests to the hub itself, listings included, before anything else. */
  readonly hubFaults: Extract<Fault, { kind: 'status' }>[] = [];
  listing: ((response: ServerResponse, url: URL) => void) | undefined;
  readonly #hub = http.createServer((request, response) => this.#answerHub(request, response));
  readonly #elsewhere = http.createServer((request, response) => this.#answerElsewhere(request, response));

  static async start(): Promise<FakeHub> {
    const fake = new FakeHub();
    for (const server of [fake.#hub, fake.#elsewhere]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    return fake;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#hub.address() as AddressInfo).port}`;
  }

  get elsewhere(): string {
    return `http://127.0.0.1:${(this.#elsewhere.address() as AddressInfo).port}`;
  }

  /** Requests for bytes, which come from another origin, as those of large files do. */
  get transfers(): readonly Seen[] {
    return this.seen.filter(({ server }) => server === 'elsewhere');
  }

  #answerHub(request: IncomingMessage, response: ServerResponse): void {
    this.#note('hub', request);
    const url = new URL(request.url ?? '/', this.endpoint);
    const fault = this.hubFaults.shift();
    if (fault?.kind === 'status') fail(fault, response);
    else if (url.pathname.startsWith('/api/models/')) this.#list(response, url);
    else this.#resolve(response, url);
  }

  #resolve(response: ServerResponse, url: URL): void {
    const path = decodeURIComponent(/^\/[^/]+\/[^/]+\/resolve\/[^/]+\/(.+)$/.exec(url.pathname)?.[1] ?? '');
    const file = this.files.get(path);
    if (!file) {
      fail({ kind: 'status', status: 404, headers: { 'x-error-code': 'EntryNotFound' } }, response);
      return;
    }
    const announced = file.announcedBytes === undefined ? file.bytes.length : file.announcedBytes;
    const told = file.sha256 === undefined ? sha256(file.bytes) : file.sha256;
    if (announced !== null) response.setHeader('x-linked-size', announced);
    if (told !== null) response.setHeader('x-linked-etag', `"${told}"`);
    response.writeHead(302, { location: `${this.elsewhere}/bytes/${path}?signature=secret` }).end();
  }

  #answerElsewhere(request: IncomingMessage, response: ServerResponse): void {
    this.#note('elsewhere', request);
    const url = new URL(request.url ?? '/', this.elsewhere);
    const file = this.files.get(url.pathname.slice('/bytes/'.length));
    const fault = file ? (this.faults.shift() ?? { kind: 'none' }) : ({ kind: 'status', status: 404 } as const);
    if (fault.kind === 'status') fail(fault, response);
    else if (fault.kind === 'raw') fault.answer(response);
    else if (file) sendBytes(file, { fault, request, response });
  }

  #list(response: ServerResponse, url: URL): void {
    const entries = [...this.files].map(([path, { bytes, sha256: told }]) => ({
      type: 'file',
      path,
      size: bytes.length,
      lfs: { oid: told ?? sha256(bytes), size: bytes.length, pointerSize: 135 },
    }));
    if (this.listing) this.listing(response, url);
    else response.end(JSON.stringify([{ type: 'directory', path: 'nested', size: 0 }, ...entries]));
  }

  #note(server: Seen['server'], { url = '', headers }: IncomingMessage): void {
    const { range, 'if-range': ifRange, authorization } = headers;
    this.seen.push({ server, url, range, ifRange: ifRange as string | undefined, authorization });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#elsewhere]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

interface Sending {
  readonly fault: Fault;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function sendBytes({ bytes, etag = '"one"' }: FakeFile, { fault, request, response }: Sending): void {
  const { range, 'if-range': ifRange } = request.headers;
  const isRange = range !== undefined && fault.kind !== 'no-ranges' && (ifRange === undefined || ifRange === etag);
  const from = isRange ? Number(/^bytes=(\d+)-$/.exec(range)?.[1]) : 0;
  response.setHeader('etag', etag);
  if (isRange && from >= bytes.length)
    return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
  if (isRange) response.setHeader('content-range', `bytes ${from}-${bytes.length - 1}/${bytes.length}`);
  response.writeHead(isRange ? 206 : 200, { 'content-length': bytes.length - from });
  if (fault.kind !== 'cut' && fault.kind !== 'stall') return void response.end(bytes.subarray(from));
  response.write(bytes.subarray(from, from + fault.afterBytes), () => {
    // Later, so that the bytes are read before the connection is closed.
    if (fault.kind === 'cut') setTimeout(() => response.destroy(), 30);
  });
}

function fail({ status, headers }: Extract<Fault, { kind: 'status' }>, response: ServerResponse): void {
  response.writeHead(status, headers).end('{"error":"not this time"}');
}
