// Deletes stored answers: those that have expired, and the oldest ones of keys with too many.
import type { Logger } from 'pino';
import type { GatewayStore } from '../../store/index.ts';

export interface StoredCleanupDeps {
  readonly stored: Pick<GatewayStore['stored'], 'now' | 'touch' | 'expire' | 'surplus' | 'removeAll'>;
  /** Answers that are generated here. */
  readonly running: () => readonly string[];
  readonly logger: Logger;
}

const EXPIRE_MS = 60_000;
/** How long after its last mark, at most `EXPIRE_MS` before its end or that of its gateway, an answer is deleted. */
const STORED_MS = 3_600_000 + EXPIRE_MS;
/** Delay between new answers of keys and the search for the oldest ones, which reads all answers of these keys. */
const TRIM_MS = 30_000;
/** From then on: an answer may have ended just before, and its client, which was disconnected, asks for the rest. */
const RESUMED_MS = 60_000;

export class StoredCleanup implements Disposable {
  readonly #deps: StoredCleanupDeps;
  readonly #expiring: NodeJS.Timeout;
  /** Keys with new answers. */
  readonly #keys = new Set<string>();
  /** Answers above the bounds, oldest first, and when they were found. */
  readonly #surplus = new Map<string, number>();
  #trimming: NodeJS.Timeout | undefined;

  constructor(deps: StoredCleanupDeps) {
    this.#deps = deps;
    this.#expiring = setInterval(() => void this.#expire(), EXPIRE_MS);
    this.#expiring.unref();
  }

  /** A key has a new answer. */
  added(keyId: string): void {
    this.#keys.add(keyId);
    this.#trimming ??= setTimeout(() => void this.#trim(), TRIM_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#expiring);
    clearTimeout(this.#trimming);
  }

  async #trim(): Promise<void> {
    const keys = [...this.#keys];
    this.#keys.clear();
    clearTimeout(this.#trimming);
    this.#trimming = undefined;
    const { stored } = this.#deps;
    const nowMs = stored.now().getTime();
    try {
      if (keys.length > 0)
        for (const id of await stored.surplus(keys)) this.#surplus.set(id, this.#surplus.get(id) ?? nowMs);
      const due = [...this.#surplus].flatMap(([id, foundMs]) => (nowMs - foundMs < RESUMED_MS ? [] : [id]));
      await stored.removeAll(due);
      for (const id of due) this.#surplus.delete(id);
    } catch (error) {
      this.#failed(error);
      // With the next answer of any key, or with the next deletion of expired answers.
      for (const key of keys) this.#keys.add(key);
    }
  }

  async #expire(): Promise<void> {
    const { stored, running } = this.#deps;
    const ids = running();
    try {
      if (ids.length > 0) await stored.touch(ids, stored.now());
      await stored.expire(new Date(stored.now().getTime() - STORED_MS));
      if (this.#keys.size + this.#surplus.size > 0) await this.#trim();
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #failed = (error: unknown): void => {
    this.#deps.logger.warn({ err: error }, 'deleting stored answers failed: will retry');
  };
}
