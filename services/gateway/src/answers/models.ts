// The served models, by id. Models of the network are added and removed at run time.
import { CompletionError } from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Admission } from '../limits/admission.ts';
import type { Backend } from './backend.ts';

/** The id of the answers from the data of the stack service, which no language model writes. */
export const DATA_MODEL = 'strata-data';

export interface ServedModel {
  readonly id: string;
  readonly backend: Backend;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Admission control of its slots. */
  readonly admission: Admission;
}

/** Requests for a model that was removed, or expected, less than this time ago are asked to retry. */
const REMOVED_MS = 3_600_000;
const RETRY_MS = 5_000;

export class Models {
  readonly #models: Map<string, ServedModel>;
  readonly #removed = new LRUCache<string, true>({ max: 1_000, ttl: REMOVED_MS });
  readonly #pinned: ReadonlySet<string>;

  /** `pinned`: names of network models that are known even if no worker has offered them yet. */
  constructor(models: readonly ServedModel[], { pinned = [] }: { readonly pinned?: Iterable<string> } = {}) {
    this.#models = new Map(models.map((model) => [model.id, model]));
    this.#pinned = new Set(pinned);
  }

  has(id: string): boolean {
    return this.#models.has(id);
  }

  /** Throws if another model has the id. */
  add(model: ServedModel): void {
    if (this.has(model.id)) throw new Error(`two models with the same id: ${model.id}`);
    this.#models.set(model.id, model);
    this.#removed.delete(model.id);
  }

  /** Names of network models that were served before a restart: requests for them are asked to retry. */
  expect(ids: readonly string[]): void {
    for (const id of ids) if (!this.has(id)) this.#removed.set(id, true);
  }

  /** The number of models that were removed, or expected and not added yet. */
  get awaited(): number {
    return this.#removed.size;
  }

  /** Rejects new requests for the model; answers in progress continue. */
  remove(id: string): void {
    if (this.#models.delete(id)) this.#removed.set(id, true);
  }

  /** Language models first: clients take the first one by default. */
  list(): readonly ServedModel[] {
    const models = [...this.#models.values()];
    return models.toSorted((a, b) => Number(a.id === DATA_MODEL) - Number(b.id === DATA_MODEL));
  }

  /** The number of answers in progress or waiting, for all models. */
  get busy(): number {
    // A model with two names has one admission.
    const admissions = new Set(this.list().map(({ admission }) => admission));
    return [...admissions].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Throws CompletionError `model_not_found`, or `overloaded` for a known model that no worker offers at present. A model that
   * the caller may not use is not found.
   */
  get(id: string, isAllowed: (id: string) => boolean = () => true): ServedModel {
    if (isAllowed(id)) {
      const model = this.#models.get(id);
      if (model) return model;
      if (this.#removed.has(id) || this.#pinned.has(id)) throw unavailable(id);
    }
    const known = this.list()
      .filter((each) => isAllowed(each.id))
      .slice(0, 10)
      .map((each) => `'${each.id}'`)
      .join(', ');
    throw new CompletionError(
      'model_not_found',
      `The model '${id.slice(0, 100)}' does not exist, or this key may not use it. ${known === '' ? 'No model is available at present.' : `Available models: ${known}.`}`,
      { param: 'model' },
    );
  }
}

/** The workers of the model may be back in a moment. */
export function unavailable(id: string): CompletionError {
  return new CompletionError('overloaded', `No worker offers the model '${id}' at present; try again in a moment.`, {
    param: 'model',
    retryAfterMs: RETRY_MS,
  });
}

export function modelReport({ id, created, backend }: ServedModel) {
  const { name, sha256, contextLength, parameters, quantisation, sizeBytes, slots, engine } = backend.facts;
  return {
    id,
    object: 'model',
    created,
    owned_by: 'strata',
    // Extensions of the contract: facts that clients need before a request.
    name,
    engine,
    sha256,
    size_bytes: sizeBytes,
    parameters,
    quantisation,
    context_length: contextLength,
    slots,
    loaded: backend.isLoaded,
    unavailable: backend.unavailable ?? null,
    verified: backend.verified,
  };
}

/** Identifies the model file and the engine: the same seed gives the same answer only if it is equal. */
export function fingerprintOf({ facts }: Backend): string {
  return `fp_${facts.sha256?.slice(0, 10) ?? 'unknown'}_${facts.engine.replaceAll(/[^a-z0-9.]+/gi, '-')}`;
}
