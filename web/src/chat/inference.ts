// The typed client of the inference service, for this page's origin and the user's API key.
import {
  InferenceClient,
  InferenceProblem,
  type Model,
  type Network,
  type Receipt,
  storedLedgerMemory,
} from '@strata/client';
import { currentKey } from './key.ts';

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

export const client = new InferenceClient({
  baseUrl: location.origin,
  key: currentKey,
  memory: storedLedgerMemory(() => localStorage, 'strata-inference-ledgers'),
});
