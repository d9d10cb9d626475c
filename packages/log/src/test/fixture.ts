// A signer with a fixed key, leaves of the usual form.
import assert from 'node:assert/strict';
import * as receipts from '@strata/receipts';
import { ed25519Key } from '../../../../tests/support/ed25519.ts';
import type { CheckpointSigner, Log } from '../log.ts';
import { ServedTiles } from '../publication/served-tiles.ts';
import type { CheckpointKeys } from '../rows/head.ts';

export const ORIGIN = 'strata.example/ledger';

export const testSigner = (seedByte = 2): CheckpointSigner => ed25519Key(seedByte);

/** A node's keys, from a seed byte each; the first is the current one. */
export function keysOf(...seeds: readonly number[]): CheckpointKeys {
  const [signer = testSigner(), ...older] = seeds.map(testSigner);
  return { signer, publicKeys: () => [signer, ...older].map(({ publicKey }) => publicKey), reload: async () => false };
}

export const VERIFIERS = [receipts.noteVerifier(ORIGIN, testSigner().publicKey)];

/** A leaf that says its number. */
export const leafOf = (number: number): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ content_sha256: '0'.repeat(64), receipt_id: `rwr_${number}` }));

export const idOf = (leaf: Uint8Array): string => receipts.ledgerReceiptIdOf(receipts.leafHash(leaf));

/** What a checkpoint says that the test's key signed. */
export async function headOf(checkpoint: string): Promise<receipts.Checkpoint> {
  const note = await receipts.openNote(checkpoint, VERIFIERS);
  assert.ok(note.ok);
  return receipts.parseCheckpoint(note.text) ?? assert.fail('no checkpoint');
}

/** As a monitor reads the log now: only through served tiles. */
export const tilesServedBy = (log: Pick<Log, 'read' | 'size'>): receipts.HashReader =>
  new ServedTiles((path) => log.read(path), log.size).hashes;
