// Requests to a service: its base URL, the API key, and opening a stream with a time limit.
import { textOf } from './answer-text.ts';
import { readBounded } from './fetch-bounded.ts';
import { BrokenStreamError } from './read-sse.ts';

/** An API key, or a function that returns the current one. */
export type KeySource = string | (() => string | undefined) | undefined;

/**
 * The base URL of a service; paths are absolute, so only its origin is used. Throws a TypeError for anything but an HTTP URL, and for one
 * with a user name or password, which `fetch` does not accept; the message does not repeat it.
 */
export function baseOf(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base && (base.username !== '' || base.password !== ''))
    throw new TypeError('baseUrl contains a user name or password; remove it, and pass the API key as `key`');
  if (!base || !/^https?:$/.test(base.protocol)) throw new TypeError(`baseUrl is not a web address: ${baseUrl}`);
  return base;
}

/** The trimmed key. Empty without a key; `unusable` where a header cannot contain it. */
export function keyOf(source: KeySource): { readonly key?: string; readonly unusable?: true } {
  const key = (typeof source === 'function' ? source() : source)?.trim();
  if (key === undefined || key === '') return {};
  // `fetch` would report it as a network error.
  return /^[\x21-\x7e]+$/.test(key) ? { key } : { unusable: true };
}

export interface OpenStreamOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly init: RequestInit;
  /** Time limit for the headers, and for the body of an error; a stream has no limit. */
  readonly connectMs: number;
  /** The signal of the caller. */
  readonly signal: AbortSignal | undefined;
  /** Ends the connection. */
  readonly connection: AbortController;
}

/** Resolves when the headers have arrived, whatever the status is. */
export function openStream(url: URL, options: OpenStreamOptions): Promise<Response> {
  const { fetch, init, signal, connection } = options;
  const ends = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
  // A redirect would send the API key to another host.
  return inTime(fetch(url, { ...init, cache: 'no-store', redirect: 'error', signal: ends }), options);
}

const MAX_ERROR_BYTES = 1024 * 1024;

/** The body of an error response; empty where it is not text, or too long. */
export async function errorTextOf(response: Response, options: OpenStreamOptions): Promise<string> {
  const content = await inTime(readBounded(response, MAX_ERROR_BYTES), options);
  return (content && textOf(content)) ?? '';
}

async function inTime<T>(work: Promise<T>, { connectMs, connection }: OpenStreamOptions): Promise<T> {
  const timeout = new BrokenStreamError(`no response after ${connectMs / 1_000} s`);
  const timer = setTimeout(() => connection.abort(timeout), connectMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
