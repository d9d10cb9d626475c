// The gateways that this worker serves: every peer with the protocol, through one channel each, which is reopened when
// it ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_KEY, PROTOCOL } from '@strata/inference';
import { type Channel, ChannelError, type PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { ChannelEnd, NoteWork } from '../serve/serve-channel.ts';

export interface FindDeps {
  readonly node: Pick<PeerNode, 'channels' | 'peers'>;
  readonly logger: Logger;
  /** Serves one channel until it is closed, and reports its requests; never rejects. */
  readonly serve: (channel: Channel, onWork: NoteWork) => Promise<ChannelEnd>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** Each costs a heartbeat per second, and a worker has few slots to share. */
const MAX_GATEWAYS = 64;
/** The part of these reserved for gateways that the operator has named. */
const NAMED_GATEWAYS = 8;
/** A gateway without requests for this long can be replaced by another one. */
const IDLE_MS = 60_000;
/** Limit for channels being opened, separate from the above: most peers are not gateways. */
const MAX_OPENING = 32;
const OPENING_RETRY_MS = 1_000;
/** Maximum number of remembered peers: failed ones, and gateways that are offline. */
const MAX_PEERS = 1_024;
const SEARCH_INTERVAL_MS = 60_000;
const SEARCH_LIMIT_MS = 30_000;
const OPEN_MS = 10_000;
/** Backoff after the first failure; doubled with each consecutive one. */
const MIN_BACKOFF_MS = 500;
/** A gateway that restarts is reconnected within this time, jitter included, for so many attempts: 20 to 40 s. */
const MAX_RESTART_BACKOFF_MS = 1_300;
const RESTART_ATTEMPTS = 30;
/** Later, and for other peers, which may become gateways. */
const MAX_BACKOFF_MS = { gateway: 30_000, other: 600_000 };
/** First backoff for a peer with another protocol. */
const UNFIT_BACKOFF_MS = 60_000;
/** A channel that was open for this long does not count as a failure. */
const GOOD_MS = 2_000;
/**
 * A peer with this many consecutive failures is forgotten until it is discovered again: for a gateway, half an hour.
 */
const MAX_FAILURES = 90;

interface Peer {
  /** Discovered as a gateway, or served before. */
  isGateway: boolean;
  /** It uses another protocol; reconnecting does not change that. */
  isUnfit: boolean;
  state: 'idle' | 'opening' | 'open';
  /**
   * For an open channel: when it was opened, its running requests, when that number last changed, and how to close it.
   */
  openedAtMs: number;
  running: number;
  workedAtMs: number;
  end: () => void;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

export class Gateways implements AsyncDisposable {
  readonly #deps: FindDeps;
  readonly #peers = new Map<string, Peer>();
  readonly #named = new Set<string>();
  readonly #stopping = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #searching: Promise<void>;

  constructor(deps: FindDeps) {
    this.#deps = deps;
    const { signal } = this.#stopping;
    deps.node.peers.watch(({ kind, peer }) => {
      if (kind === 'connected') this.#discovered(peer, false);
      else this.#lost(peer);
    }, signal);
    this.#searching = this.#search(signal);
  }

  /** Peer ids of gateways with an open channel. */
  serving(): readonly string[] {
    return [...this.#peers].flatMap(([peer, { state }]) => (state === 'open' ? [peer] : []));
  }

  /** Names the operator's gateways, for which some channels are reserved. */
  name(peers: readonly string[]): void {
    for (const peer of peers) this.#named.add(peer);
  }

  /** Opens no more channels, and waits for the open ones, which must be ended first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await Promise.all([this.#searching, ...this.#tasks]);
  }

  /** Opens no more channels. */
  stop(): void {
    this.#stopping.abort();
    for (const { timer } of this.#peers.values()) clearTimeout(timer);
  }

  async #search(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_LIMIT_MS)]);
        for await (const peer of this.#deps.node.peers.find(GATEWAY_KEY, { signal: limited }))
          this.#discovered(peer, true);
      } catch (error) {
        if (!signal.aborted) this.#deps.logger.debug({ err: error }, 'searching for gateways ended early');
      }
      await sleep(SEARCH_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** A peer is connected, or was found in the DHT. */
  #discovered(name: string, isGateway: boolean): void {
    const known = this.#peers.get(name);
    if (known === undefined && this.#peers.size >= MAX_PEERS && !this.#evicted()) return;
    const peer = known ?? newPeer();
    this.#peers.set(name, peer);
    if (peer.state !== 'idle') return;
    // A gateway that has come back is retried immediately; a peer with another protocol keeps its backoff.
    if (peer.timer !== undefined && peer.isUnfit) return;
    peer.isGateway ||= isGateway;
    if (peer.timer === undefined || peer.isGateway) this.#begin(name, peer);
  }

  #lost(name: string): void {
    const peer = this.#peers.get(name);
    if (peer === undefined || peer.isGateway || peer.state !== 'idle') return;
    clearTimeout(peer.timer);
    this.#peers.delete(name);
  }

  /** Forgets a peer that failed; an offline gateway only if there is no other peer. */
  #evicted(): boolean {
    const idle = [...this.#peers].filter(([name, { state }]) => state === 'idle' && !this.#named.has(name));
    const [name, peer] = idle.find(([, { isGateway }]) => !isGateway) ?? idle[0] ?? [];
    if (name === undefined) return false;
    clearTimeout(peer?.timer);
    return this.#peers.delete(name);
  }

  /** Whether one more channel can be opened, and the channel to close for it, if any. */
  #capacityFor(name: string): { readonly evicted?: Peer } | undefined {
    const open = [...this.#peers].filter(([, { state }]) => state === 'open');
    const unnamed = open.filter(([other]) => !this.#named.has(other)).map(([, peer]) => peer);
    const named = open.length - unnamed.length;
    const free = this.#named.has(name)
      ? MAX_GATEWAYS - open.length
      : MAX_GATEWAYS - Math.max(NAMED_GATEWAYS, named) - unnamed.length;
    if (free > 0) return {};
    const sinceMs = this.#deps.nowMs() - IDLE_MS;
    // Gateways that have never sent a request come first.
    const [evicted] = unnamed
      .filter(({ running, openedAtMs, workedAtMs }) => running === 0 && openedAtMs <= sinceMs && workedAtMs <= sinceMs)
      .sort((a, b) => a.workedAtMs - b.workedAtMs || a.openedAtMs - b.openedAtMs);
    return evicted && { evicted };
  }

  #begin(name: string, peer: Peer): void {
    clearTimeout(peer.timer);
    peer.timer = undefined;
    if (this.#stopping.signal.aborted) return;
    const opening = [...this.#peers.values()].filter(({ state }) => state === 'opening').length;
    const retryMs = opening >= MAX_OPENING ? OPENING_RETRY_MS : MAX_BACKOFF_MS.gateway;
    if (opening >= MAX_OPENING || this.#capacityFor(name) === undefined) {
      peer.timer = setTimeout(() => this.#begin(name, peer), retryMs);
      return;
    }
    peer.state = 'opening';
    const task: Promise<void> = this.#connect(name, peer).finally(() => {
      this.#tasks.delete(task);
    });
    this.#tasks.add(task);
  }

  /** Serves an open channel, if there is still capacity for it. */
  async #serve(name: string, peer: Peer, channel: Channel): Promise<ChannelEnd> {
    const capacity = this.#capacityFor(name);
    if (capacity === undefined) {
      channel.abort(new Error('this worker has no capacity for another gateway'));
      return 'silent';
    }
    capacity.evicted?.end();
    peer.state = 'open';
    peer.openedAtMs = this.#deps.nowMs();
    peer.running = 0;
    peer.workedAtMs = 0;
    peer.end = () => {
      // Its capacity is already assigned to another gateway.
      peer.openedAtMs = Number.POSITIVE_INFINITY;
      channel.abort(new Error('replaced by another gateway'));
    };
    return this.#deps.serve(channel, (running) => {
      peer.running = running;
      peer.workedAtMs = this.#deps.nowMs();
    });
  }

  /** Opens a channel and serves it; afterwards schedules the next attempt. */
  async #connect(name: string, peer: Peer): Promise<void> {
    const { node, logger, random, nowMs } = this.#deps;
    let isGood = false;
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(OPEN_MS)]);
      const channel = await node.channels.open(name, PROTOCOL, { signal });
      const openedAtMs = nowMs();
      const end = await this.#serve(name, peer, channel);
      if (end !== 'silent') peer.isGateway = end === 'over';
      peer.isUnfit = end === 'unfit';
      isGood = end === 'over' && nowMs() - openedAtMs >= GOOD_MS;
    } catch (error) {
      if (!(error instanceof ChannelError)) logger.error({ err: error, peer: name }, 'opening a channel failed');
    }
    peer.state = 'idle';
    peer.failures = isGood ? 1 : peer.failures + 1;
    if (this.#stopping.signal.aborted) return;
    if (peer.failures > MAX_FAILURES) {
      this.#peers.delete(name);
      return;
    }
    // With jitter, so that the workers of a restarted gateway do not reconnect at the same moment.
    peer.timer = setTimeout(() => this.#begin(name, peer), backoffMsOf(peer) * (0.5 + random()));
  }
}

function backoffMsOf({ isGateway, isUnfit, failures }: Peer): number {
  if (isUnfit) return Math.min(UNFIT_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS.other);
  const doubledMs = MIN_BACKOFF_MS * 2 ** (failures - 1);
  if (!isGateway) return Math.min(doubledMs, MAX_BACKOFF_MS.other);
  return Math.min(doubledMs, failures <= RESTART_ATTEMPTS ? MAX_RESTART_BACKOFF_MS : MAX_BACKOFF_MS.gateway);
}

const newPeer = (): Peer => ({
  ...{ isGateway: false, isUnfit: false, state: 'idle', failures: 0, timer: undefined },
  ...{ openedAtMs: 0, running: 0, workedAtMs: 0, end: () => {} },
});
