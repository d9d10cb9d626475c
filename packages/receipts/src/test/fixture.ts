// A signer, a ledger in memory and an issued answer: what the tests of this package need around the pure code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { ed25519Key } from '../../../../tests/support/ed25519.ts';
import * as receipts from '../index.ts';
import { keyIdOf } from '../receipt/key-set.ts';
import type { FetchTile } from '../verify/consistency.ts';

export const ORIGIN = 'strata.example/ledger';
export const NOW = new Date('2026-01-02T03:04:05.678Z');
export const PUBLIC_KEY_URL = '/.well-known/stack-keys.json';

/** Vectors at the root of the repository, as other languages read them. */
export const readVector = (path: string): string =>
  readFileSync(new URL(`../../../../vectors/${path}`, import.meta.url), 'utf8');

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface TestKey extends receipts.Signer {
  readonly publicKey: Uint8Array;
}

export function testKey(seedByte: number): TestKey {
  const key = ed25519Key(seedByte);
  return { ...key, keyId: keyIdOf(key.publicKey) };
}

/** Hashes of perfect subtrees over leaves in memory, by the definition. */
export function readerOver(leaves: readonly Uint8Array[]): receipts.HashReader {
  const read = (level: number, index: number): Uint8Array => {
    if (level > 0) return receipts.nodeHash(read(level - 1, 2 * index), read(level - 1, 2 * index + 1));
    const leaf = leaves[index];
    if (!leaf) throw new RangeError(`no leaf ${index}`);
    return receipts.leafHash(leaf);
  };
  return read;
}

/** Leaves of a ledger, those from `forkedAt` on of another history. */
export const history = (size: number, forkedAt = size): Uint8Array[] =>
  Array.from({ length: size }, (_, at) => bytesOf(`${at >= forkedAt ? 'other ' : ''}leaf ${at}`));

/** What a ledger of these leaves serves below `tile/`, as long as its tree has it. */
export function tilesOver(leaves: readonly Uint8Array[]): FetchTile {
  const read = readerOver(leaves);
  return async (path) => {
    const { level, index, width } = receipts.parseTilePath(path) ?? assert.fail(path);
    if (level === 'entries' || width > receipts.tileWidth(leaves.length, level, index)) return undefined;
    const first = index * receipts.TILE_WIDTH;
    const hashes = Array.from({ length: width }, (_, at) => read(level * receipts.TILE_HEIGHT, first + at));
    return Buffer.concat(await Promise.all(hashes));
  };
}

export const RECEIPT_KEY = testKey(1);
export const LEDGER_KEY = testKey(2);

/** C2SP verifier key. */
export const keyTextOf = ({ publicKey }: TestKey, origin = ORIGIN) =>
  receipts.formatVerifierKey(receipts.noteVerifier(origin, publicKey));

/** The note by which a key vouches for another one; for one that it says is retired where a time is given. */
export function rotationNote(by: TestKey, to: TestKey, { origin = ORIGIN, notAfter = '' } = {}): string {
  const [x, not_before] = [receipts.encodeBase64Url(to.publicKey), '2026-02-01T00:00:00.000Z'];
  const key = { x, not_before, ...(notAfter !== '' && { not_after: notAfter }) };
  const text = receipts.keyNoteText(receipts.keyNoteHeader('ledger', origin), key);
  return receipts.signNote(text, [{ name: origin, ...by }]);
}

export const checkpointOver = (size: number, root: Uint8Array, { origin = ORIGIN, key = LEDGER_KEY } = {}): string =>
  receipts.signNote(receipts.formatCheckpoint({ origin, size, root }), [{ name: origin, ...key }]);

/** The ledger receipt of one leaf in a tree of given leaves. */
export async function ledgerReceiptOf(
  leaves: readonly Uint8Array[],
  index: number,
  key?: TestKey,
): Promise<receipts.LedgerReceipt> {
  const leaf = leaves[index] ?? new Uint8Array();
  const read = readerOver(leaves);
  const size = leaves.length;
  const { receipt_id } = JSON.parse(new TextDecoder().decode(leaf)) as { receipt_id: string };
  return receipts.ledgerReceiptDocument({
    ledgerReceiptId: receipts.ledgerReceiptIdOf(receipts.leafHash(leaf)),
    receiptId: receipt_id,
    leaf,
    index,
    treeSize: size,
    proof: await receipts.inclusionProof(read, index, size),
    checkpoint: checkpointOver(size, await receipts.treeRoot(read, size), { ...(key && { key }) }),
  });
}

const entryOf = ({ publicKey }: TestKey) =>
  receipts.publicKeyEntry(publicKey, { status: 'current', not_before: '2026-01-01T00:00:00.000Z' });

const LEDGER_ENTRY = receipts.ledgerEntry([entryOf(LEDGER_KEY)], { origin: ORIGIN, url: '/ledger/' });
export const KEY_SET: receipts.KeySet = receipts.keySetDocument([entryOf(RECEIPT_KEY)], LEDGER_ENTRY);

export const PROFILE = {
  _alpha: true,
  _notice: 'Alpha data: no guarantees.',
  domain: 'example.com',
  scanned_at: '2026-01-02T03:04:05.000Z',
  services: [{ category: 'dns', provider: 'Cloudflare', confidence: 'high' }],
  share: 0.30000000000000004,
};

/** A valid answer whose leaf is in a log with six more. */
export async function goodAnswer(signer: receipts.Signer = RECEIPT_KEY, now: Date = NOW) {
  const random = new Uint8Array(16).fill(7);
  const { body, leaf } = receipts.issueReceipt(PROFILE, { signer, now, random, publicKeyUrl: PUBLIC_KEY_URL });
  return { body, keySet: KEY_SET, ledgerReceipt: await ledgerReceiptOf(history(6).toSpliced(4, 0, leaf), 4) };
}

export const good = await goodAnswer();

type ChangedParts = Readonly<Partial<Record<'body' | 'keySet' | 'ledgerReceipt', unknown>>>;

/** Verifies the good answer with some of its parts replaced: the step at which that fails. */
export async function failureOf(changed: ChangedParts): Promise<receipts.VerifyStep | undefined> {
  const { body, keySet, ledgerReceipt } = { ...good, ...changed };
  const result = await receipts.verifyAnswer(body, { keySet, ledgerReceipt });
  assert.equal(result.ok, result.failedStep === undefined);
  assert.equal(result.steps.at(-1)?.ok, result.ok);
  return result.failedStep;
}

/** Each changed part fails at the step. */
export async function failAt(
  step: receipts.VerifyStep | undefined,
  ...changes: readonly ChangedParts[]
): Promise<void> {
  for (const changed of changes)
    assert.equal(await failureOf(changed), step, inspect(changed, { maxStringLength: 200 }));
}
