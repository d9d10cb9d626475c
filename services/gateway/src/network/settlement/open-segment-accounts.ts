// The accounts with workers: a receipt is agreed to once, and kept with both signatures before ours leaves. A kill between the two
// leaves a worker that can be sent the same signature again: it is in the database.
import { settleSignedBytes } from '@strata/inference';
import type { Segments } from '@strata/store';
import type { Agreement, SegmentAccounts } from './segment-accounts.ts';

export interface SegmentAccountsDeps {
  readonly segments: Pick<Segments, 'put' | 'list'>;
  /** By the key of our own host. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly now: () => Date;
}

/** Of one worker, which takes no more than 64 that it does not know from one session. */
const MAX_AGAIN = 32;
/** Of all workers, newest last. */
const MAX_RECENT = 2_000;

/** `agree` rejects for a receipt that was agreed to before, and where it cannot be kept. */
export function openSegmentAccounts({ segments, sign, now }: SegmentAccountsDeps): SegmentAccounts {
  let known: (Agreement & { readonly worker: string })[] | undefined;
  return {
    async recent(worker) {
      // Of before a restart: from the database.
      known ??= (await segments.list({ limit: MAX_RECENT }))
        .toReversed()
        .flatMap(({ worker: name, nonce, gatewaySignature: signature }) =>
          // Empty: its proof was forgotten.
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
      if (!isNew) throw new Error('a receipt with this nonce was agreed to before');
      // What was not asked for yet is read from the database when it is.
      known?.push({ worker: receipt.worker, nonce: receipt.nonce, signature: gatewaySignature });
      if (known && known.length > MAX_RECENT * 2) known.splice(0, known.length - MAX_RECENT);
      return gatewaySignature;
    },
  };
}
