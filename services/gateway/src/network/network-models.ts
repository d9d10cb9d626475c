// The served models of the network: a model is added when a worker offers it, and removed when no worker has offered it
// for a while.
import { type Engine, EngineError, type ModelInfo, type VocabularyFacts } from '@strata/engine';
import {
  type Binding,
  bindNames,
  MAX_TOKENS,
  type ModelGroup,
  type ModelGroupsOptions,
  type Verified,
} from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { EngineBackend } from '../answers/engine-backend.ts';
import { type Models, type ServedModel, unavailable } from '../answers/models.ts';
import { type Admission, openAdmission } from '../limits/admission.ts';
import type { Fleet } from './fleet/fleet.ts';
import { checkVocabulary } from './vocabulary/check-vocabulary.ts';
import type { LazyVocabulary } from './vocabulary/vocabularies.ts';

export interface NetworkModelsOptions {
  /** Maximum number of served models, not counting pinned ones. */
  readonly max: number;
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  /** Maximum number of waiting answers per model. */
  readonly queue: number;
  /** How long a model without workers is kept. 30,000 by default, so that a worker can restart. */
  readonly graceMs?: number;
  /**
   * Minimum interval between scheduled refreshes. 150 by default: with thousands of models one takes milliseconds, and
   * any peer can send an offer.
   */
  readonly refreshMs?: number;
}

export interface NetworkModelsDeps {
  readonly models: Models;
  /** Groups of the workers that are connected and trusted. */
  readonly groups: (nameOf: ModelGroupsOptions['nameOf']) => readonly ModelGroup[];
  /** The vocabulary of the group, fetched from any of its current workers when it is needed. */
  readonly vocabularyOf: (sha256: string, peers: () => readonly string[]) => LazyVocabulary;
  /** `group` returns the current state of the group. */
  readonly openModel: (group: () => ModelGroup, vocabulary: LazyVocabulary, facts: VocabularyFacts) => NetworkModelDeps;
  /** Called with the names of all served models when they have changed. */
  readonly onNames: (ids: readonly string[]) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface NetworkModelDeps {
  readonly engine: Engine;
  readonly fleet: Pick<Fleet, 'slots'> & { refresh(): void };
  readonly verified: () => Verified;
}

/** One file with one vocabulary, under any number of names. */
interface Served extends NetworkModelDeps {
  readonly model: Omit<ServedModel, 'id'>;
  readonly vocabulary: LazyVocabulary;
  readonly admission: Admission;
  /** Without ids the model gets no new requests, and ends with its last answer, unless a worker returns first. */
  readonly ids: Set<string>;
  group: ModelGroup;
  /** When a worker last offered it. */
  offeredAtMs: number;
}

const GRACE_MS = 30_000;
const REFRESH_MS = 150;
/** Retry delay if no worker delivered the vocabulary; longer if the vocabulary could not be opened. */
const RETRY_MS = 5_000;
const UNUSABLE_MS = 60_000;
/** Maximum number of vocabularies that are fetched and opened concurrently. */
const MAX_OPENING = 8;

/** The same file with another vocabulary is a different model. */
const keyOf = ({ sha256, vocabularySha256 }: Pick<ModelGroup, 'sha256' | 'vocabularySha256'>) =>
  `${sha256}/${vocabularySha256}`;

export class NetworkModels implements AsyncDisposable {
  readonly #options: NetworkModelsOptions;
  readonly #deps: NetworkModelsDeps;
  /** Ids of the models in the settings, which keep their names. */
  readonly #own: ReadonlySet<string>;
  readonly #served = new Map<string, Served>();
  readonly #opening = new Map<string, Promise<void>>();
  readonly #unusable = new LRUCache<string, true>({ max: 2_000 });
  readonly #ending = new Set<Promise<void>>();
  #offered: ReadonlyMap<string, ModelGroup> = new Map();
  #bound: ReadonlyMap<string, Binding> = new Map();
  #isClosed = false;
  #isRefreshDue = false;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: NetworkModelsOptions, deps: NetworkModelsDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#own = new Set(deps.models.list().map(({ id }) => id));
  }

