// The connected workers: one session per worker, the newest, up to a maximum.
import type { Offer } from '@strata/inference';
import type { Channel } from '@strata/p2p';
import type { Logger } from 'pino';
import { openWorkerSession } from './open-session.ts';
import { WorkerLostError } from './session-events.ts';
import type { WorkerSession } from './worker-session.ts';

export interface SessionsDeps {
  /** Name and version for the hello frame. */
  readonly software: string;
  /** Round-trip time of a connection, measured elsewhere. */
  readonly roundTripMs: (peer: string) => number | undefined;
  readonly max: number;
  /** Trust in a peer, 0 to 1; with 0 it gets no requests. */
  readonly trustOf: (peer: string) => number;
  /** Whether the peer offers any model. */
  readonly hasModels: (peer: string) => boolean;
  readonly onOffer: (offer: Offer) => void;
  /** Called when a worker connects or disconnects. */
  readonly onChange: (peer: string) => void;
  readonly onBreach: (peer: string, breach: string) => void;
  readonly logger: Logger;
}

/** A worker that has offered no model after this time can be evicted. */
const OFFER_LIMIT_MS = 10_000;
/** An idle worker can be evicted for an equally trusted one only after this time. */
const MIN_SESSION_MS = 60_000;

export class Sessions implements AsyncDisposable {
  readonly #deps: SessionsDeps;
  /** In the order of connection. */
  readonly #connected = new Map<string, WorkerSession>();
  readonly #sinceMs = new Map<string, number>();
  /** Peers whose hello is awaited, with one channel each. */
  readonly #greeting = new Set<string>();
  #isClosed = false;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** The current sessions by peer id. */
  get all(): ReadonlyMap<string, WorkerSession> {
    return this.#connected;
  }

  /** Takes a channel that a peer opened. Never rejects: the channel of a peer that is not a worker is closed. */
  async take(channel: Channel): Promise<void> {
    const { peer } = channel;
    const { max, software, roundTripMs, onOffer, onBreach, logger } = this.#deps;
    const isFull = () => this.#connected.size + this.#greeting.size >= max && !this.#connected.has(peer);
    const isUnwanted = this.#isClosed || this.#greeting.has(peer);
    if (!isUnwanted && isFull()) this.#evictFor(peer);
    if (isUnwanted || isFull()) {
      channel.abort(new Error(isFull() ? 'no capacity for another worker' : 'another channel is being opened'));
      return;
    }
    this.#greeting.add(peer);
    // The session may end before it is registered.
    let end: { readonly loss: string; readonly breach: string | undefined } | undefined;
    let session: WorkerSession | undefined;
    try {
      session = await openWorkerSession(channel, {
        software,
        roundTripMs: () => roundTripMs(peer),
        onOffer,
        onEnd: (reported) => {
          end = reported;
          if (reported.breach !== undefined) onBreach(peer, reported.breach);
          if (session) this.#leave(peer, session, reported.loss);
        },
      });
    } catch (error) {
      if (!(error instanceof WorkerLostError)) logger.error({ err: error, peer }, 'opening a worker session failed');
      else logger.debug({ peer, loss: error.loss }, 'a connected peer is not a worker');
      return;
    } finally {
      this.#greeting.delete(peer);
    }
    if (end || this.#isClosed) return void (await session[Symbol.asyncDispose]());
    const before = this.#connected.get(peer);
    // A connection whose loss was not noticed yet. If this happens repeatedly, two processes use the same key.
    if (before) logger.info({ peer, loss: 'replaced' }, 'worker disconnected');
    this.#connected.delete(peer);
    this.#connected.set(peer, session);
    this.#sinceMs.set(peer, performance.now());
    logger.info({ peer, workers: this.#connected.size }, 'worker connected');
    this.#deps.onChange(peer);
    // A worker that connects again has lost its previous connection.
    await before?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#connected.values()].map((session) => session[Symbol.asyncDispose]()));
  }

  /** Evicts the session with the lowest worth, if the new peer is worth more. */
  #evictFor(newPeer: string): void {
    const { trustOf, hasModels } = this.#deps;
    const max = trustOf(newPeer);
    if (max === 0) return;
    let min: { readonly peer: string; readonly session: WorkerSession; readonly worth: number } | undefined;
    for (const [peer, session] of this.#connected) {
      const ageMs = performance.now() - (this.#sinceMs.get(peer) ?? 0);
      const trust = trustOf(peer);
      const isUseful = trust > 0 && (hasModels(peer) || ageMs < OFFER_LIMIT_MS);
      if (isUseful && (hasWork(session) || ageMs < MIN_SESSION_MS || trust > max)) continue;
      const worth = isUseful ? trust : 0;
      if (!min || worth < min.worth) min = { peer, session, worth };
    }
    if (!min) return;
    this.#leave(min.peer, min.session, 'evicted');
    void min.session[Symbol.asyncDispose]();
  }

  #leave(peer: string, session: WorkerSession, loss: string): void {
    if (this.#connected.get(peer) !== session) return;
    this.#connected.delete(peer);
    this.#sinceMs.delete(peer);
    if (!this.#isClosed) this.#deps.logger.info({ peer, loss, workers: this.#connected.size }, 'worker disconnected');
    this.#deps.onChange(peer);
  }
}

const hasWork = ({ load }: WorkerSession): boolean => load.own + load.calls > 0;
