// The workers that are connected: one session each, the newest, and no more of them than are wanted.
import type { Offer } from '@strata/inference';
import type { Channel } from '@strata/p2p';
import type { Logger } from 'pino';
import { openWorkerSession } from './open-session.ts';
import { WorkerLostError, type WorkerSession } from './worker-session.ts';

export interface SessionsDeps {
  /** Name and version, for hello. */
  readonly software: string;
  /** Of a connection, as it is measured beside the sessions. */
  readonly roundTripMs: (peer: string) => number | undefined;
  readonly max: number;
  /** How far a peer is trusted, 0 to 1; 0: it gets no work. */
  readonly trustOf: (peer: string) => number;
  /** Whether there is anything that it could be asked for. */
  readonly offersAnything: (peer: string) => boolean;
  readonly onOffer: (offer: Offer) => void;
  /** Hears that somebody came or went. */
  readonly onChange: (peer: string) => void;
  readonly onBreach: (peer: string, breach: string) => void;
  readonly logger: Logger;
}

/** Whoever has offered nothing after so long holds a place for nothing. */
const OFFER_WITHIN_MS = 10_000;
/** A worker without work gives way to one that is trusted as far only after a fair try. */
const FAIR_TRY_MS = 60_000;

export class Sessions implements AsyncDisposable {
  readonly #deps: SessionsDeps;
  /** Who came first stands first. */
  readonly #connected = new Map<string, WorkerSession>();
  readonly #sinceMs = new Map<string, number>();
  /** Channels whose hello is awaited; one for each peer. */
  readonly #greeting = new Set<string>();
  #isClosed = false;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** By peer id, as they are now. */
  get all(): ReadonlyMap<string, WorkerSession> {
    return this.#connected;
  }

  /** Takes a channel that a peer opened. Never rejects: whoever is no worker is left. */
  async take(channel: Channel): Promise<void> {
    const { peer } = channel;
    const { max, software, roundTripMs, onOffer, onBreach, logger } = this.#deps;
    const isFull = () => this.#connected.size + this.#greeting.size >= max && !this.#connected.has(peer);
    const isOther = this.#isClosed || this.#greeting.has(peer);
    if (!isOther && isFull()) this.#makeRoom(peer);
    if (isOther || isFull()) {
      channel.abort(new Error(isFull() ? 'no place for another worker' : 'another channel is being opened'));
      return;
    }
    this.#greeting.add(peer);
    // It may end before it was entered.
    let end: { readonly loss: string; readonly breach: string | undefined } | undefined;
    let session: WorkerSession | undefined;
    try {
      session = await openWorkerSession(channel, {
        software,
        roundTripMs: () => roundTripMs(peer),
        onOffer,
        onEnd: (told) => {
          end = told;
          if (told.breach !== undefined) onBreach(peer, told.breach);
          if (session) this.#leave(peer, session, told.loss);
        },
      });
    } catch (error) {
      if (!(error instanceof WorkerLostError)) logger.error({ err: error, peer }, 'a worker could not be greeted');
      else logger.debug({ peer, loss: error.loss }, 'a peer that came is no worker');
      return;
    } finally {
      this.#greeting.delete(peer);
    }
    if (end || this.#isClosed) return void (await session[Symbol.asyncDispose]());
    const before = this.#connected.get(peer);
    // A connection of which we do not know yet that it is lost; again and again: two processes have one key.
    if (before) logger.info({ peer, loss: 'replaced' }, 'a worker left');
    this.#connected.delete(peer);
    this.#connected.set(peer, session);
    this.#sinceMs.set(peer, performance.now());
    logger.info({ peer, workers: this.#connected.size }, 'a worker came');
    this.#deps.onChange(peer);
    // Whoever comes anew has lost the connection that we may still believe in.
    await before?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#connected.values()].map((session) => session[Symbol.asyncDispose]()));
  }

  /** Ends the session that is worth least, if it is worth less than that of who comes. */
  #makeRoom(comer: string): void {
    const { trustOf, offersAnything } = this.#deps;
    const max = trustOf(comer);
    if (max === 0) return;
    let min: { readonly peer: string; readonly session: WorkerSession; readonly worth: number } | undefined;
    for (const [peer, session] of this.#connected) {
      const ageMs = performance.now() - (this.#sinceMs.get(peer) ?? 0);
      const trust = trustOf(peer);
      const isOfUse = trust > 0 && (offersAnything(peer) || ageMs < OFFER_WITHIN_MS);
      if (isOfUse && (hasWork(session) || ageMs < FAIR_TRY_MS || trust > max)) continue;
      const worth = isOfUse ? trust : 0;
      if (!min || worth < min.worth) min = { peer, session, worth };
    }
    if (!min) return;
    this.#leave(min.peer, min.session, 'gave way');
    void min.session[Symbol.asyncDispose]();
  }

  #leave(peer: string, session: WorkerSession, loss: string): void {
    if (this.#connected.get(peer) !== session) return;
    this.#connected.delete(peer);
    this.#sinceMs.delete(peer);
    if (!this.#isClosed) this.#deps.logger.info({ peer, loss, workers: this.#connected.size }, 'a worker left');
    this.#deps.onChange(peer);
  }
}

const hasWork = ({ load }: WorkerSession): boolean => load.own + load.calls > 0;
