// A rotation of a service's signing keys, seen by the running processes of the service.

import { openCheckpoint } from '../shared/shared-head.ts';
import type { SharedLedger } from '../signed-ledger.ts';
import { openKeyrings, refuseWithoutKeys } from './keyrings.ts';
import { LedgerKeys } from './ledger-keys.ts';
import type { Keyring } from './signing-keys.ts';

/** The ledger of a service, as `rotateSigningKeys` needs to know it. */
export interface RotatedLedger {
  readonly origin: string;
  /** Where it is a log of several nodes. */
  readonly shared?: SharedLedger | undefined;
}

/**
 * Retires both signing keys and makes new ones, of which the old key of the ledger vouches for the new one; running services take them
 * up by `reload`. The nodes of a shared log are notified. Returns the ids of the new keys. Rejects with KeyringError or LogError, and
 * nothing is rotated, for a folder that is not the newest one of the ledger. Wherever it ends early, the keys that the folder holds
 * then can sign.
 */
export async function rotateSigningKeys(
  directory: string,
  now: () => Date,
  { origin, shared }: RotatedLedger,
): Promise<readonly string[]> {
  const ledger = shared && { origin, shared };
  if (ledger) await refuseWithoutKeys({ directory, origin }, ledger.shared);
  const { receipts, checkpoints } = await openKeyrings(directory, now);
  const ledgerKeys = ledger && (await keysOfNewest(ledger, { keyring: checkpoints, now }));
  await checkpoints.rotate({ origin, announce: (keys) => ledgerKeys?.announce(keys) ?? Promise.resolve() });
  await ledgerKeys?.publish();
  await receipts.rotate();
  return [receipts.signer.keyId, checkpoints.signer.keyId];
}

/** Undefined where the ledger was not begun yet. */
async function keysOfNewest(
  { origin, shared }: { readonly origin: string; readonly shared: SharedLedger },
  { keyring, now }: { readonly keyring: Keyring; readonly now: () => Date },
): Promise<LedgerKeys | undefined> {
  const head = await shared.place.turns.head();
  if (!head) return undefined;
  const keys = new LedgerKeys({ origin, keyring, place: shared.keys, now });
  await keys.look();
  await openCheckpoint(head.note, origin, keys);
  keys.refuseRetired({ overlapMs: 0 });
  return keys;
}
