// Accepts workers' receipts: each receipt once, stored with both signatures before ours is sent. After a crash between
// the two, the same signature can be sent again from the database.
import { settleSignedBytes } from '@strata/inference';
import type { Segments } from '@strata/segments';
import type { SignedSegment } from '../session/worker-session.ts';

/** The content of a `settle` frame. */
interface Agreement {
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SegmentAccounts {
  /** Stores a correct receipt, and returns our signature of it. `caller`: the id of the requesting key. */
  agree(segment: SignedSegment, caller: string | undefined): Promise<Uint8Array>;
  /** The most recent agreements with a worker, a few dozen: they may not have arrived, and can be sent again. */
  recent(worker: string): Promise<readonly Agreement[]>;
}

export interface SegmentAccountsDeps {
  readonly segments: Pick<Segments, 'put' | 'list'>;
  /** Signs with the key of our own node. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly now: () => Date;
}

/** Per worker; a worker accepts at most 64 unknown ones in one session. */
const MAX_AGAIN = 32;
/** For all workers, newest last. */
const MAX_RECENT = 2_000;

/** `agree` rejects for a receipt that was already accepted, and if it cannot be stored. */
export function openSegmentAccounts({ segments, sign, now }: SegmentAccountsDeps): SegmentAccounts {
  let known: (Agreement & { readonly worker: string })[] | undefined;
  return {
    async recent(worker) {
      // From before a restart: read from the database.
      known ??= (await segments.list({ limit: MAX_RECENT }))
        .toReversed()
        .flatMap(({ worker: name, nonce, gatewaySignature: signature }) =>
          // Empty: the proof has expired.
          signature?.byteLength ? [{ worker: name, nonce, signature }] : [],
        );
      return known.filter((agreement) => agreement.worker === worker).slice(-MAX_AGAIN);
    },
    async agree({ receipt, bytes, signature }, caller) {
      const gatewaySignature = await sign(settleSignedBytes(bytes));
      const isNew = await segments.put({
        nonce: receipt.nonce,
        worker: receipt.worker,
        gateway: receipt.gateway,
        caller,
        modelSha256: receipt.modelSha256,
        promptTokens: receipt.promptTokens,
        cachedTokens: receipt.cachedTokens,
        outputTokens: receipt.to - receipt.from,
        endedAtMs: now().getTime(),
        receipt: bytes,
        workerSignature: signature,
        gatewaySignature,
      });
      if (!isNew) throw new Error('a receipt with this nonce was already accepted');
      // Not loaded yet: it is read from the database on demand.
      known?.push({ worker: receipt.worker, nonce: receipt.nonce, signature: gatewaySignature });
      if (known && known.length > MAX_RECENT * 2) known.splice(0, known.length - MAX_RECENT);
      return gatewaySignature;
    },
  };
}
