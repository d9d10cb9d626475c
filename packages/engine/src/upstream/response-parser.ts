// Parses the responses of one HTTP/1.1 connection (RFC 9112) as their bytes arrive. Strict: what two programs could read as
// two different responses is an error, and ends the connection.

export interface ResponseHead {
  readonly status: number;
  /** By name in lower case; of a repeated one the first, but all of those that frame the body. */
  readonly headers: ReadonlyMap<string, string>;
}

/** The server's bytes are not HTTP/1.1. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Maximum size of a head, of trailers, and of the line before a chunk. */
const MAX_HEAD_BYTES = 16_384;
const MAX_LINE_BYTES = 1_024;
/** Of the size of a chunk. */
const MAX_DIGITS = 8;
const [CR, LF, SEMICOLON] = [0x0d, 0x0a, 0x3b];
const NONE = Buffer.alloc(0);

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** CR and LF outside of CRLF, and other control characters. */
const BAD_CHARACTER = /\r(?!\n)|(?<!\r)\n|[^\t\r\n\x20-\x7e\x80-\xff]/;
const NOT_ASCII = /[^\t\x20-\x7e]/;
const FRAMING: ReadonlySet<string> = new Set(['connection', 'content-length', 'transfer-encoding']);

export class ResponseParser {
  /** Of the current response, once it has arrived. */
  head: ResponseHead | undefined;
  /** The current response is complete. */
  isEnded = false;
  /** The connection can have another response after this one. */
  isKept = true;
  #state: 'head' | 'body' | 'chunk' | 'trailers' = 'head';
  #isChunked = false;
  #isFirstChunk = true;
  /** Bytes of the body, or of the chunk, that have not arrived. */
  #left = 0;
  /** The beginning of a head or a line. */
  #rest: Buffer = NONE;

  /** Before the next request of the connection. */
  next(): void {
    this.head = undefined;
    this.isEnded = false;
    this.#state = 'head';
  }

