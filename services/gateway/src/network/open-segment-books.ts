// The accounts with workers: a receipt is agreed to once, and kept with both signatures before ours leaves. A kill between the two
// leaves a worker that can be sent the same signature again: it is in the database.
import { settleSignedBytes } from '@strata/inference';
import type { Segments } from '@strata/store';
import type { SegmentBooks } from './segment-books.ts';

export interface SegmentBooksParts {
  readonly segments: Pick<Segments, 'put'>;
  /** By the key of our own host. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly now: () => Date;
}

/** `agree` rejects for a receipt that was agreed to before, and where it cannot be kept. */
export function openSegmentBooks({ segments, sign, now }: SegmentBooksParts): SegmentBooks {
  return {
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
      if (!isNew) throw new Error('a receipt with this nonce was agreed to before');
      return gatewaySignature;
    },
  };
}
