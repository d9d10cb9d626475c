// A hub as Hugging Face's protocol describes it, on loopback: it lists, redirects to another origin, sends ranges, and has faults.
import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeFile {
  readonly bytes: Buffer;
  /** Of the server that sends the bytes. */
  readonly etag?: string;
  /** What the hub announces; null: it announces nothing. */
  readonly sha256?: string | null;
  readonly announcedBytes?: number | null;
}

/** How one request for bytes fails. */
export type Fault =
  | { readonly kind: 'none' | 'no-ranges' }
  | { readonly kind: 'cut' | 'stall'; readonly afterBytes: number }
  | { readonly kind: 'raw'; readonly answer: (response: ServerResponse) => unknown };
type Raw = Extract<Fault, { kind: 'raw' }>;

export const cut = (afterBytes: number): Fault => ({ kind: 'cut', afterBytes });
export const stall = (afterBytes: number): Fault => ({ kind: 'stall', afterBytes });
export const raw = (answer: Raw['answer']): Raw => ({ kind: 'raw', answer });
export const status = (number: number, headers: Record<string, string> = {}) =>
  raw((response) => response.writeHead(number, headers).end('{"error":"not this time"}'));

export interface Seen {
  readonly server: 'hub' | 'elsewhere';
  readonly url: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly authorization: string | undefined;
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A small model, different for each seed. */
export function fakeModel(sizeBytes: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at++) bytes[at] = (at * 31 + seed * 7 + (at >> 8)) & 255;
  bytes.write('GGUF');
  return bytes;
}

const originOf = (server: http.Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

export class FakeHub implements AsyncDisposable {
  readonly files = new Map<string, FakeFile>();
  readonly seen: Seen[] = [];
  /** Taken by requests for bytes, one each, in order. */
  readonly faults: Fault[] = [];
  /** Taken by requests to the hub itself, listings included, before anything else. */
  readonly hubFaults: Raw[] = [];
  listing: ((response: ServerResponse, url: URL) => void) | undefined;
  readonly #hub = http.createServer((request, response) => this.#answerHub(request, response));
  readonly #elsewhere = http.createServer((request, response) => this.#answerElsewhere(request, response));

  static async start(): Promise<FakeHub> {
    const fake = new FakeHub();
    for (const server of [fake.#hub, fake.#elsewhere])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get endpoint(): string {
    return originOf(this.#hub);
  }

  get elsewhere(): string {
    return originOf(this.#elsewhere);
  }

  /** Requests for bytes, which come from another origin, as those of large files do. */
  get transfers(): readonly Seen[] {
    return this.seen.filter(({ server }) => server === 'elsewhere');
  }

  #answerHub(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#note('hub', request);
    const fault = this.hubFaults.shift();
    if (fault) fault.answer(response);
    else if (url.pathname.startsWith('/api/models/')) this.#list(response, url);
    else this.#resolve(response, url);
  }

  #resolve(response: ServerResponse, url: URL): void {
    const path = decodeURIComponent(/^\/[^/]+\/[^/]+\/resolve\/[^/]+\/(.+)$/.exec(url.pathname)?.[1] ?? '');
    const file = this.files.get(path);
    if (!file) return void status(404, { 'x-error-code': 'EntryNotFound' }).answer(response);
    const { announcedBytes = file.bytes.length, sha256: announced = sha256(file.bytes) } = file;
    if (announcedBytes !== null) response.setHeader('x-linked-size', announcedBytes);
    if (announced !== null) response.setHeader('x-linked-etag', `"${announced}"`);
    response.writeHead(302, { location: `${this.elsewhere}/bytes/${path}?signature=secret` }).end();
  }

  #answerElsewhere(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#note('elsewhere', request);
    const file = this.files.get(url.pathname.slice('/bytes/'.length));
    const fault = file ? (this.faults.shift() ?? ({ kind: 'none' } as const)) : status(404);
    if (fault.kind === 'raw') fault.answer(response);
    else if (file) sendBytes(file, fault, response);
  }

  #list(response: ServerResponse, url: URL): void {
    const entries = [...this.files].map(([path, { bytes, sha256: announced }]) => {
      const lfs = { oid: announced ?? sha256(bytes), size: bytes.length, pointerSize: 135 };
      return { type: 'file', path, size: bytes.length, lfs };
    });
    if (this.listing) this.listing(response, url);
    else response.end(JSON.stringify([{ type: 'directory', path: 'nested', size: 0 }, ...entries]));
  }

  #note(server: Seen['server'], { url = '', headers }: IncomingMessage): URL {
    const { range, 'if-range': ifRange, authorization } = headers;
    this.seen.push({ server, url, range, ifRange: ifRange as string | undefined, authorization });
    return new URL(url, this.endpoint);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#elsewhere]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

function sendBytes({ bytes, etag = '"one"' }: FakeFile, fault: Fault, response: ServerResponse): void {
  const { range, 'if-range': ifRange } = response.req.headers;
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
