// What can answer a request for a name: a model of an upstream, of this gateway, or of the network.
import { openUpstream, type Upstream, type UpstreamOptions, type UpstreamPages } from '@strata/engine';
import type { Logger } from 'pino';
import type { Backend } from '../backend.ts';
import type { ServedModel } from '../models.ts';
import { UpstreamBackend } from '../upstream-backend.ts';
import type { TargetHealth } from './target-health.ts';

export interface Target {
  /** `upstream/model`, or the id of a model of this gateway. */
  readonly name: string;
  /** Null: this gateway or a worker answers. */
  readonly upstream: string | null;
  /** Its name there. */
  readonly model: string;
  readonly health: TargetHealth;
  /** Concurrent answers. */
  readonly slots: number;
  /** Whether all slots are in use. */
  readonly isFull: boolean;
  /** Undefined while it is not known. */
  readonly current: Backend | undefined;
  /** The backend, with the slot that an answer of it needs. Rejects with its errors, or with the signal's reason. */
  open(caller: Caller, signal: AbortSignal): Promise<Opened>;
}

export interface Caller {
  /** Of its key; empty if it is not known. */
  readonly id: string;
  readonly share?: number | undefined;
}

export interface Opened extends Disposable {
  readonly backend: Backend;
}

/** Of a model that no worker has offered yet: when it is there, its own slots limit too. */
const UNKNOWN_SLOTS = 64;

/** A model of this gateway or the network; `find` throws CompletionError while it is not served. */
export function ownTarget(model: string, health: TargetHealth, find: () => ServedModel): Target {
  const known = () => {
    try {
      return find();
    } catch {
      return undefined;
    }
  };
  return {
    ...{ name: model, upstream: null, model, health },
    get slots() {
      return known()?.admission.slots ?? UNKNOWN_SLOTS;
    },
    get isFull() {
      const admission = known()?.admission;
      return admission !== undefined && admission.running >= admission.slots;
    },
    get current() {
      return known()?.backend;
    },
    async open({ id, share }, signal) {
      const served = find();
      const slot = await served.admission.enter(id, signal, share);
      return { backend: served.backend, [Symbol.dispose]: () => slot[Symbol.dispose]() };
    },
  };
}

export interface UpstreamTargetOptions extends UpstreamOptions {
  /** In the settings. */
  readonly upstream: string;
  /** Shared with the other models of the server. */
  readonly pages: UpstreamPages;
}

/** A model of an upstream, which is opened by the first request that finds it: a gateway starts without its upstreams. */
export class UpstreamTarget implements Target, AsyncDisposable {
  readonly name: string;
  readonly upstream: string;
  readonly model: string;
  readonly health: TargetHealth;
  readonly slots: number;
  readonly #options: UpstreamOptions;
  readonly #pages: UpstreamPages;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #opening: Promise<Backend> | undefined;
  #opened: Upstream | undefined;
  #answers = 0;
  current: Backend | undefined;

  constructor({ upstream, pages, ...options }: UpstreamTargetOptions, health: TargetHealth, logger: Logger) {
    this.name = `${upstream}/${options.model}`;
    this.upstream = upstream;
    this.model = options.model;
    this.slots = options.slots;
    this.health = health;
    this.#options = options;
    this.#pages = pages;
    this.#logger = logger;
  }

  async open(_caller: Caller, signal: AbortSignal): Promise<Opened> {
    const backend = this.current ?? (await orAborted(this.ready(), signal));
    this.#answers += 1;
    return {
      backend,
      [Symbol.dispose]: () => {
        this.#answers -= 1;
      },
    };
  }

  get isFull(): boolean {
    return this.#answers >= this.slots;
  }

  /** Concurrent calls share one attempt, which continues when a client leaves. */
  ready(): Promise<Backend> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Backend> {
    const target = this.name;
    this.#opened = await openUpstream(this.#options, {
      ...{ signal: this.#closing.signal, pages: this.#pages },
      onRetry: ({ detail, waitMs }) => this.#logger.warn({ target, detail, waitMs }, 'retrying the upstream request'),
    });
    const { engine, origin, slots } = this.#opened.info;
    this.#logger.info({ target, engine, origin, slots }, 'upstream model is served');
    this.current = new UpstreamBackend(this.#opened);
    return this.current;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the gateway is stopping'));
    await this.#opening?.catch(() => {});
    await this.#opened?.[Symbol.asyncDispose]();
  }
}

/** The value, or a rejection with the signal's reason. */
export async function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
