// Follows the event stream, and resumes after each broken connection.
import { objectOf } from '../http/answer-text.ts';
import { reasonOf } from '../http/fetch-bounded.ts';
import { pause } from '../http/pause.ts';
import { BrokenStreamError, readSseWithPositions } from '../http/read-sse.ts';
import { errorTextOf, openStream } from '../http/service-address.ts';
import { answeredProblem, invalidAnswer, networkProblem, type StackProblem } from './stack-problem.ts';
import type { AdvisoryEvent, AnomalyEvent, MigrationEvent, ServiceChangeEvent, StackStreams } from './stack-types.ts';

export type StackEvent = MigrationEvent | ServiceChangeEvent | AnomalyEvent | AdvisoryEvent;

type StreamQuery = StackStreams['/stack/v1/stream']['query'];

/** All conditions must match. */
export interface EventFilter {
  readonly types?: readonly StackEvent['type'][] | undefined;
  readonly domain?: string | undefined;
  readonly provider?: string | undefined;
  readonly category?: StreamQuery['category'] | undefined;
}

/** The state of the connection. */
export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** The connection broke; the client reconnects after a delay. */
  | { readonly kind: 'waiting'; readonly retryInMs: number; readonly reason: string }
  /** Events were missed that the service no longer stores. */
  | { readonly kind: 'reset'; readonly reason: string };

export interface CheckLedgerOptions {
  readonly signal?: AbortSignal | undefined;
  /** Position to resume from, as reported by `onEventId`; without it, now. Throws a TypeError for a value that a header cannot contain. */
  readonly lastEventId?: string | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
  /**
   * Called with the position at the start of the stream, and when the loop requests the next event, which means that the previous one is
   * processed. Store the position to resume later: an event on which the loop ended or failed is delivered again (at least once).
   */
  readonly onEventId?: ((lastEventId: string) => void) | undefined;
}

export interface FollowDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly headers: () => Record<string, string>;
  /** By default longer than three heartbeats of the service. */
  readonly silentMs?: number;
  /** Waits before the client reconnects; rejects with the signal's reason. */
  readonly wait?: typeof pause;
}

const SILENT_MS = 45_000;
/** Time limit for the response headers. */
const CONNECT_MS = 30_000;
/** Limits of the delay that a server requests. */
const RETRY_MS = { default: 3_000, min: 250, max: 60_000 } as const;

const EVENT_TYPES: Readonly<Record<StackEvent['type'], true>> = {
  migration: true,
  service_change: true,
  anomaly: true,
  advisory: true,
};

/** A connection error that a retry may resolve. */
class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
  readonly problem: StackProblem;

  constructor(problem: StackProblem) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/** Events as they occur. Throws a `StackProblem` that a retry cannot resolve, the signal's reason, and errors of the caller's functions. */
