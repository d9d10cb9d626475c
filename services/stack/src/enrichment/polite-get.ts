// One document of a publisher: asked for at the pace that it wants, and again after a pause when it is busy.
import type { Fetched } from '@strata/scan';
import { sleep } from '../sleep.ts';
import { SourceError, type SourceParts } from './source.ts';

export type Answered = Extract<Fetched, { kind: 'answered' }>;

export interface PoliteGetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Answers with these besides 200 are given out. */
  readonly also?: readonly number[];
  /** At least so long between the begins of two requests; shared by all of a source. */
  readonly pace?: Pace;
}

const TRIES = 5;
const TIMEOUT_MS = 120_000;
const FIRST_PAUSE_MS = 2_000;
/** A publisher that wants a longer pause than this is asked in the next sync. */
const LONGEST_PAUSE_MS = 120_000;
/** NVD says 403 to who asks too often. */
const BUSY: ReadonlySet<number> = new Set([403, 408, 425, 429, 500, 502, 503, 504]);

/** Spaces requests out. */
export class Pace {
  readonly #gapMs: number;
  #nextAt = 0;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  async turn(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#gapMs;
    if (at > now) await sleep(at - now, signal);
  }
}

/** Throws SourceError when there is no such answer after all tries, and when the signal aborts. */
export async function politeGet(url: string, parts: SourceParts, options: PoliteGetOptions): Promise<Answered> {
  const { fetcher, signal } = parts;
  const { headers = {}, maxBytes, also = [], pace } = options;
  for (let tries = 1; ; tries += 1) {
    await pace?.turn(signal);
    signal.throwIfAborted();
    const fetched = await fetcher.fetch(url, { headers, maxBytes, timeoutMs: TIMEOUT_MS, signal });
    signal.throwIfAborted();
    const isAnswer = fetched.kind === 'answered' && (fetched.status === 200 || also.includes(fetched.status));
    if (isAnswer && !fetched.isTruncated) return fetched;
    if (isAnswer && fetched.body.length >= maxBytes)
      throw new SourceError(`${nameOf(url)} is longer than ${maxBytes} bytes`);
    const pauseMs = pauseAfter(fetched, tries);
    if (tries === TRIES || pauseMs === undefined) throw new SourceError(troubleOf(url, fetched));
    await sleep(pauseMs, signal);
  }
}

/** How long to wait before another try; undefined where that would be no use. */
function pauseAfter(fetched: Fetched, tries: number): number | undefined {
  const growing = FIRST_PAUSE_MS * 2 ** (tries - 1);
  if (fetched.kind === 'failed') return fetched.reason === 'forbidden' ? undefined : growing;
  if (fetched.status === 200) return growing;
  if (!BUSY.has(fetched.status)) return undefined;
  const asked = retryAfterMs(fetched.headers['retry-after']);
  if (asked === undefined) return growing;
  return asked > LONGEST_PAUSE_MS ? undefined : Math.max(asked, growing);
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function troubleOf(url: string, fetched: Fetched): string {
  if (fetched.kind === 'failed') return `${nameOf(url)} cannot be had: ${fetched.detail}`;
  if (fetched.isTruncated) return `${nameOf(url)} broke off`;
  const { message } = fetched.headers;
  return `${nameOf(url)} answered ${fetched.status}${message ? `: ${message.slice(0, 200)}` : ''}`;
}

/** The address without its query, which may hold what is nobody's business. */
export function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The JSON of an answer. Throws SourceError where it is none. */
export function jsonOf({ body, url }: Pick<Answered, 'body' | 'url'>): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (cause) {
    throw new SourceError(`${nameOf(url)} is no JSON`, { cause });
  }
}