  /** The part of the body that is in these bytes, which are overwritten. Throws ProtocolError. */
  push(given: Buffer): Buffer {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, given]) : given;
    this.#rest = NONE;
    let at = 0;
    // The chunks are moved together.
    let [from, to] = [0, 0];
    while (at < bytes.length && !this.isEnded) {
      if (this.#state === 'body') {
        const length = Math.min(this.#left, bytes.length - at);
        if (to === 0) [from, to] = [at, at];
        if (to < at) bytes.copyWithin(to, at, at + length);
        at += length;
        to += length;
        this.#left -= length;
        if (this.#left > 0) continue;
        if (this.#isChunked) this.#state = 'chunk';
        else this.isEnded = true;
        continue;
      }
      const next = this.#readLines(bytes, at);
      if (next === undefined) {
        this.#rest = Buffer.from(bytes.subarray(at));
        break;
      }
      at = next;
    }
    // Nothing was asked that these bytes could answer.
    if (this.isEnded && at < bytes.length) this.isKept = false;
    return bytes.subarray(from, to);
  }

  /** The server has closed the connection. Returns whether the response is complete. */
  close(): boolean {
    this.isKept = false;
    if (this.#state === 'body' && this.#left === Number.POSITIVE_INFINITY) this.isEnded = true;
    return this.isEnded;
  }

  /** The position after a head, the line of a chunk, or trailers; undefined while they are incomplete. */
  #readLines(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head': {
        if (!'HTTP/'.startsWith(bytes.toString('latin1', at, at + 5)))
          throw new ProtocolError('a response is not HTTP');
        const lineEnd = bytes.indexOf(LF, at);
        // The search for its end does not recognise bare line feeds.
        if (lineEnd >= 0 && bytes[lineEnd - 1] !== CR) throw new ProtocolError('the head of a response is invalid');
        const end = endOf(bytes, at);
        if (end !== undefined) this.#readHead(bytes.toString('latin1', at, end - 4));
        return end;
      }
      case 'trailers': {
        if (bytes.length - at < 2) return undefined;
        const isEmpty = bytes[at] === CR && bytes[at + 1] === LF;
        const end = isEmpty ? at + 2 : endOf(bytes, at);
        // They mean nothing here.
        if (end !== undefined && !isEmpty) fieldsOf(bytes.toString('latin1', at, end - 4));
        this.isEnded = end !== undefined;
        return end;
      }
      default:
        return this.#readSize(bytes, at);
    }
  }

  #readHead(text: string): void {
    const lineEnd = text.indexOf('\r\n');
    const first = lineEnd < 0 ? text : text.slice(0, lineEnd);
    const [, minor, status] = STATUS_LINE.exec(first) ?? [];
    if (status === undefined || BAD_CHARACTER.test(first)) throw new ProtocolError('the head of a response is invalid');
    const headers = lineEnd < 0 ? new Map<string, string>() : fieldsOf(text.slice(lineEnd + 2));
    const head = { status: Number(status), headers };
    if (head.status === 101) throw new ProtocolError('a response changes the protocol');
    // What precedes a response, such as 103.
    if (head.status < 200) return;
    this.head = head;
    this.#frame(head, minor === '1');
  }

  /** How the body ends (RFC 9112, 6.3). */
  #frame({ status, headers }: ResponseHead, isVersion11: boolean): void {
    const connection = (headers.get('connection') ?? '').toLowerCase();
    this.isKept &&= !/\bclose\b/.test(connection) && (isVersion11 || /\bkeep-alive\b/.test(connection));
    const coding = headers.get('transfer-encoding')?.toLowerCase();
    const length = headers.get('content-length');
    if (length !== undefined && !/^\d{1,15}$/.test(length))
      throw new ProtocolError('the length of a response is invalid');
    if (coding !== undefined && (coding !== 'chunked' || length !== undefined))
      throw new ProtocolError('the length of a response is ambiguous');
    const isEmpty = status === 204 || status === 304;
    this.#isChunked = coding !== undefined && !isEmpty;
    this.#isFirstChunk = true;
    this.#state = this.#isChunked ? 'chunk' : 'body';
    // Version 1.0 has no chunks: what is between may not know where they end.
    if (coding !== undefined) this.isKept &&= isVersion11;
    if (this.#isChunked) return;
    // Without a length the body ends with the connection.
    this.#left = isEmpty ? 0 : Number(length ?? Number.POSITIVE_INFINITY);
    this.isEnded = this.#left === 0;
    if (this.#left === Number.POSITIVE_INFINITY) this.isKept = false;
  }

  /** The line before a chunk, and the line break after the chunk before (RFC 9112, 7.1). */
  #readSize(bytes: Buffer, begin: number): number | undefined {
    let at = begin;
    if (!this.#isFirstChunk) {
      if (bytes[at] !== CR || (at + 1 < bytes.length && bytes[at + 1] !== LF)) throw badChunk();
      at += 2;
    }
    const digits = at;
    let size = 0;
    for (; at < bytes.length; at += 1) {
      const digit = digitOf(bytes[at] as number);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    const end = bytes.indexOf(LF, at) + 1;
    if (at - digits > MAX_DIGITS || (end < 1 ? bytes.length : end) - begin > MAX_LINE_BYTES) throw badChunk();
    if (end < 1) return undefined;
    // Extensions are ignored.
    const hasSize = at > digits && (at + 2 === end || bytes[at] === SEMICOLON);
    if (!hasSize || bytes.indexOf(CR, at) !== end - 2) throw badChunk();
    this.#isFirstChunk = false;
    this.#left = size;
    this.#state = size === 0 ? 'trailers' : 'body';
    return end;
  }
}

/** The position after the empty line that ends a head or trailers. */
function endOf(bytes: Buffer, at: number): number | undefined {
  const found = bytes.indexOf('\r\n\r\n', at);
  const end = found < 0 ? bytes.length : found + 4;
  if (end - at > MAX_HEAD_BYTES) throw new ProtocolError('the headers of a response are too large');
  return found < 0 ? undefined : end;
}

function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const isFraming = FRAMING.has(name);
    // `trim` also removes spaces that are not ASCII.
    if (colon < 1 || !TOKEN.test(name) || (isFraming ? NOT_ASCII : BAD_CHARACTER).test(line))
      throw new ProtocolError('a header of a response is invalid');
    const value = line.slice(colon + 1).trim();
    const known = fields.get(name);
    if (known === undefined) fields.set(name, value);
    else if (isFraming) fields.set(name, `${known}, ${value}`);
  }
  return fields;
}

/** The value of a hexadecimal digit, or -1. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const badChunk = () => new ProtocolError('a chunk of a response is invalid');
