// What is known of a ledger before anything of it is read.
import type { WitnessPolicyText } from '../notes/cosignature.ts';

/** What a verifier knows of a ledger from elsewhere, and holds it to. */
export interface LedgerTrust {
  /** C2SP verifier key to trust, with the keys that it vouches for, in place of those in the key set. */
  readonly ledgerKey?: string | undefined;
  /** A signed note: the ledger must go on from this checkpoint too. */
  readonly ledgerCheckpoint?: string | undefined;
  /** Witnesses that must have cosigned the checkpoint: `required` of those whose verifier keys are given. */
  readonly witnesses?: WitnessPolicyText | undefined;
}
