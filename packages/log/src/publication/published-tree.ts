// What a log serves of its published tree, the same wherever tiles and leaves are kept: resources by path, leaves with their proof.
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

/** Where the tiles and leaves of a tree are; only what the tree has is asked for. */
export interface TreePlace {
  /** A tile of hashes with the first `width` at least. */
  nodes(level: number, index: number, width: number): TileNodes | Promise<TileNodes>;
  /** The first `width` leaves of an entry bundle, as they are served. */
  bundle(index: number, width: number): Uint8Array | Promise<Uint8Array>;
  leaf(index: number): Uint8Array | Promise<Uint8Array>;
  /** Reads everything anew that was read before. */
  forget(): void;
}

/** Subtree hashes of the tree of the first `size` leaves. */
export function hashesOf(place: TreePlace, size: number): HashReader {
  return tileHashReader((level, index) => place.nodes(level, index, tileWidth(size, level, index)));
}

/**
 * A full or partial tile or bundle of the tree, or undefined. Throws LogError `corrupt-tile` rather than serve leaves that are not
 * what the tile of their hashes says, a full tile whose root is not the hash above it, or a partial one that does not lead to the root.
 */
export async function readTile(
  place: TreePlace,
  { size, root }: Pick<PublishedCheckpoint, 'size' | 'root'>,
  path: string,
): Promise<Uint8Array | undefined> {
  const address = parseTilePath(path);
  if (!address) return undefined;
  const { level, index, width } = address;
  if (width > tileWidth(size, level, index)) return undefined;
  const hashLevel = level === 'entries' ? 0 : level;
  const tile = await place.nodes(hashLevel, index, width);
  if (tile.isFull) await checkRoot(place, tile, { level: hashLevel, index });
  else if (!equalBytes(await treeRoot(hashesOf(place, size), size), root)) {
    place.forget();
    throw new LogError('corrupt-tile', `${path}, or another partial tile, does not lead to the root of the log`);
  }
  if (level !== 'entries') return tile.hashes(width);
  const bundle = await place.bundle(index, width);
  const entries = decodeEntries(bundle) ?? [];
  if (entries.length === width && areLeavesOf(tile, entries)) return bundle;
  throw new LogError('corrupt-tile', `${path} does not hold the leaves that the tree has there`);
}

async function checkRoot(
  place: TreePlace,
  tile: TileNodes,
  { level, index }: { readonly level: number; readonly index: number },
): Promise<void> {
  const at = index % TILE_WIDTH;
  const above = await place.nodes(level + 1, Math.floor(index / TILE_WIDTH), at + 1);
  if (equalBytes(tile.node(TILE_HEIGHT, 0), above.node(0, at))) return;
  // What was read must not stay once the tile is repaired.
  place.forget();
  const name = tilePath({ level, index, width: TILE_WIDTH });
  throw new LogError('corrupt-tile', `${name} does not lead to the hash above it`);
}

/** Whether these are the first leaves of a tile of their hashes. */
export const areLeavesOf = (tile: TileNodes, entries: readonly Uint8Array[]): boolean =>
  entries.every((entry, at) => equalBytes(leafHash(entry, sha256), tile.node(0, at)));

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/**
 * A leaf proved against a checkpoint of its tree. Throws LogError `corrupt-tile` rather than hand out a proof that does not
 * verify.
 */
export async function proveLeaf(
  place: TreePlace,
  index: number,
  { size, root, note }: PublishedCheckpoint,
): Promise<LedgerEvidence> {
  const read = hashesOf(place, size);
  const hash = await read(0, index);
  const leaf = await place.leaf(index);
  const proof = await inclusionProof(read, index, size);
  if (!equalBytes(leafHash(leaf), hash) || !verifyInclusion({ leafHash: hash, index, size, proof, root })) {
    throw new LogError('corrupt-tile', `the tiles around leaf ${index} do not lead to the root of the log`);
  }
  const ledgerReceiptId = ledgerReceiptIdOf(hash);
  return { ledgerReceiptId, receiptId: receiptIdIn(leaf), leaf, index, treeSize: size, proof, checkpoint: note };
}

/** The 20 bytes that the hash of an id's leaf begins with; undefined where it is no `cr_` id. */
export function hashPrefixOf(ledgerReceiptId: string): Uint8Array | undefined {
  const prefix = ledgerReceiptId.startsWith('cr_') ? decodeBase32(ledgerReceiptId.slice(3)) : undefined;
  return prefix?.length === LEDGER_ID_BYTES ? prefix : undefined;
}

/** `receipt_id` of a leaf; a log may hold leaves of other forms, which have none. */
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
