// Feeds that wait for their poll, in order, but for those whose host has enough of ours under way.
import type { StoredFeed } from '@strata/store';

interface Waiting {
  readonly feed: StoredFeed;
  readonly host: string;
}

export class HostQueue {
  readonly #perHost: number;
  #waiting: Waiting[] = [];
  /** By feed: its host, from `put` to `release`. */
  readonly #hosts = new Map<number, string>();
  readonly #underWay = new Map<string, number>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Feeds that wait or are under way. */
  get size(): number {
    return this.#hosts.size;
  }

  has(feedId: number): boolean {
    return this.#hosts.has(feedId);
  }

  put(feed: StoredFeed): void {
    const host = URL.parse(feed.state.url)?.host ?? '';
    this.#hosts.set(feed.id, host);
    this.#waiting.push({ feed, host });
  }

  /** The first whose host has room; it is under way until it is released. */
  take(): StoredFeed | undefined {
    const at = this.#waiting.findIndex(({ host }) => (this.#underWay.get(host) ?? 0) < this.#perHost);
    const taken = this.#waiting[at];
    if (!taken) return undefined;
    this.#waiting.splice(at, 1);
    this.#underWay.set(taken.host, (this.#underWay.get(taken.host) ?? 0) + 1);
    return taken.feed;
  }

  release(feedId: number): void {
    const host = this.#hosts.get(feedId);
    if (host === undefined) return;
    this.#hosts.delete(feedId);
    const left = (this.#underWay.get(host) ?? 0) - 1;
    if (left > 0) this.#underWay.set(host, left);
    else this.#underWay.delete(host);
  }
}
