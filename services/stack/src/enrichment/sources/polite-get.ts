// What a publisher gives, asked for at the pace that it wants, and again after a pause when it is busy.
import type { Downloaded, Fetched } from '@strata/scan';
import { sleep } from '../../sleep.ts';
import { type Patience, type SourceDeps, SourceError } from '../source.ts';
import { readJson } from './read-json.ts';

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
export const PATIENCE: Patience = { firstPauseMs: 2_000, requestMs: 120_000, downloadMs: 2 * 3_600_000 };
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
export async function politeGet(url: string, deps: SourceDeps, options: PoliteGetOptions): Promise<Answered> {
  const { fetcher, signal, patience = PATIENCE } = deps;
  const { headers = {}, maxBytes, also = [], pace } = options;
  return askUntil(url, deps, async () => {
    await pace?.turn(signal);
    signal.throwIfAborted();
    const fetched = await fetcher.fetch(url, { headers, maxBytes, timeoutMs: patience.requestMs, signal });
    const isAnswer = fetched.kind === 'answered' && (fetched.status === 200 || also.includes(fetched.status));
    if (!isAnswer) return { trouble: fetched };
    if (!fetched.isTruncated) return { good: fetched };
    if (fetched.body.length >= maxBytes) throw new SourceError(`${nameOf(url)} is longer than ${maxBytes} bytes`);
    return { trouble: { kind: 'failed', reason: 'failed', detail: 'it broke off' } };
  });
}

/** What keeps us from having it. */
export type Trouble =
  | Pick<Extract<Downloaded, { kind: 'answered' }>, 'kind' | 'status' | 'headers'>
  | Pick<Extract<Fetched, { kind: 'failed' }>, 'kind' | 'reason' | 'detail'>;

/** Asks again after pauses while that is of use. Throws SourceError when it is not, and when the signal aborts. */
export async function askUntil<T>(
  url: string,
  { signal, patience = PATIENCE }: Pick<SourceDeps, 'signal' | 'patience'>,
  ask: () => Promise<{ readonly good: T } | { readonly trouble: Trouble }>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await ask();
    signal.throwIfAborted();
    if ('good' in outcome) return outcome.good;
    const { trouble } = outcome;
    const askedMs = trouble.kind === 'answered' ? retryAfterMs(trouble.headers['retry-after']) : undefined;
    const pauseMs = Math.max(askedMs ?? 0, patience.firstPauseMs * 2 ** (tries - 1));
    if (tries === triesFor(trouble) || !isPassing(trouble) || pauseMs > LONGEST_PAUSE_MS)
      throw new SourceError(troubleOf(url, trouble), { retryAfterMs: askedMs });
    await sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
}

/** A name that has no address mostly means that there is no network, and has none in a minute either. */
function triesFor(trouble: Trouble): number {
  return trouble.kind === 'failed' && trouble.reason === 'unresolved' ? 2 : TRIES;
}

/** Whether it may be over in a moment. */
function isPassing(trouble: Trouble): boolean {
  return trouble.kind === 'answered' ? BUSY.has(trouble.status) : trouble.reason !== 'forbidden';
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function troubleOf(url: string, trouble: Trouble): string {
  if (trouble.kind === 'failed') return `${nameOf(url)} cannot be had: ${trouble.detail}`;
  const { message } = trouble.headers;
  return `${nameOf(url)} answered ${trouble.status}${message ? `: ${message.slice(0, 200)}` : ''}`;
}

/** The address without its query, which may hold what is nobody's business. */
export function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The JSON of an answer. Throws SourceError where it is none. */
export function jsonOf({ body, url }: Pick<Answered, 'body' | 'url'>): unknown {
  try {
    return readJson(body);
  } catch (cause) {
    throw new SourceError(`${nameOf(url)} is no JSON`, { cause });
  }
}
