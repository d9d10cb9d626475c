// Work that must run once for all processes of a store: publishing advisories, evaluating events, publishing the stream, syncing
// advisories, polling feeds, retention. Any number of processes may be on standby; the lock selects one, and its term fences its writes.
import { isSuperseded, type TermHold } from '@strata/db';
import type { Notary } from '@strata/http';
import type { Logger } from 'pino';
import { Watch } from '../alerts/watch.ts';
import { announceAdvisories } from '../enrichment/exposure/announcements.ts';
import type { EventBus } from '../events.ts';
import type { NamesMatching } from '../index/domain-queries.ts';
import type { Knowledge } from '../index/knowledge.ts';
import { aborted, sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';
import { StreamPublisher } from '../stream/stream-publisher.ts';
import { Notifier } from '../watchlists/notifier.ts';
import type { Chain } from './update-loop.ts';

export interface SchedulerDeps {
  readonly store: Store;
  readonly knowledge: Pick<
    Knowledge,
    'analytics' | 'known' | 'log' | 'names' | 'exposures' | 'catchUp' | 'updateAdvisories'
  >;
  readonly namesMatching: NamesMatching;
  readonly notary: Notary;
  readonly events: EventBus;
  readonly logger: Logger;
  /** The clock of receipts and of publication. */
  readonly now: () => Date;
  /** The clock of the history. */
  readonly clock: () => Date;
  /** Background work until the signal aborts, with the store of the term. */
  readonly tasks: readonly ((store: Store, signal: AbortSignal) => Promise<void>)[];
}

/** Interval at which standby processes try the lock: the maximum gap after the active one ends. */
const TRY_MS = 500;
/** Before an advisory that could not be published twice is tried again: no other advisory waits for it. */
const RETRY_ADVISORY_MS = 60_000;
/** Ids in a message of the log. */
const MAX_LOGGED = 10;

interface PendingAdvisory {
  /** The last event before the change. */
  readonly seq: number;
  /** Of the history, in milliseconds; for one that failed. */
  readonly retryAt?: number;
}

interface Work {
  readonly hold: TermHold;
  /** Writes only within this term. */
  readonly store: Store;
  readonly watch: Watch;
  readonly publisher: StreamPublisher;
  readonly notifier: Notifier;
  readonly stopping: AbortController;
  /** Changed advisories that were not processed yet. */
  readonly pending: Map<string, PendingAdvisory>;
  /** The last event before the term, until all advisories were processed once: the previous term may have ended at any point. */
  pendingAll: number | undefined;
  tasks: Promise<unknown>;
  /** The steps in progress; they never reject. */
  readonly steps: Set<Promise<void>>;
}

export class Scheduler implements AsyncDisposable {
  readonly #deps: SchedulerDeps;
  #work: Work | undefined;
  /** The steps of an update in the active process. */
  readonly steps: Readonly<Record<'alert' | 'publish' | 'notify', Chain>>;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    const { log, catchUp, exposures, updateAdvisories } = deps.knowledge;
    const inTerm = (step: (work: Work) => Promise<void>) => () => this.#inTerm(step);
    // Without those that another scheduler has read, their events would look like those of withdrawn ones, and be lost.
    const withAdvisories = (step: (work: Work) => Promise<void>) =>
      inTerm(async (work) => {
        if (!exposures.isLoaded) return;
        await updateAdvisories();
        await step(work);
      });
    this.steps = {
      alert: [inTerm((work) => this.#publishAdvisories(work)), withAdvisories(({ watch }) => watch.evaluate())],
      // Alerts and anomalies are applied before the stream publishes them.
      publish: [inTerm(() => catchUp()), withAdvisories(({ publisher }) => publisher.publish())],
      notify: [withAdvisories(({ notifier }) => notifier.match())],
    };
    deps.events.subscribe('advisories-changed', ({ entries }) => {
      for (const { advisory } of entries) this.#work?.pending.set(advisory.id, { seq: log.position.seq });
    });
  }

  /** Whether this process is the active scheduler. */
  get isWorking(): boolean {
    return this.#work !== undefined && !this.#work.stopping.signal.aborted;
  }

  /** Becomes active unless another process is. Failures are logged. */
  async tryBegin(): Promise<boolean> {
    const { store, logger } = this.#deps;
    let hold: TermHold | undefined;
    try {
      hold = await store.schedulerLock.tryTake();
      if (!hold) return false;
      this.#work = await this.#open(hold);
      logger.info({ term: hold.term }, 'this process is the scheduler');
      return true;
    } catch (error) {
      logger.error({ err: error }, 'the scheduler could not be started');
      await hold?.[Symbol.asyncDispose]();
      return false;
    }
  }

  /** Is active whenever no other process is, until `signal` aborts; returns when the work has ended and the lock is released. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#work && !(await this.tryBegin())) {
        await sleep(TRY_MS, signal);
        continue;
      }
      const ended = this.#work?.stopping.signal ?? signal;
      await aborted(AbortSignal.any([signal, ended]));
      if (!signal.aborted) this.#deps.logger.warn('this process is no longer the scheduler');
      await this.#end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #open(hold: TermHold): Promise<Work> {
    const { knowledge, namesMatching, notary, events, now, clock, tasks } = this.#deps;
    const { analytics, known, log, names, exposures } = knowledge;
    const store: Store = { ...this.#deps.store, ...this.#deps.store.inTerm(hold.term) };
    const watch = await Watch.open({ store, analytics, known, names, exposures, now: clock, events });
    const publisher = await StreamPublisher.open({ store, notary, names, exposures, now });
    const notifier = await Notifier.open({ store, names, exposures, analytics, namesMatching, now, clock });
    const stopping = new AbortController();
    hold.lost.addEventListener('abort', () => stopping.abort(), { once: true });
    if (hold.lost.aborted) stopping.abort();
    const fail = (error: unknown) => this.#deps.logger.error({ err: error }, 'a task of the scheduler ended');
    const running = Promise.all(tasks.map((task) => task(store, stopping.signal).catch(fail)));
    const pending = { pending: new Map<string, PendingAdvisory>(), pendingAll: log.position.seq };
    return { hold, store, watch, publisher, notifier, stopping, ...pending, tasks: running, steps: new Set() };
  }

  /** Releases the lock after the last write: the next scheduler sees everything. */
  async #end(): Promise<void> {
    const work = this.#work;
    if (!work) return;
    work.stopping.abort();
    await Promise.all(work.steps);
    await work.tasks;
    this.#work = undefined;
    await work.hold[Symbol.asyncDispose]();
  }

  async #inTerm(step: (work: Work) => Promise<void>): Promise<void> {
    const work = this.#work;
    if (!work || work.stopping.signal.aborted) return;
    const running = step(work);
    const ended = running.catch(() => {});
    work.steps.add(ended);
    try {
      await running;
    } catch (error) {
      // A superseded term cannot write any more: the next term, here or in another process, continues its work.
      if (isSuperseded(error)) work.stopping.abort();
      else if (!work.stopping.signal.aborted) throw error;
    } finally {
      work.steps.delete(ended);
    }
  }

  /**
   * Publishes changed advisories, once the answers include the events before the change: without them, a domain that uses the
   * product may be missing. While ClickHouse does not respond they wait; one that fails alone is set aside and tried again. After
   * a crash all are processed again, and only missing events are written.
   */
  async #publishAdvisories(work: Work): Promise<void> {
    const { knowledge, clock, events, logger } = this.#deps;
    const { analytics, exposures } = knowledge;
    const { pending, pendingAll } = work;
    if (!exposures.isLoaded || (pendingAll === undefined && pending.size === 0)) return;
    const { seq: known } = await analytics.asOf();
    if (pendingAll !== undefined && pendingAll > known) return;
    const now = clock().getTime();
    const failed = ({ retryAt }: PendingAdvisory) => Number(retryAt !== undefined);
    // Those that have failed last, so that no number of them holds up the first tries.
    const due = [...pending]
      .filter(([, { seq, retryAt = 0 }]) => seq <= known && retryAt <= now)
      .sort(([, a], [, b]) => failed(a) - failed(b));
    const entries =
      pendingAll === undefined
        ? due.map(([id]) => exposures.advisories.find(id)).filter((entry) => entry !== undefined)
        : exposures.advisories.inOrder();
    // Before they are processed: one that changes in the meantime is processed again.
    work.pendingAll = undefined;
    for (const [id] of due) pending.delete(id);
    try {
      const deps = { ...knowledge, store: work.store, now: clock, events };
      const { failures, left } = await announceAdvisories(entries, deps);
      const before = new Map(due);
      for (const { advisory } of left)
        if (!pending.has(advisory.id)) pending.set(advisory.id, before.get(advisory.id) ?? { seq: known });
      if (failures.size === 0) return;
      for (const id of failures.keys())
        if (!pending.has(id)) {
          const hasFailed = before.get(id)?.retryAt !== undefined;
          pending.set(id, { seq: known, retryAt: hasFailed ? now + RETRY_ADVISORY_MS : now });
        }
      const [err] = failures.values();
      const advisories = [...failures.keys()].slice(0, MAX_LOGGED);
      logger.error({ err, advisories, count: failures.size }, 'advisories could not be published: they are retried');
    } catch (error) {
      work.pendingAll = pendingAll;
      for (const [id, each] of due) if (!pending.has(id)) pending.set(id, each);
      throw error;
    }
  }
}
