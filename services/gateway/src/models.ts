// The models that are served, by the names that callers use.
import { CompletionError } from '@strata/inference';
import type { Admission } from './admission.ts';
import type { Backend } from './backend.ts';

export interface ServedModel {
  readonly id: string;
  readonly backend: Backend;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Who gets its next free place. */
  readonly admission: Admission;
}

export class Models {
  readonly #models: ReadonlyMap<string, ServedModel>;

  constructor(models: readonly ServedModel[]) {
    this.#models = new Map(models.map((model) => [model.id, model]));
  }

  list(): readonly ServedModel[] {
    return [...this.#models.values()];
  }

  /** Answers being made or waiting, of all models. */
  get busy(): number {
    return this.list().reduce((sum, { admission }) => sum + admission.size, 0);
  }

  /** Throws CompletionError `model_not_found`. */
  get(id: string): ServedModel {
    const model = this.#models.get(id);
    if (model) return model;
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
