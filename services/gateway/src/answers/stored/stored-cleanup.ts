// Deletes stored answers: those that have expired, and the oldest ones of keys with too many.
import type { Logger } from 'pino';
import type { GatewayStore } from '../../store/index.ts';

export interface StoredCleanupDeps {
  readonly stored: Pick<GatewayStore['stored'], 'touch' | 'expire' | 'trim'>;
  /** Answers that are generated here. */
  readonly running: () => readonly string[];
  readonly now: () => Date;
  readonly logger: Logger;
}

const EXPIRE_MS = 60_000;
/** How long after its last mark, at most `EXPIRE_MS` before its end or that of its gateway, an answer is deleted. */
const STORED_MS = 3_600_000 + EXPIRE_MS;
/** Delay between new answers of keys and the deletion of the oldest ones. */
const TRIM_MS = 1_000;

export class StoredCleanup implements Disposable {
  readonly #deps: StoredCleanupDeps;
  readonly #expiring: NodeJS.Timeout;
  /** Keys with new answers. */
  readonly #keys = new Set<string>();
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
    await this.#deps.stored.trim(keys).catch((error: unknown) => {
      this.#failed(error);
      // With the next answer of any key, or with the next deletion of expired answers.
      for (const key of keys) this.#keys.add(key);
    });
  }

  async #expire(): Promise<void> {
    const { stored, running, now } = this.#deps;
    const ids = running();
    try {
      if (ids.length > 0) await stored.touch(ids, now());
      await stored.expire(new Date(now().getTime() - STORED_MS));
      if (this.#keys.size > 0) await this.#trim();
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #failed = (error: unknown): void => {
    this.#deps.logger.warn({ err: error }, 'deleting stored answers failed: will retry');
  };
}