export async function* followEvents(
  url: URL,
  { signal, onState, onEventId, ...options }: CheckLedgerOptions & FollowDeps,
): AsyncGenerator<StackEvent, void, undefined> {
  const { silentMs = SILENT_MS, wait = pause } = options;
  let { lastEventId } = options;
  let retryMs: number = RETRY_MS.default;
  const moveTo = (position: string) => {
    // Empty, or not usable in a header.
    if (!/^[\x20-\x7e]{1,256}$/.test(position)) return;
    lastEventId = position;
    onEventId?.(position);
  };
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    onState?.({ kind: 'connecting' });
    const connection = new AbortController();
    let reason = 'the service ended the stream';
    let minMs = 0;
    let publicUrlOf = Number.POSITIVE_INFINITY;
    try {
      const body = await connect(url, { ...options, lastEventId, signal, connection });
      publicUrlOf = performance.now();
      onState?.({ kind: 'open' });
      for await (const item of itemsOf(readSseWithPositions(body, { silentMs }), url)) {
        // Events that arrived before the abort are not yielded any more.
        signal?.throwIfAborted();
        if (item.kind === 'retry') {
          retryMs = Math.min(Math.max(item.retryMs, RETRY_MS.min), RETRY_MS.max);
          continue;
        }
        if (item.kind === 'position') {
          moveTo(item.lastEventId);
          continue;
        }
        failures = 0;
        if (item.name === 'reset') {
          // The service rejected this id and would reject it again.
          if (item.lastEventId === '') lastEventId = undefined;
          const given = objectOf(item.data)?.reason;
          onState?.({ kind: 'reset', reason: typeof given === 'string' ? given : 'events were missed' });
        } else if (Object.hasOwn(EVENT_TYPES, item.name)) yield eventOf(item.data, url);
        // Unknown types are from a newer service and are skipped.
        moveTo(item.lastEventId);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionLostError)) throw error;
      const { problem } = error;
      reason = problem.detail || problem.title;
      minMs = (problem.retryAfterSeconds ?? 0) * 1_000;
    } finally {
      connection.abort();
    }
    // A long connection was successful, even without events.
    if (performance.now() - publicUrlOf > RETRY_MS.max) failures = 0;
    const retryInMs = pauseMs({ retryMs, failures, minMs });
    onState?.({ kind: 'waiting', retryInMs, reason });
    await wait(retryInMs, signal);
  }
}

interface ConnectOptions extends FollowDeps {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly connection: AbortController;
}

/** Throws ConnectionLostError, or a `StackProblem` that a retry cannot resolve. */
async function connect(url: URL, options: ConnectOptions): Promise<ReadableStream<Uint8Array>> {
  const { fetch, headers, lastEventId, signal, connection } = options;
  // Created here, so that an invalid value is an error of the caller; `fetch` would report it as a network error.
  const requestHeaders = new Headers({
    ...headers(),
    Accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
  });
  const opening = { fetch, init: { headers: requestHeaders }, connectMs: CONNECT_MS, signal, connection };
  const response = await openStream(url, opening).catch((error: unknown) => {
    throw lostBy(error, url);
  });
  const { status, body } = response;
  if (status >= 400) {
    const text = await errorTextOf(response, opening).catch((error: unknown) => {
      throw lostBy(error, url);
    });
    const problem = answeredProblem(status, response.headers, text);
    throw isTemporary(problem) ? new ConnectionLostError(problem) : problem;
  }
  if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw invalidAnswer(`${url} is not a stream of events.`, status, response.headers);
  return body;
}

/** The same items; an error of the stream is a ConnectionLostError. Errors of the caller's loop do not pass through here. */
async function* itemsOf<T>(items: AsyncGenerator<T, void, undefined>, url: URL): AsyncGenerator<T, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw lostBy(error, url);
  }
}

function eventOf(data: string, url: URL): StackEvent {
  const event = objectOf(data);
  if (!event) throw invalidAnswer(`${url} sent an event that is not a JSON object.`, 200);
  return event as unknown as StackEvent;
}

function lostBy(error: unknown, { host }: URL): ConnectionLostError {
  const reason = error instanceof BrokenStreamError ? error.message : reasonOf(error, CONNECT_MS);
  return new ConnectionLostError(networkProblem(`${host}: ${reason}`, { cause: error }));
}

/** Whether a retry may succeed soon. A used-up quota lasts for hours and is not temporary. */
function isTemporary({ status }: StackProblem): boolean {
  return status === 0 || status === 408 || status >= 500;
}

/** Exponential backoff with jitter, so that clients that were disconnected together do not reconnect together. */
function pauseMs({ retryMs, failures, minMs }: { retryMs: number; failures: number; minMs: number }): number {
  const backoff = Math.min(retryMs * 2 ** Math.min(failures, 10), RETRY_MS.max);
  return Math.round(Math.max(backoff * (0.5 + Math.random() / 2), Math.min(minMs, RETRY_MS.max)));
}
