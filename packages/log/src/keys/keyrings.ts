// The signing keys of a service: for receipts, and for its ledger.
import path from 'node:path';
import { LogError } from '../log-error.ts';
import type { CheckpointKeys } from '../rows/head.ts';
import type { LedgerTable } from '../rows/ledger-tables.ts';
import { publicKeyBytes } from './ledger-keys.ts';
import { type Keyring, openKeyring } from './signing-keys.ts';

/** The keyrings of a service, named as their directories below `keys`. */
export const KEYRINGS = ['receipts', 'ledger'] as const;
export type KeyringName = (typeof KEYRINGS)[number];

export const keysIn = (directory: string, name: KeyringName): string => path.join(directory, 'keys', name);

export interface Keyrings {
  readonly receipts: Keyring;
  readonly checkpoints: Keyring;
}

/** Creates missing keys, a ledger key after `beforeCreating` resolves. Rejects with KeyringError. */
export async function openKeyrings(
  directory: string,
  now: () => Date,
  beforeCreating?: () => Promise<void>,
): Promise<Keyrings> {
  const open = (name: KeyringName) => ({ directory: keysIn(directory, name), now });
  const checkpoints = await openKeyring({ ...open('ledger'), beforeCreating });
  return { receipts: await openKeyring(open('receipts')), checkpoints };
}

export function checkpointKeysOf(keyring: Keyring): CheckpointKeys {
  return {
    signer: keyring.signer,
    advice: 'restore the keys folder that belongs to this log',
    publicKeys: () => publicKeyBytes(keyring.keys),
    reload: () => keyring.reload(),
  };
}

/** Rejects if the database holds a log, of which this directory has no key: a new key would not be one of that log. */
export async function refuseWithoutKeys(
  { directory, origin }: { readonly directory: string; readonly origin: string },
  table: Pick<LedgerTable, 'head'>,
): Promise<void> {
  if (await table.head())
    throw new LogError(
      'wrong-key',
      `the database holds a log, but ${path.join(directory, 'keys')} has no key of it (${origin}): give every node the same keys folder`,
    );
}
