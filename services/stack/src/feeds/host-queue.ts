// A fair queue of due feeds: round-robin over hosts, with limits per host for running polls and queued feeds, so that a slow host
// with thousands of feeds does not delay the rest.
import type { DueFeed } from '../store/index.ts';

export interface HostQueueOptions {
  /** Concurrent polls per host. */
  readonly perHost: number;
  readonly isBackingOff: (host: string) => boolean;
}

interface Host {
  readonly name: string;
  readonly waiting: number[];
  running: number;
}

/** Limits of queued and running feeds: in total, and per host for each permitted poll. */
const MAX = 10_000;
const MAX_OF_HOST = 50;

/** The key of a server; empty for an invalid URL. */
export const hostOf = (url: string) => URL.parse(url)?.host ?? '';

export class HostQueue {
  readonly #options: HostQueueOptions;
  readonly #hosts = new Map<string, Host>();
  /** Hosts with queued feeds and a free slot, in round-robin order. */
  readonly #ready = new Set<Host>();
  /** The host of each feed, from `put` to `release`. */
  readonly #feeds = new Map<number, Host>();
  #running = 0;

  constructor(options: HostQueueOptions) {
    this.#options = options;
  }

  /** Number of queued feeds. */
  get waiting(): number {
    return this.#feeds.size - this.#running;
  }

  has(feedId: number): boolean {
    return this.#feeds.has(feedId);
  }

  /** Returns false if a limit is reached. */
  put({ id, url }: Pick<DueFeed, 'id' | 'url'>): boolean {
    const name = hostOf(url);
    const host = this.#hosts.get(name) ?? { name, waiting: [], running: 0 };
    if (this.#feeds.size >= MAX || host.waiting.length >= MAX_OF_HOST * this.#options.perHost) return false;
    this.#hosts.set(name, host);
    this.#feeds.set(id, host);
    host.waiting.push(id);
    this.#enqueueIfReady(host);
    return true;
  }

  /** The next feed; it counts as running until `release`. Drops the queued feeds of hosts in backoff, which stay due in the store. */
  take(): number | undefined {
    for (const host of this.#ready) {
      this.#ready.delete(host);
      if (this.#options.isBackingOff(host.name)) {
        for (const id of host.waiting.splice(0)) this.#feeds.delete(id);
        this.#forgetIdle(host);
        continue;
      }
      const id = host.waiting.shift();
      host.running += 1;
      this.#running += 1;
      this.#enqueueIfReady(host);
      return id;
    }
    return undefined;
  }

  release(feedId: number): void {
    const host = this.#feeds.get(feedId);
    if (!host) return;
    this.#feeds.delete(feedId);
    host.running -= 1;
    this.#running -= 1;
    this.#enqueueIfReady(host);
    this.#forgetIdle(host);
  }

  #enqueueIfReady(host: Host): void {
    if (host.waiting.length > 0 && host.running < this.#options.perHost) this.#ready.add(host);
  }

  #forgetIdle(host: Host): void {
    if (host.waiting.length === 0 && host.running === 0) this.#hosts.delete(host.name);
  }
}
