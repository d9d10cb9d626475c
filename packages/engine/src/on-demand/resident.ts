// One model of a memory budget: what it holds of the memory, and which ones are closed for another.
import type { Engine } from '../engine.ts';
import type { LoadBackoff, NotLoadedError } from './load-backoff.ts';

export interface LoadableModel {
  readonly id: string;
  /** Estimated memory of the loaded model, in bytes. */
  readonly memoryBytes: number;
  /** Estimated memory that it needs in addition from its first vector on; 0 by default. */
  readonly vectorBytes?: number;
  /** Rejects with the signal's reason when aborted. `onDied` must be called when a process of the engine has crashed. */
  load(signal: AbortSignal, onDied: (detail: string) => void): Promise<Engine>;
}

/** A model of the budget. */
export interface SharedModel {
  readonly isLoaded: boolean;
  /** Being loaded, or waiting for memory. */
  readonly isLoading: boolean;
  readonly memoryBytes: number;
  /** False while its processes restart, and after a failed load or crashes until a retry is due: then uses are refused. */
  readonly isReady: boolean;
  /** Why uses are refused until a retry is due. */
  readonly unavailable: string | undefined;
  /** The model if it is loaded. Otherwise throws NotLoadedError until a failed load may be retried. */
  tryUse(): ModelLease | undefined;
  /**
   * Waits until it is loaded; with `vectors` also until their memory is counted. Rejects with NotLoadedError, with
   * EngineError `vectors-too-large` if that memory can never be counted, or with the signal's reason.
   */
  use(signal: AbortSignal, options?: { readonly vectors?: boolean }): Promise<ModelLease>;
  /** Records that its file cannot be used, as a failed load. */
  failed(cause: unknown): NotLoadedError;
}

/** A loaded model in use: it is not closed before this is disposed. */
export interface ModelLease extends Disposable {
  readonly engine: Engine;
}

/** What a use needs. */
export interface Needs {
  /** The memory for vectors too. */
  readonly vectors: boolean;
}

export interface Resident {
  readonly model: LoadableModel;
  readonly backoff: LoadBackoff;
  /** Its part of the memory: more than 0 while it is loaded, being loaded, or being closed. */
  heldBytes: number;
  engine: Engine | undefined;
  /** Uses in progress. */
  users: number;
  /** Order of the last use. */
  usedAt: number;
  /** It is to be closed: new uses wait for the next load, so that a busy model does not keep the memory. */
  isLeaving: boolean;
  loading: Promise<void> | undefined;
  /** The end of an engine that crashed too often. */
  closing: Promise<void> | undefined;
  /** Aborts a load that still waits for memory when nothing waits for it any more. */
  unwanted: AbortController;
  readonly waiting: Set<PromiseWithResolvers<ModelLease> & Needs>;
}

export const newResident = (model: LoadableModel, backoff: LoadBackoff): Resident => ({
  ...{ model, backoff, heldBytes: 0, engine: undefined, users: 0, usedAt: 0, isLeaving: false },
  ...{ loading: undefined, closing: undefined, unwanted: new AbortController(), waiting: new Set() },
});

export const neededBytes = ({ memoryBytes, vectorBytes = 0 }: LoadableModel, { vectors }: Needs): number =>
  memoryBytes + (vectors ? vectorBytes : 0);

/** Memory that it has to get for all uses that wait for it. */
export function missingBytes({ model, heldBytes, waiting }: Resident): number {
  const vectors = waiting.values().some((use) => use.vectors);
  return Math.max(0, neededBytes(model, { vectors }) - heldBytes);
}

/** Idle models first, the least recently used ones of them; then those in use; as many as hold these bytes. */
export function victimsOf(residents: readonly Resident[], bytes: number): readonly Resident[] {
  const isBusy = ({ engine, users }: Resident) => Number(engine === undefined || users > 0);
  const ordered = residents
    .filter(({ heldBytes }) => heldBytes > 0)
    .toSorted((a, b) => isBusy(a) - isBusy(b) || a.usedAt - b.usedAt);
  let missing = bytes;
  return ordered.filter(({ heldBytes }) => {
    if (missing <= 0) return false;
    missing -= heldBytes;
    return true;
  });
}
