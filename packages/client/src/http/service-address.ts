// Where a service is, and how it is asked: its origin, the key that goes along, a stream that opens in time or not at all.
import { textOf } from './answer-text.ts';
import { readBounded } from './fetch-bounded.ts';
import { BrokenStreamError } from './read-sse.ts';

/** API key, or what tells the one to use now. */
export type KeySource = string | (() => string | undefined) | undefined;

/**
 * The base address of a service; paths are absolute, so that only its origin counts. Throws a TypeError for what is no web
 * address, and for one with a name or password in it: `fetch` takes none, and what holds one is not repeated in the message.
 */
export function baseOf(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base && (base.username !== '' || base.password !== ''))
    throw new TypeError('baseUrl holds a user name or password; leave both out, and give the API key as `key`');
  if (!base || !/^https?:$/.test(base.protocol)) throw new TypeError(`baseUrl is not a web address: ${baseUrl}`);
  return base;
}

/** The key without blanks around it. Undefined: there is none; `unusable`: no header can carry it. */
export function keyOf(source: KeySource): { readonly key?: string; readonly unusable?: true } {
  const key = (typeof source === 'function' ? source() : source)?.trim();
  if (key === undefined || key === '') return {};
  // `fetch` would call it a failure of the network.
  return /^[\x21-\x7e]+$/.test(key) ? { key } : { unusable: true };
}

export interface OpenStreamOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly init: RequestInit;
  /** Until the headers are there, and for a whole refusal; a stream may take as long as it likes. */
  readonly connectMs: number;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** Ends the connection when the stream is of no use any more. */
  readonly line: AbortController;
}

/** Answers once the headers are there; whatever the status is. */
export function openStream(url: URL, options: OpenStreamOptions): Promise<Response> {
  const { fetch, init, signal, line } = options;
  const ends = signal ? AbortSignal.any([signal, line.signal]) : line.signal;
  // Following a redirect would carry the API key to another host.
  return inTime(fetch(url, { ...init, cache: 'no-store', redirect: 'error', signal: ends }), options);
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

/** What is said in place of a stream; empty where that is no text, or too much of it. */
export async function textOfRefusal(response: Response, options: OpenStreamOptions): Promise<string> {
  const content = await inTime(readBounded(response, MAX_REFUSAL_BYTES), options);
  return (content && textOf(content)) ?? '';
}

async function inTime<T>(work: Promise<T>, { connectMs, line }: OpenStreamOptions): Promise<T> {
  const late = new BrokenStreamError(`there is no answer after ${connectMs / 1_000} s`);
  const timer = setTimeout(() => line.abort(late), connectMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
