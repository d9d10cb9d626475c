// Serves the published tree, for any storage: resources by path, and leaves with inclusion proofs.
import { hash } from 'node:crypto';
import {
  decodeBase32,
  decodeEntries,
  equalBytes,
  type HashReader,
  inclusionProof,
  LEDGER_ID_BYTES,
  type LedgerEvidence,
  leafHash,
  ledgerReceiptIdOf,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileNodes,
  tileHashReader,
  tilePath,
  tileWidth,
  treeRoot,
  verifyInclusion,
} from '@strata/receipts';
import type { PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';

/** Reads tiles and leaves of a tree; called only for what the tree contains. */
export interface TreeSource {
  /** A hash tile with at least the first `width` hashes. */
  nodes(level: number, index: number, width: number): TileNodes | Promise<TileNodes>;
  /** The first `width` leaves of an entry bundle, encoded. */
  bundle(index: number, width: number): Uint8Array | Promise<Uint8Array>;
  leaf(index: number): Uint8Array | Promise<Uint8Array>;
  /** Clears caches. */
  forget(): void;
}

/** Subtree hashes of the tree of the first `size` leaves. */
export function hashesOf(source: TreeSource, size: number): HashReader {
  return tileHashReader((level, index) => source.nodes(level, index, tileWidth(size, level, index)));
}

/**
 * A full or partial tile or bundle of the tree, or undefined. Throws LogError `corrupt-tile` if leaves do not match their hash tile,
 * a full tile does not match the hash above it, or a partial one does not match the root.
 */
export async function readTile(
  source: TreeSource,
  { size, root }: Pick<PublishedCheckpoint, 'size' | 'root'>,
  path: string,
): Promise<Uint8Array | undefined> {
  const address = parseTilePath(path);
  if (!address) return undefined;
  const { level, index, width } = address;
  if (width > tileWidth(size, level, index)) return undefined;
  const hashLevel = level === 'entries' ? 0 : level;
  const tile = await source.nodes(hashLevel, index, width);
  if (tile.isFull) await checkRoot(source, tile, { level: hashLevel, index });
  else if (!equalBytes(await treeRoot(hashesOf(source, size), size), root)) {
    source.forget();
    throw new LogError('corrupt-tile', `${path}, or another partial tile, does not match the root of the log`);
  }
  if (level !== 'entries') return tile.hashes(width);
  const bundle = await source.bundle(index, width);
  const entries = decodeEntries(bundle) ?? [];
  if (entries.length === width && areLeavesOf(tile, entries)) return bundle;
  throw new LogError('corrupt-tile', `${path} does not match the leaf hashes of the tree`);
}

async function checkRoot(
  source: TreeSource,
  tile: TileNodes,
  { level, index }: { readonly level: number; readonly index: number },
): Promise<void> {
  const at = index % TILE_WIDTH;
  const above = await source.nodes(level + 1, Math.floor(index / TILE_WIDTH), at + 1);
  if (equalBytes(tile.node(TILE_HEIGHT, 0), above.node(0, at))) return;
  // Clears the cache, so that a repaired tile is read again.
  source.forget();
  const name = tilePath({ level, index, width: TILE_WIDTH });
  throw new LogError('corrupt-tile', `${name} does not match the hash above it`);
}

/** Whether the entries match the first hashes of a tile. */
export const areLeavesOf = (tile: TileNodes, entries: readonly Uint8Array[]): boolean =>
  entries.every((entry, at) => equalBytes(leafHash(entry, sha256), tile.node(0, at)));

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** A leaf with a proof against a checkpoint of its tree. Throws LogError `corrupt-tile` rather than return an invalid proof. */
export async function proveLeaf(
  source: TreeSource,
  index: number,
  { size, root, note }: PublishedCheckpoint,
): Promise<LedgerEvidence> {
  const read = hashesOf(source, size);
  const hash = await read(0, index);
  const leaf = await source.leaf(index);
  const proof = await inclusionProof(read, index, size);
  if (!equalBytes(leafHash(leaf), hash) || !verifyInclusion({ leafHash: hash, index, size, proof, root })) {
    throw new LogError('corrupt-tile', `the tiles around leaf ${index} do not match the root of the log`);
  }
  const ledgerReceiptId = ledgerReceiptIdOf(hash);
  return { ledgerReceiptId, receiptId: receiptIdIn(leaf), leaf, index, treeSize: size, proof, checkpoint: note };
}

/** The 20-byte prefix of the leaf hash in a `cr_` id; undefined if it is not one. */
export function hashPrefixOf(ledgerReceiptId: string): Uint8Array | undefined {
  const prefix = ledgerReceiptId.startsWith('cr_') ? decodeBase32(ledgerReceiptId.slice(3)) : undefined;
  return prefix?.length === LEDGER_ID_BYTES ? prefix : undefined;
}

/** `receipt_id` of a leaf; empty for leaves of other formats. */
function receiptIdIn(leaf: Uint8Array): string {
  try {
    const { receipt_id } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(leaf)) as {
      receipt_id?: unknown;
    };
    return typeof receipt_id === 'string' ? receipt_id : '';
  } catch {
    return '';
  }
}
