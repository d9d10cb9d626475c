// Whom this worker serves: every peer that speaks the protocol, by one channel each, opened again when it ends.
import { GATEWAY_KEY, PROTOCOL } from '@strata/inference';
import { type Channel, ChannelError, type PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import type { ChannelEnd, NoteWork } from '../serve/serve-channel.ts';

export interface FindDeps {
  readonly node: Pick<PeerNode, 'channels' | 'peers'>;
  readonly logger: Logger;
  /** Serves one channel until it is over, and tells of its work; never rejects. */
  readonly serve: (channel: Channel, onWork: NoteWork) => Promise<ChannelEnd>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** A clock that only runs forward. */
  readonly nowMs: () => number;
}

/** Each costs a pulse a second; a worker has few places to share. */
const MAX_GATEWAYS = 64;
/** Of these, kept for those whom its operator has named. */
const NAMED_GATEWAYS = 8;
/** Whoever has asked for nothing for so long gives way to another. */
const IDLE_MS = 60_000;
/** Apart from those: most peers that are met are no gateways. */
const MAX_OPENING = 32;
const OPENING_PAUSE_MS = 1_000;
/** Peers that are remembered: those asked in vain, and gateways that are away. */
const MAX_PEERS = 1_024;
const LOOK_MS = 60_000;
const LOOK_FOR_MS = 30_000;
const OPEN_MS = 10_000;
/** After the first failure; doubled with each that follows. */
const FIRST_PAUSE_MS = 500;
/** A gateway that restarts has its workers back within this; others are asked seldom, as they may become gateways. */
const MAX_PAUSE_MS = { gateway: 30_000, other: 600_000 };
/** The first one of who spoke, and no protocol of ours. */
const UNFIT_PAUSE_MS = 60_000;
/** A channel that lasted so long was no failure. */
const GOOD_MS = 10_000;
/** Whoever failed so often in a row is forgotten, until it is met again: half an hour, for a gateway. */
const MAX_FAILURES = 60;

interface Peer {
  /** Known to be one: found as one, or served before. */
  isGateway: boolean;
  /** It spoke what is no protocol of ours: coming back changes nothing. */
  isUnfit: boolean;
  state: 'idle' | 'opening' | 'open';
  /** Of an open one: since when it is, what it has asked for and is under way, when that last changed, and what ends it. */
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
  readonly #looking: Promise<void>;

  constructor(deps: FindDeps) {
    this.#deps = deps;
    const { signal } = this.#stopping;
    deps.node.peers.watch(({ kind, peer }) => {
      if (kind === 'connected') this.#met(peer, false);
      else this.#lost(peer);
    }, signal);
    this.#looking = this.#look(signal);
  }

  /** Peer ids of those that have a channel. */
  serving(): readonly string[] {
    return [...this.#peers].flatMap(([peer, { state }]) => (state === 'open' ? [peer] : []));
  }

  /** Those whom the operator has named: some places are kept for them. */
  name(peers: readonly string[]): void {
    for (const peer of peers) this.#named.add(peer);
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
        for await (const peer of this.#deps.node.peers.find(GATEWAY_KEY, { signal: limited })) this.#met(peer, true);
      } catch (error) {
        if (!signal.aborted) this.#deps.logger.debug({ err: error }, 'looking for gateways ended early');
      }
      await pause(LOOK_MS, signal);
    }
  }

  /** A connection to it is there, or a way to make one. */
  #met(name: string, isGateway: boolean): void {
    const known = this.#peers.get(name);
    if (known === undefined && this.#peers.size >= MAX_PEERS && !this.#madeRoom()) return;
    const peer = known ?? newPeer();
    this.#peers.set(name, peer);
    if (peer.state !== 'idle') return;
    // A gateway that has come back is asked at once; what spoke no protocol keeps its pause.
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

  /** Forgets one that was asked in vain; a gateway that is away only where there is no other. */
  #madeRoom(): boolean {
    const idle = [...this.#peers].filter(([name, { state }]) => state === 'idle' && !this.#named.has(name));
    const [name, peer] = idle.find(([, { isGateway }]) => !isGateway) ?? idle[0] ?? [];
    if (name === undefined) return false;
    clearTimeout(peer?.timer);
    return this.#peers.delete(name);
  }

  /** Whether there is a place for one more, or one that gives way. */
  #place(name: string): { readonly giveWay?: Peer } | undefined {
    const open = [...this.#peers].filter(([, { state }]) => state === 'open');
    const strangers = open.filter(([other]) => !this.#named.has(other)).map(([, peer]) => peer);
    const named = open.length - strangers.length;
    const free = this.#named.has(name)
      ? MAX_GATEWAYS - open.length
      : MAX_GATEWAYS - Math.max(NAMED_GATEWAYS, named) - strangers.length;
    if (free > 0) return {};
    const sinceMs = this.#deps.nowMs() - IDLE_MS;
    // Who has never asked for anything goes first.
    const [giveWay] = strangers
      .filter(({ running, openedAtMs, workedAtMs }) => running === 0 && openedAtMs <= sinceMs && workedAtMs <= sinceMs)
      .sort((a, b) => a.workedAtMs - b.workedAtMs || a.openedAtMs - b.openedAtMs);
    return giveWay && { giveWay };
  }

  #begin(name: string, peer: Peer): void {
    clearTimeout(peer.timer);
    peer.timer = undefined;
    if (this.#stopping.signal.aborted) return;
    const opening = [...this.#peers.values()].filter(({ state }) => state === 'opening').length;
    const pauseMs = opening >= MAX_OPENING ? OPENING_PAUSE_MS : MAX_PAUSE_MS.gateway;
    if (opening >= MAX_OPENING || this.#place(name) === undefined) {
      peer.timer = setTimeout(() => this.#begin(name, peer), pauseMs);
      return;
    }
    peer.state = 'opening';
    const task: Promise<void> = this.#served(name, peer).finally(() => {
      this.#tasks.delete(task);
    });
    this.#tasks.add(task);
  }

  /** Serves an open channel, if there is a place for it still. */
  async #serve(name: string, peer: Peer, channel: Channel): Promise<ChannelEnd> {
    const place = this.#place(name);
    if (place === undefined) {
      channel.abort(new Error('this worker has no place for another gateway'));
      return 'silent';
    }
    place.giveWay?.end();
    peer.state = 'open';
    peer.openedAtMs = this.#deps.nowMs();
    peer.running = 0;
    peer.workedAtMs = 0;
    peer.end = () => {
      // Its place is another's already.
      peer.openedAtMs = Number.POSITIVE_INFINITY;
      channel.abort(new Error('another gateway has its turn'));
    };
    return this.#deps.serve(channel, (running) => {
      peer.running = running;
      peer.workedAtMs = this.#deps.nowMs();
    });
  }

  /** Opens a channel and serves it; sets when to try again. */
  async #served(name: string, peer: Peer): Promise<void> {
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
    const maxMs = peer.isGateway ? MAX_PAUSE_MS.gateway : MAX_PAUSE_MS.other;
    const firstMs = peer.isUnfit ? UNFIT_PAUSE_MS : FIRST_PAUSE_MS;
    const pauseMs = Math.min(firstMs * 2 ** (peer.failures - 1), maxMs);
    // Spread out: the workers of a gateway that restarts do not come back in one moment.
    peer.timer = setTimeout(() => this.#begin(name, peer), pauseMs * (0.5 + random()));
  }
}

const newPeer = (): Peer => ({
  ...{ isGateway: false, isUnfit: false, state: 'idle', failures: 0, timer: undefined },
  ...{ openedAtMs: 0, running: 0, workedAtMs: 0, end: () => {} },
});

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
