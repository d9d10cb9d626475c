// Follows the event stream: joins again where the line broke, as often as it breaks.
import { objectOf } from '../http/answer-text.ts';
import { reasonOf } from '../http/fetch-bounded.ts';
import { pause } from '../http/pause.ts';
import { BrokenStreamError, readSseWithPlaces } from '../http/read-sse.ts';
import { openStream, textOfRefusal } from '../http/service-address.ts';
import { answeredProblem, invalidAnswer, networkProblem, type StackProblem } from './stack-problem.ts';
import type { AdvisoryEvent, AnomalyEvent, MigrationEvent, ServiceChangeEvent, StackStreams } from './stack-types.ts';

export type StackEvent = MigrationEvent | ServiceChangeEvent | AnomalyEvent | AdvisoryEvent;

type StreamQuery = StackStreams['/stack/v1/stream']['query'];

/** Only the events that all of these hold for. */
export interface EventFilter {
  readonly types?: readonly StackEvent['type'][] | undefined;
  readonly domain?: string | undefined;
  readonly provider?: string | undefined;
  readonly category?: StreamQuery['category'] | undefined;
}

/** What the line is doing. */
export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Broken for a reason; joined again after a pause. */
  | { readonly kind: 'waiting'; readonly retryInMs: number; readonly reason: string }
  /** Events were missed that the service no longer keeps: what was collected before has a gap. */
  | { readonly kind: 'reset'; readonly reason: string };

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Where to go on, as `onEventId` told it; from now on without. Throws a TypeError for what no header can carry. */
  readonly lastEventId?: string | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
  /**
   * Told when the loop comes back for more, so after it is done with an event, and where the stream is joined: keep it to go
   * on there another time. The event on which a loop was left, or died, comes again then: each is seen at least once.
   */
  readonly onEventId?: ((lastEventId: string) => void) | undefined;
}

export interface FollowComponents {
  readonly fetch: typeof globalThis.fetch;
  readonly headers: () => Record<string, string>;
  /** Three heartbeats of the service. */
  readonly silentMs?: number;
  /** Waits before the line is joined again; rejects with the signal's reason. */
  readonly wait?: typeof pause;
}

const SILENT_MS = 45_000;
/** Until the headers of the answer. */
const CONNECT_MS = 30_000;
/** What a server may ask for: neither a storm of requests nor a wait without an end. */
const RETRY_MS = { default: 3_000, min: 250, max: 60_000 } as const;

const EVENT_TYPES: Readonly<Record<StackEvent['type'], true>> = {
  migration: true,
  service_change: true,
  anomaly: true,
  advisory: true,
};

/** What broke the line, where asking again may mend it; everything else that is thrown is somebody's mistake. */
class BrokenLine extends Error {
  override readonly name = 'BrokenLine';
  readonly problem: StackProblem;