  list(): readonly (Pick<Served, 'group' | 'admission' | 'fleet' | 'verified'> & { readonly id: string })[] {
    return [...this.#served.values()].flatMap((served) => [...served.ids].slice(0, 1).map((id) => ({ ...served, id })));
  }

  /** Schedules an update; those requested before it runs are combined. Must be called after changes, and periodically. */
  scheduleRefresh(): void {
    if (this.#isRefreshDue) return;
    this.#isRefreshDue = true;
    const { refreshMs = REFRESH_MS } = this.#options;
    const dueMs = this.#refreshedAtMs + refreshMs - performance.now();
    setTimeout(
      () => {
        this.#isRefreshDue = false;
        try {
          this.refresh();
        } catch (error) {
          this.#deps.logger.error({ err: error }, 'updating the models of the network failed');
        }
        this.#refreshedAtMs = performance.now();
      },
      Math.max(0, dueMs),
    ).unref();
  }

  /** Updates the served models to match the offers. */
  refresh(): void {
    if (this.#isClosed) return;
    const nowMs = performance.now();
    const groups = this.#deps.groups((file) => this.#served.get(keyOf(file))?.group.name);
    const { models, bound } = bindNames(groups, { pinned: this.#options.pins, bound: this.#bound, nowMs });
    this.#bound = bound;
    this.#offered = new Map([...models.values()].map((group) => [keyOf(group), group]));
    for (const [key, served] of this.#served) {
      const group = this.#offered.get(key);
      served.fleet.refresh();
      if (!group) continue;
      served.group = group;
      served.offeredAtMs = nowMs;
      served.admission.resize(Math.max(1, served.fleet.slots));
    }
    this.#name(models, nowMs);
    for (const [key, served] of this.#served) {
      if (served.ids.size > 0) continue;
      served.admission.rejectWaiting(unavailable(served.group.name));
      if (served.admission.size === 0) this.#end(key, served);
    }
    for (const [name, group] of models) if (this.#isWanted(name, group)) this.#open(name, group);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening.values());
    for (const [key, served] of this.#served) this.#end(key, served);
    await Promise.allSettled(this.#ending);
  }

  /** Assigns the current names, and withdraws names that now belong to another model. */
  #name(models: ReadonlyMap<string, ModelGroup>, nowMs: number): void {
    const { graceMs = GRACE_MS } = this.#options;
    const wanted = new Map<string, Served>();
    for (const [name, group] of models) {
      const served = this.#served.get(keyOf(group));
      if (served) wanted.set(this.#own.has(name) ? `${name}@${group.sha256.slice(0, 12)}` : name, served);
    }
    // A model without workers keeps its names for a while, unless another model claims them.
    for (const [key, served] of this.#served)
      if (!this.#offered.has(key) && nowMs - served.offeredAtMs <= graceMs)
        for (const id of served.ids) if (!wanted.has(id)) wanted.set(id, served);
    for (const served of this.#served.values())
      for (const id of served.ids) if (wanted.get(id) !== served) this.#unname(id, served);
    const added = [...wanted].filter(([id, served]) => !served.ids.has(id) && !this.#own.has(id));
    for (const [id, served] of added) {
      const { sha256, peers } = served.group;
      served.ids.add(id);
      this.#deps.models.add({ id, ...served.model });
      this.#deps.logger.info({ model: id, sha256, workers: peers.length }, 'a model of the network is served');
    }
    // Names that were withdrawn stay known until a new one is added.
    if (added.length > 0) this.#deps.onNames([...wanted.keys()]);
  }

  #unname(id: string, served: Served): void {
    served.ids.delete(id);
    this.#deps.models.remove(id);
    this.#deps.logger.info({ model: id, sha256: served.group.sha256 }, 'a model of the network is no longer served');
  }

  #isWanted(name: string, group: ModelGroup): boolean {
    const key = keyOf(group);
    if (this.#served.has(key) || this.#opening.has(key) || this.#unusable.has(key)) return false;
    if (this.#opening.size >= MAX_OPENING) return false;
    // Pinned models do not count against the limit.
    const { pins, max } = this.#options;
    if (pins.has(name)) return true;
    const pinned = new Set(pins.values());
    const unpinned = [...this.#served.keys(), ...this.#opening.keys()].filter(
      (each) => !pinned.has(each.slice(0, each.indexOf('/'))),
    );
    return unpinned.length < max;
  }

  #open(name: string, group: ModelGroup): void {
    const key = keyOf(group);
    const opening = this.#serve(group)
      .catch((error: unknown) => {
        this.#unusable.set(key, true, { ttl: error instanceof EngineError ? UNUSABLE_MS : RETRY_MS });
        this.#deps.logger.warn({ err: error, sha256: group.sha256, name }, 'a model of the network cannot be served');
      })
      .finally(() => {
        this.#opening.delete(key);
        this.scheduleRefresh();
      });
    this.#opening.set(key, opening);
  }

  async #serve(offered: ModelGroup): Promise<void> {
    const { vocabularyOf, openModel, now } = this.#deps;
    const key = keyOf(offered);
    const vocabulary = vocabularyOf(offered.vocabularySha256, () => (this.#offered.get(key) ?? offered).peers);
    const facts = await vocabulary.facts();
    await checkVocabulary(vocabulary, facts);
    if (this.#isClosed) return;
    const { engine, fleet, verified } = openModel(() => this.#served.get(key)?.group ?? offered, vocabulary, facts);
    const admission = openAdmission({ slots: Math.max(1, fleet.slots), queue: this.#options.queue });
    const created = Math.floor(now().getTime() / 1_000);
    const model = {
      backend: new EngineBackend(engine, {
        verified,
        isPinned: new Set(this.#options.pins.values()).has(offered.sha256),
      }),
      created,
      admission,
    };
    const offeredAtMs = performance.now();
    this.#served.set(key, {
      model,
      engine,
      fleet,
      verified,
      vocabulary,
      admission,
      ids: new Set(),
      group: offered,
      offeredAtMs,
    });
  }

  #end(key: string, served: Served): void {
    this.#served.delete(key);
    for (const id of served.ids) this.#deps.models.remove(id);
    const ending = (async () => {
      try {
        await served.engine[Symbol.asyncDispose]();
      } catch (error) {
        this.#deps.logger.error({ err: error, sha256: served.group.sha256 }, 'stopping a model of the network failed');
      }
    })().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/**
 * Facts of a network model: the vocabulary's from its file, the rest as reported by the workers, with the slots of all
 * workers.
 */
export function networkModelInfo({ sha256, model }: ModelGroup, facts: VocabularyFacts, slots: number): ModelInfo {
  return { ...model, ...facts, sha256, slots, contextLength: Math.min(model.contextLength, MAX_TOKENS) };
}
