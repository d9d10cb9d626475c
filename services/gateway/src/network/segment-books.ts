// What the rest of the gateway asks of its accounts with workers.
import type { SignedSegment } from './worker-session.ts';

export interface SegmentBooks {
  /** Keeps a receipt that was found right, and gives our own signature of it. `caller`: id of the key that asked. */
  agree(segment: SignedSegment, caller: string | undefined): Promise<Uint8Array>;
}
