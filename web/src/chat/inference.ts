// The inference service as the chat asks it: the typed client under this page's own origin, with the reader's key.
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

/** A part of an answer, and who made it. */
export interface Segment {
  readonly worker: string;
  /** The positions of its tokens, from the first up to, not including, the last. */
  readonly from: number;
  readonly to: number;
}

export const client = new InferenceClient({
  baseUrl: location.origin,
  key: currentKey,
  memory: storedLedgerMemory(() => localStorage, 'strata-inference-ledgers'),
});

/** Who is there; null where the service has an engine of its own and no network. Rejects with InferenceProblem. */
export async function askNetwork(signal: AbortSignal): Promise<Network | null> {
  return client.network({ signal }).catch((error: unknown) => {
    if (error instanceof InferenceProblem && error.status === 404) return null;
    throw error;
  });
}
