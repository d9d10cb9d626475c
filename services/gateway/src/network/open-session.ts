// The gateway's end of one channel to a worker.
import type { Offer } from '@strata/inference';
import type { Channel } from '@strata/p2p';
import type { WorkerSession } from './worker-session.ts';

export interface SessionOptions {
  /** Name and version, for hello. */
  readonly software: string;
  /** Round trip of the connection, as it is measured elsewhere; undefined: not yet. */
  readonly roundTripMs: () => number | undefined;
  /** Hears each offer whose signature is that of the channel's peer, and its encoding as it came. */
  readonly onOffer: (offer: Offer, signed: { readonly offer: Uint8Array; readonly signature: Uint8Array }) => void;
  /** Hears, once, that the worker is gone, and why; a breach of the protocol is named. */
  readonly onEnd: (end: { readonly loss: string; readonly breach: string | undefined }) => void;
}

/** Says hello and waits for the other's. Rejects with WorkerLostError: another version, no worker, silence. */
export async function openWorkerSession(_channel: Channel, _options: SessionOptions): Promise<WorkerSession> {
  throw new Error('not yet');
}
