// The models that share a memory budget: loaded at their first use; the least recently used ones are closed for it.
import { Semaphore } from '@strata/limits';
import { type Engine, EngineError } from '../engine.ts';
import type { ModelLog } from '../open-model.ts';
import { CRASHES, LoadBackoff, NotLoadedError } from './load-backoff.ts';
import {
  type LoadableModel,
  type ModelLease,
  missingBytes,
  type Needs,
  neededBytes,
  newResident,
  type Resident,
  type SharedModel,
  victimsOf,
} from './resident.ts';

export interface ModelMemoryDeps {
  readonly log: ModelLog;
  /** Monotonic clock. */
  readonly nowMs: () => number;
}

export interface ModelMemoryOptions {
  readonly budgetBytes: number;
  /** Maximum duration of a load and of the wait for memory, each; 300,000 by default. */
  readonly loadMs?: number;
}

export interface ModelMemoryStats {
  readonly loads: number;
  readonly evictions: number;
  readonly failures: number;
  /** Estimated bytes of the models that are loaded or being loaded. */
  readonly heldBytes: number;
  readonly budgetBytes: number;
}

const LOAD_MS = 300_000;
const TOO_LARGE =
  'embeddings need more memory than loaded models may use and are refused: raise memory=… of STRATA_MODEL_OPTIONS';
/** Running answers may end within this time. */
const BUSY_RETRY_MS = 10_000;

export class ModelMemory implements AsyncDisposable {
  readonly #budgetBytes: number;
  readonly #loadMs: number;
  readonly #deps: ModelMemoryDeps;
  readonly #residents: Resident[] = [];
  /** One model at a time waits for memory, in order of arrival: what it frees is not taken by a later one. */
  readonly #queue = new Semaphore(1);
  readonly #closing = new AbortController();
  #changed = Promise.withResolvers<void>();
  #clock = 0;
  #heldBytes = 0;
  #counts = { loads: 0, evictions: 0, failures: 0 };

  constructor({ budgetBytes, loadMs = LOAD_MS }: ModelMemoryOptions, deps: ModelMemoryDeps) {
    this.#budgetBytes = budgetBytes;
    this.#loadMs = loadMs;
    this.#deps = deps;
  }

