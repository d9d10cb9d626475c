// A loopback hub with Hugging Face's protocol: lists files, redirects to another origin, serves ranges, and injects
// faults.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { fakeService } from '../../../../tests/support/fake-service.ts';

export interface FakeFile {
  readonly bytes: Buffer;
  /** Entity tag of the server that sends the bytes. */
  readonly etag?: string;
  /** Announced by the hub; null: not announced. */
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

export interface ReceivedRequest {
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

export async function startFakeHub() {
  const services = new AsyncDisposableStack();
  const listen = async (server: ReceivedRequest['server'], answer: (url: URL, response: ServerResponse) => void) => {
    const service = await fakeService(({ url = '', headers }, response) => {
      const { range, 'if-range': ifRange, authorization } = headers;
      hub.received.push({ server, url, range, ifRange: ifRange as string | undefined, authorization });
      answer(new URL(url, hub.endpoint), response);
    });
    return services.use(service).base;
  };
  const hub = {
    ...{ endpoint: '', elsewhere: '', files: new Map<string, FakeFile>(), received: [] as ReceivedRequest[] },
    /** Consumed by requests for bytes, one each, in order. */
    faults: [] as Fault[],
    /** Consumed by requests to the hub itself, listings included, before anything else. */
    hubFaults: [] as Raw[],
    listing: undefined as ((response: ServerResponse, url: URL) => void) | undefined,
    /** Requests for bytes, which another origin serves, as for large files. */
    get transfers(): readonly ReceivedRequest[] {
      return hub.received.filter(({ server }) => server === 'elsewhere');
    },
    [Symbol.asyncDispose]: () => services.disposeAsync(),
  };

  function list(response: ServerResponse, url: URL): void {
    const entries = [...hub.files].map(([path, { bytes, sha256: announced }]) => {
      const lfs = { oid: announced ?? sha256(bytes), size: bytes.length, pointerSize: 135 };
      return { type: 'file', path, size: bytes.length, lfs };
    });
    if (hub.listing) hub.listing(response, url);
    else response.end(JSON.stringify([{ type: 'directory', path: 'nested', size: 0 }, ...entries]));
  }

  function redirect(response: ServerResponse, url: URL): void {
    const path = decodeURIComponent(/^\/[^/]+\/[^/]+\/resolve\/[^/]+\/(.+)$/.exec(url.pathname)?.[1] ?? '');
    const file = hub.files.get(path);
    if (!file) return void status(404, { 'x-error-code': 'EntryNotFound' }).answer(response);
    const { announcedBytes = file.bytes.length, sha256: announced = sha256(file.bytes) } = file;
    if (announcedBytes !== null) response.setHeader('x-linked-size', announcedBytes);
    if (announced !== null) response.setHeader('x-linked-etag', `"${announced}"`);
    response.writeHead(302, { location: `${hub.elsewhere}/bytes/${path}?signature=secret` }).end();
  }

  hub.endpoint = await listen('hub', (url, response) => {
    const fault = hub.hubFaults.shift();
    if (fault) fault.answer(response);
    else if (url.pathname.startsWith('/api/models/')) list(response, url);
    else redirect(response, url);
  });
  hub.elsewhere = await listen('elsewhere', (url, response) => {
    const file = hub.files.get(url.pathname.slice('/bytes/'.length));
    const fault = file ? (hub.faults.shift() ?? ({ kind: 'none' } as const)) : status(404);
    if (fault.kind === 'raw') fault.answer(response);
    else if (file) sendBytes(file, fault, response);
  });
  return hub;
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
    // Delayed, so that the bytes are read before the connection is closed.
    if (fault.kind === 'cut') setTimeout(() => response.destroy(), 200);
  });
}
