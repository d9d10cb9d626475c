// Who the root servers are, from the root servers themselves (RFC 9609): hints may be years older than the program's host.
import { encodeQuery } from '../message.ts';
import { askOverTcp } from '../tcp-exchange.ts';
import { StopSwitch } from '../udp-channel.ts';
import { chooseServer, type Tried } from './choose-server.ts';
import { readRoots } from './read-reply.ts';
import type { ServerBook } from './server-book.ts';
import type { Zones } from './zones.ts';

const MAX_TRIES = 3;
/** RFC 9609 §3.2 would have it asked for again when its TTL is over, which is six days; a day serves as well. */
const MAX_TTL_MS = 86_400_000;
const RETRY_MS = 300_000;

export interface PrimingParts {
  readonly book: ServerBook;
  readonly zones: Zones;
}

export class Priming implements AsyncDisposable {
  readonly #parts: PrimingParts;
  readonly #timeoutMs: number;
  readonly #stop = new StopSwitch();
  #dueAt = 0;
  #work: Promise<void> | undefined;

  constructor(parts: PrimingParts, { timeoutMs }: { readonly timeoutMs: number }) {
    this.#parts = parts;
    this.#timeoutMs = timeoutMs;
  }

  /** Nobody waits for it: what is known of the roots serves until they have answered, and when none of them does. */
  beginWhenDue(): void {
    if (this.#work !== undefined || this.#stop.isStopped || performance.now() < this.#dueAt) return;
    this.#work = this.#prime().then((forMs) => {
      this.#dueAt = performance.now() + forMs;
      this.#work = undefined;
    });
  }

  /** How long what is known then may be kept (ms). */
  async #prime(): Promise<number> {
    const { book, zones } = this.#parts;
    const tried: Tried = new Map();
    for (let i = 0; i < MAX_TRIES && !this.#stop.isStopped; i++) {
      const server = chooseServer(zones.root, tried);
      if (server === undefined) break;
      tried.set(server, Number.POSITIVE_INFINITY);
      const query = encodeQuery('', 'NS', { isRecursive: false });
      // The root has no letters whose case a forger would have to guess, and whoever forged this answer would answer for
      // everything: over TCP nobody answers in a server's place.
      const exchange = await askOverTcp(server.upstream, query, this.#timeoutMs, this.#stop);
      const roots = exchange.kind === 'answer' ? readRoots(exchange.bytes, query) : null;
      const hosts = (roots?.hosts ?? []).map(({ name, addresses }) => ({ name, servers: book.at(addresses) }));
      // Roots that may not be asked, or cannot be from here, are no better than the hints.
      if (roots === null || hosts.every(({ servers }) => servers.length === 0)) continue;
      zones.replaceRoot(hosts);
      return Math.min(MAX_TTL_MS, Math.max(RETRY_MS, roots.ttlSeconds * 1_000));
    }
    return RETRY_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.stop();
    await this.#work;
  }
}
