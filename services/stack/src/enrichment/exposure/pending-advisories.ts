// Changed advisories that are not published yet. One that fails alone is set aside, so that no other advisory waits for it, and tried
// again. Kept in memory: a new term publishes all of them again, and only missing events are written.
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import { type AlertDeps, type AnnounceFailures, announceAdvisories } from './announcements.ts';

interface PendingAdvisory {
  /** The last event before the change. */
  readonly seq: number;
  /** Of the history, in milliseconds; for one that failed. */
  readonly retryAt?: number;
}

/** Before an advisory that failed twice is tried again. */
const RETRY_MS = 60_000;
/** Ids in a message of the log. */
const MAX_LOGGED = 10;

export class PendingAdvisories {
  readonly #deps: AlertDeps;
  readonly #failures: FailureLog;
  readonly #pending = new Map<string, PendingAdvisory>();
  /** The last event before the term, until all advisories were processed once: the previous term may have ended at any point. */
  #allAfter: number | undefined;

  /** `seq`: the last event before the term. */
  constructor(deps: AlertDeps, { seq, logger }: { readonly seq: number; readonly logger: Logger }) {
    this.#deps = deps;
    this.#allAfter = seq;
    this.#failures = new FailureLog(logger, { what: 'publishing advisories' });
  }

  /** The number of those that failed and are tried again. */
  get failing(): number {
    return this.#pending.values().reduce((sum, { retryAt }) => sum + Number(retryAt !== undefined), 0);
  }

  /** An advisory has changed after the event `seq`. */
  add(id: string, seq: number): void {
    this.#pending.set(id, { seq });
  }

  /** These failed alone, with the events to `seq`. */
  setAside(failures: AnnounceFailures, seq: number, before?: ReadonlyMap<string, PendingAdvisory>): void {
    if (failures.size === 0) return;
    const now = this.#deps.now().getTime();
    for (const id of failures.keys())
      if (!this.#pending.has(id)) {
        const hasFailed = before?.get(id)?.retryAt !== undefined;
        this.#pending.set(id, { seq, retryAt: hasFailed ? now + RETRY_MS : now });
      }
    const [cause] = failures.values();
    const more = failures.size > MAX_LOGGED ? ` and ${failures.size - MAX_LOGGED} more` : '';
    const ids = [...failures.keys()].slice(0, MAX_LOGGED).join(', ');
    this.#failures.failed(new Error(`publish ${ids}${more}`, { cause }));
  }

  /**
   * Publishes them once the answers include the events before the change: without them, a domain that uses the product may be
   * missing. While ClickHouse does not respond they wait.
   */
  async publish(): Promise<void> {
    const { analytics, exposures, now } = this.#deps;
    const [pending, allAfter] = [this.#pending, this.#allAfter];
    if (!exposures.isLoaded || (allAfter === undefined && pending.size === 0)) return;
    const { seq: known } = await analytics.asOf();
    if (allAfter !== undefined && allAfter > known) return;
    const at = now().getTime();
    const failed = ({ retryAt }: PendingAdvisory) => Number(retryAt !== undefined);
    // Those that have failed last, so that no number of them holds up the first tries.
    const due = [...pending]
      .filter(([, { seq, retryAt = 0 }]) => seq <= known && retryAt <= at)
      .sort(([, a], [, b]) => failed(a) - failed(b));
    const entries =
      allAfter === undefined
        ? due.map(([id]) => exposures.advisories.find(id)).filter((entry) => entry !== undefined)
        : exposures.advisories.inOrder();
    // Before they are processed: one that changes in the meantime is processed again.
    this.#allAfter = undefined;
    for (const [id] of due) pending.delete(id);
    try {
      const { failures, left } = await announceAdvisories(entries, this.#deps);
      const before = new Map(due);
      for (const { advisory } of left)
        if (!pending.has(advisory.id)) pending.set(advisory.id, before.get(advisory.id) ?? { seq: known });
      this.setAside(failures, known, before);
      if (this.failing === 0) this.#failures.recovered();
    } catch (error) {
      this.#allAfter = allAfter;
      for (const [id, each] of due) if (!pending.has(id)) pending.set(id, each);
      throw error;
    }
  }
}