  get stats(): ModelMemoryStats {
    return { ...this.#counts, heldBytes: this.#heldBytes, budgetBytes: this.#budgetBytes };
  }

  /** The model has to fit into the budget alone; if it does not fit with its vectors, these are refused. */
  add(model: LoadableModel): SharedModel {
    const budgetBytes = this.#budgetBytes;
    if (model.memoryBytes > budgetBytes) throw new RangeError(`${model.id} exceeds the memory budget`);
    const bytes = neededBytes(model, { vectors: true });
    if (bytes > budgetBytes) this.#deps.log.warn({ model: model.id, neededBytes: bytes, budgetBytes }, TOO_LARGE);
    const resident = newResident(model, new LoadBackoff(this.#deps.nowMs));
    this.#residents.push(resident);
    return {
      get isLoaded() {
        return resident.engine !== undefined;
      },
      get isLoading() {
        return resident.engine === undefined && resident.loading !== undefined;
      },
      memoryBytes: model.memoryBytes,
      get isReady() {
        return resident.engine?.isReady ?? resident.backoff.remainingMs === 0;
      },
      get unavailable() {
        return resident.backoff.reason;
      },
      tryUse: () => {
        const lease = this.#lease(resident, { vectors: false });
        if (!lease) resident.backoff.check();
        return lease;
      },
      failed: (cause) => this.#failed(resident, cause),
      use: (signal, { vectors = false } = {}) => this.#use(resident, { vectors }, signal),
    };
  }

  #lease(resident: Resident, needs: Needs): ModelLease | undefined {
    const { engine, isLeaving, heldBytes, model } = resident;
    const isUsable = !isLeaving && heldBytes >= neededBytes(model, needs);
    return engine && isUsable ? this.#leaseOf(resident, engine) : undefined;
  }

  #leaseOf(resident: Resident, engine: Engine): ModelLease {
    resident.users += 1;
    resident.usedAt = ++this.#clock;
    const end = () => {
      resident.users -= 1;
      resident.usedAt = ++this.#clock;
      this.#notify();
    };
    return { engine, [Symbol.dispose]: end };
  }

  async #use(resident: Resident, needs: Needs, signal: AbortSignal): Promise<ModelLease> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    if (neededBytes(resident.model, needs) > this.#budgetBytes) throw new EngineError('vectors-too-large', TOO_LARGE);
    const lease = this.#lease(resident, needs);
    if (lease) return lease;
    resident.backoff.check();
    const waiter = { ...Promise.withResolvers<ModelLease>(), ...needs };
    resident.waiting.add(waiter);
    const leave = () => {
      if (!resident.waiting.delete(waiter)) return;
      waiter.reject(signal.reason);
      if (resident.waiting.size === 0) resident.unwanted.abort();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#start(resident);
    return waiter.promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Concurrent first uses share one load. */
  #start(resident: Resident): void {
    resident.loading ??= this.#load(resident).finally(() => {
      resident.loading = undefined;
      // They came after the load was given up or the model was chosen to be closed, or need memory for vectors.
      if (resident.waiting.size > 0) this.#start(resident);
    });
  }

  /** Serves the waiters, or rejects them; never rejects itself. */
  async #load(resident: Resident): Promise<void> {
    const { model, backoff } = resident;
    const closed = this.#closing.signal;
    const unwanted = new AbortController();
    resident.unwanted = unwanted;
    try {
      if (await this.#getMemory(resident, AbortSignal.any([this.#deadline(), unwanted.signal]))) return;
    } catch (cause) {
      if (unwanted.signal.aborted) return;
      const error = cause instanceof NotLoadedError ? cause : busy(model, cause);
      return this.#reject(resident, closed.aborted ? stopped() : error);
    }
    try {
      resident.engine = await model.load(this.#deadline(), (detail) => this.#died(resident, detail));
      this.#counts.loads += 1;
      backoff.succeeded();
      this.#serve(resident, resident.engine);
    } catch (cause) {
      this.#release(resident);
      if (closed.aborted) return this.#reject(resident, stopped());
      this.#reject(resident, this.#failed(resident, cause));
    }
    this.#notify();
  }

  #failed({ model: { id }, backoff }: Resident, cause: unknown): NotLoadedError {
    this.#counts.failures += 1;
    const reason = `${id} cannot be loaded`;
    const retryInMs = backoff.failed(reason);
    this.#deps.log.error({ model: id, err: cause, retryInMs }, 'the model cannot be loaded');
    return new NotLoadedError(reason, retryInMs, { cause });
  }

  /** After repeated crashes the model is closed: what it answers at that time fails, and its memory becomes free. */
  #died(resident: Resident, detail: string): void {
    const { engine, backoff, model } = resident;
    if (!backoff.died() || !engine) return;
    this.#counts.failures += 1;
    resident.engine = undefined;
    const retryInMs = backoff.failed(`${model.id} crashed ${CRASHES}`);
    this.#deps.log.error({ model: model.id, detail, retryInMs }, `the model crashed ${CRASHES} and is closed`);
    resident.closing = (async () => {
      try {
        await engine[Symbol.asyncDispose]();
      } catch (error) {
        this.#deps.log.error({ model: model.id, err: error }, 'closing the model failed');
      }
      resident.closing = undefined;
      this.#release(resident);
      this.#notify();
    })();
  }

  /** Uses that need more memory than is counted wait on: they arrived during the load. */
  #serve(resident: Resident, engine: Engine): void {
    const { model, heldBytes, waiting } = resident;
    for (const waiter of waiting)
      if (neededBytes(model, waiter) <= heldBytes && waiting.delete(waiter))
        waiter.resolve(this.#leaseOf(resident, engine));
  }

  #reject({ waiting }: Resident, error: Error): void {
    for (const waiter of waiting) waiter.reject(error);
    waiting.clear();
  }

  /** Counts the memory of the model after enough other models are closed. True: it is loaded, and was served. */
  async #getMemory(resident: Resident, signal: AbortSignal): Promise<boolean> {
    using _lock = await this.#queue.enter(signal);
    const rivals = this.#residents.filter((each) => each !== resident);
    let bytes: number;
    for (;;) {
      // During the evictions it may crash for the last time, and uses that need more memory may arrive.
      await resident.closing;
      if (!resident.engine) resident.backoff.check();
      bytes = missingBytes(resident);
      const victims = victimsOf(rivals, this.#heldBytes + bytes - this.#budgetBytes);
      if (victims.length === 0) break;
      await this.#evictAll(victims, { for: resident.model.id, signal });
    }
    resident.heldBytes += bytes;
    this.#heldBytes += bytes;
    // The load for which it was to be closed was given up, or it is loaded and gets memory for vectors.
    if (!resident.engine) return false;
    this.#serve(resident, resident.engine);
    return true;
  }

  async #evictAll(victims: readonly Resident[], options: { for: string; signal: AbortSignal }): Promise<void> {
    for (const victim of victims) victim.isLeaving = true;
    const evictions = await Promise.allSettled(victims.map((victim) => this.#evict(victim, options)));
    for (const victim of victims) victim.isLeaving = false;
    for (const eviction of evictions) if (eviction.status === 'rejected') throw eviction.reason;
  }

  /** Waits until the model is loaded and nothing uses it; then closes it, and waits for the end of its processes. */
  async #evict(victim: Resident, { for: other, signal }: { for: string; signal: AbortSignal }): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
    while (victim.heldBytes > 0 && (!victim.engine || victim.users > 0)) {
      signal.throwIfAborted();
      await Promise.race([this.#changed.promise, aborted.promise]);
    }
    const { engine, model } = victim;
    // Undefined: its load has failed.
    if (!engine) return;
    victim.engine = undefined;
    try {
      await engine[Symbol.asyncDispose]();
    } finally {
      this.#release(victim);
    }
    this.#counts.evictions += 1;
    this.#deps.log.info({ model: model.id, for: other, heldBytes: this.#heldBytes }, 'model closed to free memory');
  }

  #release(resident: Resident): void {
    this.#heldBytes -= resident.heldBytes;
    resident.heldBytes = 0;
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(this.#loadMs), this.#closing.signal]);
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(stopped());
    while (this.#residents.some(({ loading }) => loading))
      await Promise.all(this.#residents.map(({ loading }) => loading));
    await Promise.all(this.#residents.map(({ engine, closing }) => engine?.[Symbol.asyncDispose]() ?? closing));
  }
}

const busy = ({ id }: LoadableModel, cause: unknown) =>
  new NotLoadedError(`the models in use leave no memory for ${id}`, BUSY_RETRY_MS, { cause });
const stopped = () => new EngineError('crashed', 'the engine was stopped');
