// Rotates a service's signing keys, for its running processes too.

import { ledgerIn, refuseNewKey } from '../ledger-directory.ts';
import { openCheckpoint } from '../rows/head.ts';
import type { LedgerTables } from '../rows/ledger-tables.ts';
import { openKeyrings, refuseWithoutKeys } from './keyrings.ts';
import { LedgerKeys } from './ledger-keys.ts';
import type { Keyring } from './signing-keys.ts';

/** The ledger whose keys are rotated. */
export interface RotatedLedger {
  readonly origin: string;
  /** Set for a log of several nodes. */
  readonly shared?: LedgerTables | undefined;
}

/**
 * Retires both signing keys and creates new ones; the old ledger key vouches for the new one. Running services load them by
 * `reload`, and the nodes of a shared log are notified. Returns the ids of the new keys. Rejects with KeyringError or LogError,
 * without a rotation, if the directory does not have the newest keys of the ledger. If it is interrupted, the keys in the directory
 * can still sign.
 */
export async function rotateSigningKeys(
  directory: string,
  now: () => Date,
  { origin, shared }: RotatedLedger,
): Promise<readonly string[]> {
  const ledger = shared && { origin, shared };
  const { receipts, checkpoints } = await openKeyrings(directory, now, () =>
    ledger ? refuseWithoutKeys({ directory, origin }, ledger.shared.log) : refuseNewKey(ledgerIn(directory)),
  );
  const ledgerKeys = ledger && (await keysOfNewest(ledger, { keyring: checkpoints, now }));
  await checkpoints.rotate({ origin, announce: (keys) => ledgerKeys?.announce(keys) ?? Promise.resolve() });
  await ledgerKeys?.publish();
  await receipts.rotate();
  return [receipts.signer.keyId, checkpoints.signer.keyId];
}

/** Undefined if the ledger has no head yet. */
async function keysOfNewest(
  { origin, shared }: { readonly origin: string; readonly shared: LedgerTables },
  { keyring, now }: { readonly keyring: Keyring; readonly now: () => Date },
): Promise<LedgerKeys | undefined> {
  const head = await shared.log.head();
  if (!head) return undefined;
  const keys = new LedgerKeys({ origin, keyring, storage: shared.keys, now });
  await keys.refresh();
  await openCheckpoint(head.note, origin, keys);
  keys.refuseRetired({ overlapMs: 0 });
  return keys;
}