  constructor(problem: StackProblem) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/** Events as they come. Throws a `StackProblem` that asking again cannot mend, the signal's reason, and what the caller's functions throw. */
export async function* followEvents(
  url: URL,
  { signal, onState, onEventId, ...options }: FollowOptions & FollowComponents,
): AsyncGenerator<StackEvent, void, undefined> {
  const { silentMs = SILENT_MS, wait = pause } = options;
  let { lastEventId } = options;
  let retryMs: number = RETRY_MS.default;
  const comeTo = (place: string) => {
    // None, or nothing that could be asked with.
    if (!/^[\x20-\x7e]{1,256}$/.test(place)) return;
    lastEventId = place;
    onEventId?.(place);
  };
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    onState?.({ kind: 'connecting' });
    const line = new AbortController();
    let reason = 'the service ended the stream';
    let minMs = 0;
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      const body = await openLine(url, { ...options, lastEventId, signal, line });
      openedAt = performance.now();
      onState?.({ kind: 'open' });
      for await (const item of ofLine(readSseWithPlaces(body, { silentMs }), url)) {
        // What came before the abort and was not read yet is not read any more.
        signal?.throwIfAborted();
        if (item.kind === 'retry') {
          retryMs = Math.min(Math.max(item.retryMs, RETRY_MS.min), RETRY_MS.max);
          continue;
        }
        if (item.kind === 'place') {
          comeTo(item.lastEventId);
          continue;
        }
        failures = 0;
        if (item.name === 'reset') {
          // Asked again with the id that was refused, the service would only refuse it again.
          if (item.lastEventId === '') lastEventId = undefined;
          const told = objectOf(item.data)?.reason;
          onState?.({ kind: 'reset', reason: typeof told === 'string' ? told : 'events were missed' });
        } else if (Object.hasOwn(EVENT_TYPES, item.name)) yield eventOf(item.data, url);
        // Other kinds are of a service that is newer than this client.
        comeTo(item.lastEventId);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof BrokenLine)) throw error;
      const { problem } = error;
      reason = problem.detail || problem.title;
      minMs = (problem.retryAfterSeconds ?? 0) * 1_000;
    } finally {
      line.abort();
    }
    // A line that stood for long was a good one, even where nothing happened.
    if (performance.now() - openedAt > RETRY_MS.max) failures = 0;
    const retryInMs = pauseMs({ retryMs, failures, minMs });
    onState?.({ kind: 'waiting', retryInMs, reason });
    await wait(retryInMs, signal);
  }
}

interface LineOptions extends FollowComponents {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly line: AbortController;
}

/** Throws BrokenLine, or a `StackProblem` that asking again cannot mend. */
async function openLine(url: URL, options: LineOptions): Promise<ReadableStream<Uint8Array>> {
  const { fetch, headers, lastEventId, signal, line } = options;
  // Made here, where what no header can carry is a mistake; `fetch` would call it a failure as if of the network.
  const asking = new Headers({
    ...headers(),
    Accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
  });
  const opening = { fetch, init: { headers: asking }, connectMs: CONNECT_MS, signal, line };
  const response = await openStream(url, opening).catch((error: unknown) => {
    throw brokenBy(error, url);
  });
  const { status, body } = response;
  if (status >= 400) {
    const text = await textOfRefusal(response, opening).catch((error: unknown) => {
      throw brokenBy(error, url);
    });
    const problem = answeredProblem(status, response.headers, text);
    throw isPassing(problem) ? new BrokenLine(problem) : problem;
  }
  if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw invalidAnswer(`${url} is not a stream of events.`, status, response.headers);
  return body;
}

/** The same items; whatever ends them before their time is a BrokenLine. What the caller's loop throws is not seen here. */
async function* ofLine<T>(items: AsyncGenerator<T, void, undefined>, url: URL): AsyncGenerator<T, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw brokenBy(error, url);
  }
}

function eventOf(data: string, url: URL): StackEvent {
  const event = objectOf(data);
  if (!event) throw invalidAnswer(`${url} sent an event that is not a JSON object.`, 200);
  return event as unknown as StackEvent;
}

function brokenBy(error: unknown, { host }: URL): BrokenLine {
  const reason = error instanceof BrokenStreamError ? error.message : reasonOf(error, CONNECT_MS);
  return new BrokenLine(networkProblem(`${host}: ${reason}`, { cause: error }));
}

/** Whether it may be otherwise a moment later. A used-up quota is not: it lasts for hours. */
function isPassing({ status }: StackProblem): boolean {
  return status === 0 || status === 408 || status >= 500;
}

/** Longer after each failure in a row, and never the same for all who were cut off together. */
function pauseMs({ retryMs, failures, minMs }: { retryMs: number; failures: number; minMs: number }): number {
  const backoff = Math.min(retryMs * 2 ** Math.min(failures, 10), RETRY_MS.max);
  return Math.round(Math.max(backoff * (0.5 + Math.random() / 2), Math.min(minMs, RETRY_MS.max)));
}
