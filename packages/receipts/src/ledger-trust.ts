// What is known of a ledger before anything of it is read.

/** What a verifier knows of a ledger from elsewhere, and holds it to. A policy of witnesses belongs here. */
export interface LedgerTrust {
  /** C2SP verifier key to trust, with the keys that it vouches for, in place of those in the key set. */
  readonly ledgerKey?: string | undefined;
  /** A signed note: the ledger must go on from this checkpoint too. */
  readonly ledgerCheckpoint?: string | undefined;
}
