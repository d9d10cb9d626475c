// Whom this worker serves: every peer that speaks the protocol, by one channel each, opened again when it ends.
import { GATEWAY_KEY, PROTOCOL } from '@strata/inference';
import { type Channel, ChannelError, type PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { ChannelEnd } from './serve-channel.ts';

export interface FindParts {
  readonly node: Pick<PeerNode, 'channels' | 'peers'>;
  readonly logger: Logger;
  /** Serves one channel until it is over; never rejects. */
  readonly serve: (channel: Channel) => Promise<ChannelEnd>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Each costs a pulse a second; a worker has few places to share. */
const MOST_GATEWAYS = 64;
/** Peers that are remembered: those asked in vain, and gateways that are away. */
const MOST_PEERS = 1_024;
const LOOK_MS = 60_000;
const LOOK_FOR_MS = 30_000;
const OPEN_MS = 10_000;
/** After the first failure; doubled with each that follows. */
const FIRST_PAUSE_MS = 500;
/** A gateway that restarts has its workers back within this; others are asked seldom, as they may become gateways. */
const MOST_PAUSE_MS = { gateway: 30_000, other: 600_000 };
/** A channel that lasted so long was no failure. */
const GOOD_MS = 10_000;
/** Whoever failed so often in a row is forgotten, until it is met again: half an hour, for a gateway. */
const MOST_FAILURES = 60;

interface Peer {
  /** Known to be one: found as one, or served before. */
  isGateway: boolean;
  state: 'idle' | 'opening' | 'open';
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

export class Gateways implements AsyncDisposable {
  readonly #parts: FindParts;
  readonly #peers = new Map<string, Peer>();
  readonly #stopping = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #looking: Promise<void>;

  constructor(parts: FindParts) {
    this.#parts = parts;
    const { signal } = this.#stopping;
    parts.node.peers.watch(({ kind, peer }) => {
      if (kind === 'connected') this.#met(peer, false);
      else this.#lost(peer);
    }, signal);
    this.#looking = this.#look(signal);
  }

  /** Peer ids of those that have a channel. */
  serving(): readonly string[] {
    return [...this.#peers].flatMap(([peer, { state }]) => (state === 'open' ? [peer] : []));
  }

  /** Opens no more channels, and waits for those that there are: end them first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await Promise.all([this.#looking, ...this.#tasks]);
  }

  /** Opens no more channels. */
  stop(): void {
    this.#stopping.abort();
    for (const { timer } of this.#peers.values()) clearTimeout(timer);
  }

  async #look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(LOOK_FOR_MS)]);
        for await (const peer of this.#parts.node.peers.find(GATEWAY_KEY, { signal: limited })) this.#met(peer, true);
      } catch (error) {
        if (!signal.aborted) this.#parts.logger.debug({ err: error }, 'looking for gateways ended early');
      }
      await pause(LOOK_MS, signal);
    }
  }

  /** A connection to it is there, or a way to make one. */
  #met(name: string, isGateway: boolean): void {
    const known = this.#peers.get(name);
    if (known === undefined && this.#peers.size >= MOST_PEERS && !this.#madeRoom()) return;
    const peer = known ?? { isGateway, state: 'idle', failures: 0, timer: undefined };
    this.#peers.set(name, peer);
    peer.isGateway ||= isGateway;
    if (peer.state !== 'idle') return;
    // A gateway that has come back is asked at once; what spoke no protocol keeps its pause.
    if (peer.timer === undefined || peer.isGateway) this.#begin(name, peer);
  }

  #lost(name: string): void {
    const peer = this.#peers.get(name);
    if (peer === undefined || peer.isGateway || peer.state !== 'idle') return;
    clearTimeout(peer.timer);
    this.#peers.delete(name);
  }

  /** Forgets one that was asked in vain. */
  #madeRoom(): boolean {
    for (const [name, peer] of this.#peers) {
      if (peer.state !== 'idle') continue;
      clearTimeout(peer.timer);
      return this.#peers.delete(name);
    }
    return false;
  }

  #begin(name: string, peer: Peer): void {
    clearTimeout(peer.timer);
    peer.timer = undefined;
    if (this.#stopping.signal.aborted) return;
    const busy = [...this.#peers.values()].filter(({ state }) => state !== 'idle').length;
    if (busy >= MOST_GATEWAYS) {
      peer.timer = setTimeout(() => this.#begin(name, peer), MOST_PAUSE_MS.gateway);
      return;
    }
    peer.state = 'opening';
    const task: Promise<void> = this.#served(name, peer).finally(() => {
      this.#tasks.delete(task);
    });
    this.#tasks.add(task);
  }

  /** Opens a channel and serves it; sets when to try again. */
  async #served(name: string, peer: Peer): Promise<void> {
    const { node, serve, logger, random } = this.#parts;
    let isGood = false;
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(OPEN_MS)]);
      const channel = await node.channels.open(name, PROTOCOL, { signal });
      peer.state = 'open';
      const openedAtMs = performance.now();
      const end = await serve(channel);
      peer.isGateway = end === 'over';
      isGood = end === 'over' && performance.now() - openedAtMs >= GOOD_MS;
    } catch (error) {
      if (!(error instanceof ChannelError)) logger.error({ err: error, peer: name }, 'opening a channel failed');
    }
    peer.state = 'idle';
    peer.failures = isGood ? 1 : peer.failures + 1;
    if (this.#stopping.signal.aborted) return;
    if (peer.failures > MOST_FAILURES) {
      this.#peers.delete(name);
      return;
    }
    const mostMs = peer.isGateway ? MOST_PAUSE_MS.gateway : MOST_PAUSE_MS.other;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (peer.failures - 1), mostMs);
    // Spread out: the workers of a gateway that restarts do not come back in one moment.
    peer.timer = setTimeout(() => this.#begin(name, peer), pauseMs * (0.5 + random()));
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
