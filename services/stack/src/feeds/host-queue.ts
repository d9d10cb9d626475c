// Feeds that wait for their poll: the hosts take turns, few feeds of one host are under way, and few of it wait here, so that
// one that is slow and has thousands keeps no other out.
import type { DueFeed } from '@strata/store';

export interface HostQueueOptions {
  /** Feeds of one host under way at once. */
  readonly perHost: number;
  readonly isResting: (host: string) => boolean;
}

interface Host {
  readonly name: string;
  readonly waiting: number[];
  underWay: number;
}

/** Feeds that wait or are under way: of all hosts, and of one for each that may be under way. */
const MAX = 10_000;
const MAX_OF_HOST = 50;

/** What the feeds of one server have in common; empty for what is no address. */
export const hostOf = (url: string) => URL.parse(url)?.host ?? '';

export class HostQueue {
  readonly #options: HostQueueOptions;
  readonly #hosts = new Map<string, Host>();
  /** With room for one more of those that wait, in the order of their turns. */
  readonly #ready = new Set<Host>();
  /** By feed: its host, from `put` to `release`. */
  readonly #feeds = new Map<number, Host>();
  #underWay = 0;

  constructor(options: HostQueueOptions) {
    this.#options = options;
  }

  /** Feeds that wait. */
  get waiting(): number {
    return this.#feeds.size - this.#underWay;
  }

  has(feedId: number): boolean {
    return this.#feeds.has(feedId);
  }

  /** Returns whether there was room. */
  put({ id, url }: Pick<DueFeed, 'id' | 'url'>): boolean {
    const name = hostOf(url);
    const host = this.#hosts.get(name) ?? { name, waiting: [], underWay: 0 };
    if (this.#feeds.size >= MAX || host.waiting.length >= MAX_OF_HOST * this.#options.perHost) return false;
    this.#hosts.set(name, host);
    this.#feeds.set(id, host);
    host.waiting.push(id);
    this.#takesTurns(host);
    return true;
  }

  /** The next one; it is under way until it is released. What waits of a host that rests is let go: it is still due. */
  take(): number | undefined {
    for (const host of this.#ready) {
      this.#ready.delete(host);
      if (this.#options.isResting(host.name)) {
        for (const id of host.waiting.splice(0)) this.#feeds.delete(id);
        this.#forgetIdle(host);
        continue;
      }
      const id = host.waiting.shift();
      host.underWay += 1;
      this.#underWay += 1;
      this.#takesTurns(host);
      return id;
    }
    return undefined;
  }

  release(feedId: number): void {
    const host = this.#feeds.get(feedId);
    if (!host) return;
    this.#feeds.delete(feedId);
    host.underWay -= 1;
    this.#underWay -= 1;
    this.#takesTurns(host);
    this.#forgetIdle(host);
  }

  #takesTurns(host: Host): void {
    if (host.waiting.length > 0 && host.underWay < this.#options.perHost) this.#ready.add(host);
  }

  #forgetIdle(host: Host): void {
    if (host.waiting.length === 0 && host.underWay === 0) this.#hosts.delete(host.name);
  }
}
