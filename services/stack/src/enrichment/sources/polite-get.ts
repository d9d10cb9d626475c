// Requests to publishers: respects their rate limits, and retries with backoff.
import { retryAfterMs } from '@strata/feeds';
import type { Downloaded, Fetched } from '@strata/scan';
import { sleep } from '../../sleep.ts';
import { type SourceDeps, SourceError, type Timeouts } from '../source.ts';
import { readJson } from './read-json.ts';

export type Answered = Extract<Fetched, { kind: 'answered' }>;

export interface PoliteGetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Statuses that are returned in addition to 200. */
  readonly also?: readonly number[];
  /** Minimum interval between requests, shared by all requests of a source. */
  readonly interval?: RequestInterval;
}

const TRIES = 5;
export const DEFAULT_TIMEOUTS: Timeouts = { firstPauseMs: 2_000, requestMs: 120_000, downloadMs: 2 * 3_600_000 };
/** A longer backoff is left to the next sync. */
const LONGEST_PAUSE_MS = 120_000;
/** NVD answers 403 above its rate limit. */
const BUSY: ReadonlySet<number> = new Set([403, 408, 425, 429, 500, 502, 503, 504]);

/** Enforces a minimum interval between requests. */
export class RequestInterval {
  readonly #gapMs: number;
  #nextAt = 0;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  async wait(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#gapMs;
    if (at > now) await sleep(at - now, signal);
  }
}

/** Throws SourceError if all tries fail, and if the signal aborts. */
export async function politeGet(url: string, deps: SourceDeps, options: PoliteGetOptions): Promise<Answered> {
  const { fetcher, signal, timeouts = DEFAULT_TIMEOUTS } = deps;
  const { headers = {}, maxBytes, also = [], interval } = options;
  return retry(url, deps, async () => {
    await interval?.wait(signal);
    signal.throwIfAborted();
    const fetched = await fetcher.fetch(url, { headers, maxBytes, timeoutMs: timeouts.requestMs, signal });
    const isAnswer = fetched.kind === 'answered' && (fetched.status === 200 || also.includes(fetched.status));
    if (!isAnswer) return { failure: fetched };
    if (!fetched.isTruncated) return { good: fetched };
    if (fetched.body.length >= maxBytes) throw new SourceError(`${nameOf(url)} is longer than ${maxBytes} bytes`);
    return { failure: { kind: 'failed', reason: 'failed', detail: 'the connection broke' } };
  });
}

/** A failed request. */
export type Failure =
  | Pick<Extract<Downloaded, { kind: 'answered' }>, 'kind' | 'status' | 'headers'>
  | Pick<Extract<Fetched, { kind: 'failed' }>, 'kind' | 'reason' | 'detail'>;

/** Retries with backoff while the failure is temporary. Throws SourceError if it is not, and if the signal aborts. */
export async function retry<T>(
  url: string,
  { signal, timeouts = DEFAULT_TIMEOUTS }: Pick<SourceDeps, 'signal' | 'timeouts'>,
  ask: () => Promise<{ readonly good: T } | { readonly failure: Failure }>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await ask();
    signal.throwIfAborted();
    if ('good' in outcome) return outcome.good;
    const { failure } = outcome;
    const askedMs = failure.kind === 'answered' ? (retryAfterMs(failure.headers, Date.now()) ?? 0) : 0;
    const pauseMs = Math.max(askedMs, timeouts.firstPauseMs * 2 ** (tries - 1));
    if (tries === triesFor(failure) || !isTemporary(failure) || pauseMs > LONGEST_PAUSE_MS)
      throw new SourceError(messageOf(url, failure), { retryAfterMs: askedMs });
    await sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
}

/** An unresolved name mostly means that there is no network, which lasts longer than the retries. */
function triesFor(failure: Failure): number {
  return failure.kind === 'failed' && failure.reason === 'unresolved' ? 2 : TRIES;
}

/** Whether the failure is temporary. */
function isTemporary(failure: Failure): boolean {
  return failure.kind === 'answered' ? BUSY.has(failure.status) : failure.reason !== 'forbidden';
}

function messageOf(url: string, failure: Failure): string {
  if (failure.kind === 'failed') return `${nameOf(url)} cannot be fetched: ${failure.detail}`;
  const { message } = failure.headers;
  return `${nameOf(url)} answered ${failure.status}${message ? `: ${message.slice(0, 200)}` : ''}`;
}

/** The URL without its query, which may contain secrets. */
export function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The JSON of an answer. Throws SourceError if it is invalid. */
export function jsonOf({ body, url }: Pick<Answered, 'body' | 'url'>): unknown {
  try {
    return readJson(body);
  } catch (cause) {
    throw new SourceError(`${nameOf(url)} is not JSON`, { cause });
  }
}
