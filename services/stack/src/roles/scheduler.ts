// Work that must run once for all processes of a store: publishing advisories, evaluating events, publishing the stream, syncing
// advisories, polling feeds, retention. Any number of processes may be on standby; the lock selects one, and its term fences its writes.
import { isSuperseded, type TermHold } from '@strata/db';
import { FailureLog, type Notary } from '@strata/http';
import type { Logger } from 'pino';
import { Watch } from '../alerts/watch.ts';
import { PendingAdvisories } from '../enrichment/exposure/pending-advisories.ts';
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
interface Work {
  readonly hold: TermHold;
  /** Writes only within this term. */
  readonly store: Store;
  readonly watch: Watch;
  readonly publisher: StreamPublisher;
  readonly notifier: Notifier;
  readonly stopping: AbortController;
  readonly pending: PendingAdvisories;
  tasks: Promise<unknown>;
  /** The steps in progress; they never reject. */
  readonly steps: Set<Promise<void>>;
}

export class Scheduler implements AsyncDisposable {
  readonly #deps: SchedulerDeps;
  readonly #failures: FailureLog;
  #work: Work | undefined;
  /** The steps of an update in the active process. */
  readonly steps: Readonly<Record<'alert' | 'publish' | 'notify', Chain>>;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.logger, { what: 'starting the scheduler' });
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
      alert: [inTerm(({ pending }) => pending.publish()), withAdvisories(({ watch }) => watch.evaluate())],
      // Alerts and anomalies are applied before the stream publishes them.
      publish: [inTerm(() => catchUp()), withAdvisories(({ publisher }) => publisher.publish())],
      notify: [withAdvisories(({ notifier }) => notifier.match())],
    };
    deps.events.subscribe('advisories-changed', ({ entries }) => {
      for (const { advisory } of entries) this.#work?.pending.add(advisory.id, log.position.seq);
    });
  }

  /** Whether this process is the active scheduler. */
  get isWorking(): boolean {
    return this.#work !== undefined && !this.#work.stopping.signal.aborted;
  }

  /** Advisories that could not be published, and are tried again. */
  get failingAdvisories(): number {
    return this.#work?.pending.failing ?? 0;
  }

  /** Becomes active unless another process is. Failures are logged. */
  async tryBegin(): Promise<boolean> {
    const { store, logger } = this.#deps;
    let hold: TermHold | undefined;
    try {
      hold = await store.schedulerLock.tryTake();
      if (!hold) return false;
      this.#work = await this.#open(hold);
      this.#failures.recovered();
      logger.info({ term: hold.term }, 'this process is the scheduler');
      return true;
    } catch (error) {
      this.#failures.failed(error);
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
    const { knowledge, namesMatching, notary, events, logger, now, clock, tasks } = this.#deps;
    const { analytics, known, log, names, exposures } = knowledge;
    const store: Store = { ...this.#deps.store, ...this.#deps.store.inTerm(hold.term) };
    const ofAlerts = { store, analytics, known, names, exposures, now: clock, events };
    const pending = new PendingAdvisories(ofAlerts, { seq: log.position.seq, logger });
    const watch = await Watch.open({ ...ofAlerts, setAside: (failures, seq) => pending.setAside(failures, seq) });
    const publisher = await StreamPublisher.open({ store, notary, names, exposures, now });
    const notifier = await Notifier.open({ store, names, exposures, analytics, namesMatching, now, clock, logger });
    const stopping = new AbortController();
    hold.lost.addEventListener('abort', () => stopping.abort(), { once: true });
    if (hold.lost.aborted) stopping.abort();
    const fail = (error: unknown) => logger.error({ err: error }, 'a task of the scheduler ended');
    const running = Promise.all(tasks.map((task) => task(store, stopping.signal).catch(fail)));
    return { hold, store, watch, publisher, notifier, stopping, pending, tasks: running, steps: new Set() };
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
}
