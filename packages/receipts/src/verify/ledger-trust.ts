// Trust anchors for a ledger.
import type { WitnessPolicyText } from '../notes/cosignature.ts';

/** What a verifier knows of a ledger from other sources, and requires. */
export interface LedgerTrust {
  /** C2SP verifier key to trust, with the keys that it vouches for, instead of those in the key set. */
  readonly ledgerKey?: string | undefined;
  /** A signed note: the ledger must also be consistent with this checkpoint. */
  readonly ledgerCheckpoint?: string | undefined;
  /** Witnesses that must have cosigned the checkpoint: `required` of the given verifier keys. */
  readonly witnesses?: WitnessPolicyText | undefined;
}
