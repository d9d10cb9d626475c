// What the rest of the gateway asks of its accounts with workers.
import type { SignedSegment } from '../session/worker-session.ts';

/** As it stands in the frame `settle`. */
export interface Agreement {
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SegmentAccounts {
  /** Keeps a receipt that was found right, and gives our own signature of it. `caller`: id of the key that asked. */
  agree(segment: SignedSegment, caller: string | undefined): Promise<Uint8Array>;
  /** What was agreed with a worker last, some dozens at most: it may have been lost on the way, and can be said again. */
  recent(worker: string): Promise<readonly Agreement[]>;
}
