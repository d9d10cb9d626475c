// What must happen once for all processes of a store: telling of advisories, watching, publishing the stream, syncing advisories, polling
// feeds, forgetting. Any number of processes may stand ready; the lock says which one works, and its term what it may write.
import type { Entry } from '@strata/advisories';
import type { Notary } from '@strata/http';
import { type Store, StoreError, type TermHold } from '@strata/store';
import type { Logger } from 'pino';
import { Watch } from '../alerts/watch.ts';
import { announceAdvisories } from '../enrichment/exposure/announcements.ts';
import type { Knowledge } from '../index/knowledge.ts';
import { sleep } from '../sleep.ts';
import { StreamPublisher } from '../stream/stream-publisher.ts';

export interface SchedulerDeps {
  readonly store: Store;
  readonly knowledge: Pick<Knowledge, 'index' | 'names' | 'exposures' | 'catchUp'>;
  readonly notary: Notary;
  readonly logger: Logger;
  /** Of receipts and of publication. */
  readonly now: () => Date;
  /** That history goes by. */
  readonly clock: () => Date;
  /** Called when an alert was written. */
  readonly onAlert: () => void;
  /** Work that goes on beside the beat, until the signal aborts; it writes by the store that it is given. */
  readonly tasks: readonly ((store: Store, signal: AbortSignal) => Promise<void>)[];
}

/** How often whoever stands ready asks for the lock: so long nobody works after the one who did is gone. */
const TRY_MS = 500;

/** One term of work. */
interface Work {
  readonly hold: TermHold;
  /** Writes in this term alone. */
  readonly store: Store;
  readonly watch: Watch;
  readonly publisher: StreamPublisher;
  readonly stopping: AbortController;
  /** Advisories that have changed and were not gone through since. Undefined: all of them, as the term before may have left off anywhere. */
  untold: Set<string> | undefined;
  tasks: Promise<unknown>;
  /** The step under way; never rejects. */
  step: Promise<void>;
}

export class Scheduler implements AsyncDisposable {
  readonly #deps: SchedulerDeps;
  #work: Work | undefined;
  /** What a beat does while this process is the one, in order: each sees what the one before it did. */
  readonly steps: readonly (() => Promise<void>)[];

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.steps = [
      () => this.#inTerm((work) => this.#tell(work)),
      () => this.#inTerm(({ watch }) => watch.look()),
      // What the watch has found stands in the index before the stream tells it.
      () => this.#inTerm(() => deps.knowledge.catchUp()),
      () => this.#inTerm(({ publisher }) => publisher.publish()),
    ];
  }

  /** Whether this process is the one that works. */
  get isWorking(): boolean {
    return this.#work !== undefined && !this.#work.stopping.signal.aborted;
  }

  /** Hears of advisories that have changed. */
  note(entries: readonly Entry[]): void {
    for (const { advisory } of entries) this.#work?.untold?.add(advisory.id);
  }

  /** Begins to work unless another process does. Failures are logged. */
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
      logger.error({ err: error }, 'the work of the scheduler could not be begun');
      await hold?.[Symbol.asyncDispose]();
      return false;
    }
  }

  /** Works whenever nobody else does, until `signal` aborts; returns when the work is over and the lock is free. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#work && !(await this.tryBegin())) {
        await sleep(TRY_MS, signal);
        continue;
      }
      const ended = this.#work?.stopping.signal ?? signal;
      await aborted(AbortSignal.any([signal, ended]));
      if (!signal.aborted) this.#deps.logger.warn('this process is the scheduler no longer');
      await this.#end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #open(hold: TermHold): Promise<Work> {
    const { knowledge, notary, now, clock, onAlert, tasks } = this.#deps;
    const { index, names, exposures } = knowledge;
    const store: Store = { ...this.#deps.store, ...this.#deps.store.inTerm(hold.term) };
    const watch = await Watch.open({ store, index, names, exposures, now: clock, onAlert });
    const publisher = await StreamPublisher.open({ store, notary, names, exposures, now });
    const stopping = new AbortController();
    hold.lost.addEventListener('abort', () => stopping.abort(), { once: true });
    if (hold.lost.aborted) stopping.abort();
    const fail = (error: unknown) => this.#deps.logger.error({ err: error }, 'a task of the scheduler ended');
    const running = Promise.all(tasks.map((task) => task(store, stopping.signal).catch(fail)));
    return { hold, store, watch, publisher, stopping, untold: undefined, tasks: running, step: Promise.resolve() };
  }

  /** The lock is let go after the last write: who comes next finds everything. */
  async #end(): Promise<void> {
    const work = this.#work;
    if (!work) return;
    work.stopping.abort();
    await work.step;
    await work.tasks;
    this.#work = undefined;
    await work.hold[Symbol.asyncDispose]();
  }

  async #inTerm(step: (work: Work) => Promise<void>): Promise<void> {
    const work = this.#work;
    if (!work || work.stopping.signal.aborted) return;
    const running = step(work);
    work.step = running.catch(() => {});
    try {
      await running;
    } catch (error) {
      // Of a term that is over nothing more can be written: what there is to do is done by another, or by us in a new term.
      if (error instanceof StoreError && error.code === 'superseded') work.stopping.abort();
      else if (!work.stopping.signal.aborted) throw error;
    }
  }

  /** Advisories that are news. A kill in between has them gone through again, and only what is missing is written. */
  async #tell(work: Work): Promise<void> {
    const { knowledge, clock, onAlert } = this.#deps;
    const { exposures } = knowledge;
    if (!exposures.isLoaded) return;
    const { untold } = work;
    work.untold = new Set();
    try {
      const entries =
        untold === undefined
          ? exposures.advisories.inOrder()
          : [...untold].map((id) => exposures.advisories.find(id)).filter((entry) => entry !== undefined);
      await announceAdvisories(entries, { ...knowledge, store: work.store, now: clock, onAlert });
    } catch (error) {
      work.untold = untold && new Set([...untold, ...work.untold]);
      throw error;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
