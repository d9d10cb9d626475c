// The interface for accepting workers' receipts.
import type { SignedSegment } from '../session/worker-session.ts';

/** The content of a `settle` frame. */
export interface Agreement {
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SegmentAccounts {
  /** Stores a correct receipt, and returns our signature of it. `caller`: the id of the requesting key. */
  agree(segment: SignedSegment, caller: string | undefined): Promise<Uint8Array>;
  /** The most recent agreements with a worker, a few dozen: they may not have arrived, and can be sent again. */
  recent(worker: string): Promise<readonly Agreement[]>;
}
