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

/** The network report; null if the service uses its own engine and has no network. Rejects with InferenceProblem. */
export async function askNetwork(signal: AbortSignal): Promise<Network | null> {
  return client.network({ signal }).catch((error: unknown) => {
    if (error instanceof InferenceProblem && error.status === 404) return null;
    throw error;
  });
}
