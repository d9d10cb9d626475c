// The typed client of the inference service, for this page's origin and the user's API key, which the browser stores.
import {
  InferenceClient,
  InferenceProblem,
  type Model,
  type Network,
  type Receipt,
  storedLedgerMemory,
} from '@strata/client';
import { storedValue, useObservable } from '../ui/observable.ts';

export type { Model, Network, Receipt };
export { InferenceClient, InferenceProblem };

export type Peer = Network['peers'][number];

/** A part of an answer and the worker that generated it. */
export interface Segment {
  readonly worker: string;
  /** Token positions: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

const storedKey = storedValue('strata-inference-key');

export const setKey = storedKey.set;
export const useKey = (): string | undefined => useObservable(storedKey);

export const client = new InferenceClient({
  baseUrl: location.origin,
  key: storedKey.get,
  memory: storedLedgerMemory(() => localStorage, 'strata-inference-ledgers'),
});
