// Limits the lines of a log: failures that affect every request, such as an unavailable database, would log thousands
// of stack traces a second, and unauthenticated clients must not fill the disk.
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';

/** Lines of one kind are this far apart. */
const EVERY_MS = 10_000;
/** Kinds tracked at once; errors that contain a name may have many. */
const MAX_KINDS = 100;
const MAX_CHARACTERS = 200;

export class ThrottledLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #written = new LRUCache<string, { at: number; unreported: number }>({ max: MAX_KINDS });

  constructor(logger: Logger, monotonicNow: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = monotonicNow;
  }

  /**
   * The logger for a line of this kind (errors are of one kind by name and message), which adds the number of lines
   * suppressed since the last one. Undefined: the line is suppressed.
   */
  of(kind: unknown): Logger | undefined {
    const name = kind instanceof Error ? `${kind.name} ${kind.message}` : String(kind);
    const last = this.#written.get(name);
    const now = this.#now();
    if (last && now - last.at < EVERY_MS) {
      last.unreported += 1;
      return undefined;
    }
    this.#written.set(name, { at: now, unreported: 0 });
    return last?.unreported ? this.#logger.child({ unreported: last.unreported }) : this.#logger;
  }

  /** A refusal of a request without a valid key: the response is the same for all, so the details are only in the log. */
  refused({ id, url, headers }: FastifyRequest, { code, detail }: { readonly code: string; readonly detail: string }) {
    const [path, host, origin] = [url, headers.host, headers.origin].map((text) => text?.slice(0, MAX_CHARACTERS));
    this.of(code)?.info({ requestId: id, path, host, origin, code, detail }, 'request refused');
  }
}
