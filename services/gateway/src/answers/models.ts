// The models that are served, by the names that callers use. Those of the network come and go.
import { CompletionError } from '@strata/inference';
import { LRUCache } from 'lru-cache';
import type { Admission } from '../limits/admission.ts';
import type { Backend } from './backend.ts';

export interface ServedModel {
  readonly id: string;
  readonly backend: Backend;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Who gets its next free place. */
  readonly admission: Admission;
}

/** Whoever asks for a model that was served so lately is told to try again. */
const GONE_MS = 3_600_000;
const RETRY_MS = 5_000;

export class Models {
  readonly #models: Map<string, ServedModel>;
  readonly #gone = new LRUCache<string, true>({ max: 1_000, ttl: GONE_MS });

  constructor(models: readonly ServedModel[]) {
    this.#models = new Map(models.map((model) => [model.id, model]));
  }

  has(id: string): boolean {
    return this.#models.has(id);
  }

  /** Throws when another model has the id. */
  add(model: ServedModel): void {
    if (this.has(model.id)) throw new Error(`two models of one id: ${model.id}`);
    this.#models.set(model.id, model);
    this.#gone.delete(model.id);
  }

  /** Nobody finds it any more; answers under way go on. */
  remove(id: string): void {
    if (this.#models.delete(id)) this.#gone.set(id, true);
  }

  list(): readonly ServedModel[] {
    return [...this.#models.values()];
  }

  /** Answers being made or waiting, of all models. */
  get busy(): number {
    // One that has two names has one line.
    const lines = new Set(this.list().map(({ admission }) => admission));
    return [...lines].reduce((sum, { size }) => sum + size, 0);
  }

  /** Throws CompletionError `model_not_found`, or `overloaded` for one that was here a while ago. */
  get(id: string): ServedModel {
    const model = this.#models.get(id);
    if (model) return model;
    if (this.#gone.has(id)) throw notHereNow(id);
    const known = this.list()
      .slice(0, 10)
      .map((each) => `'${each.id}'`)
      .join(', ');
    throw new CompletionError(
      'model_not_found',
      `The model '${id.slice(0, 100)}' does not exist here. ${known === '' ? 'No model is served just now.' : `There is: ${known}.`}`,
      { param: 'model' },
    );
  }
}

/** Those who had it may be back in a moment. */
export function notHereNow(id: string): CompletionError {
  return new CompletionError('overloaded', `No worker offers the model '${id}' just now; try again in a moment.`, {
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
    // Beyond the contract: what a caller needs to know before it asks.
    name,
    engine,
    sha256,
    size_bytes: sizeBytes,
    parameters,
    quantisation,
    context_length: contextLength,
    slots,
  };
}

/** Names model file and engine: the same seed gives the same answer where it is the same. */
export function fingerprintOf({ facts }: Backend): string {
  return `fp_${facts.sha256?.slice(0, 10) ?? 'unknown'}_${facts.engine.replaceAll(/[^a-z0-9.]+/gi, '-')}`;
}
