// Publishes a copy of a log for a static file server: all tiles and bundles of one signed checkpoint, including partial ones, in the
// layout of c2sp.org/tlog-tiles. It reads the log as any client does, and verifies tiles before it writes them.
import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, replaceFile, syncDirectory } from '@strata/files';
import {
  type Checkpoint,
  consistencyProof,
  EMPTY_ROOT,
  hashesAtLevel,
  type NoteVerifier,
  openNote,
  parseCheckpoint,
  TILE_WIDTH,
  type TileAddress,
  tilePath,
  tilesOfTree,
  tileWidth,
  verifyConsistency,
} from '@strata/receipts';
import { readCheckpointFile } from '../files/checkpoint-file.ts';
import { acquireLock } from '../files/log-lock.ts';
import { LogError, otherOriginText } from '../log-error.ts';
import { areLeavesOf } from './published-tree.ts';
import { type ReadPath, ServedTiles, servedEntries } from './served-tiles.ts';

/** Concurrent requests. */
const PARALLEL_READS = 8;

export interface PublishOptions {
  readonly read: ReadPath;
  /** The copy: an empty directory, or a copy of an earlier checkpoint. */
  readonly directory: string;
  /** The log's origin and keys, one of which must have signed the checkpoint. */
  readonly origin: string;
  readonly verifiers: readonly NoteVerifier[];
  /** Reports the tiles and bundles written, and their total. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

export interface PublishedLog {
  readonly size: number;
  readonly root: Uint8Array;
  /** Leaves added to the copy. */
  readonly added: number;
}

/**
 * Updates a copy to the current checkpoint of the log. Rejects with LogError, and keeps the copy's checkpoint, if the log is not
 * consistent with it (`forked`, `lost-leaves`), no given key signed the checkpoint (`wrong-key`), or a tile does not match the root
 * (`corrupt-tile`). A resource that is not served is an `io` error, which may be temporary.
 *
 * Crash safety: tiles are durable before the checkpoint that needs them, and the checkpoint is replaced atomically, so the copy is
 * complete at any time. After an interruption the next run rewrites what the copy's checkpoint does not cover.
 */
export async function publishLog(options: PublishOptions): Promise<PublishedLog> {
  const { read, directory, origin } = options;
  if (['ledger.db', 'journal'].some((name) => existsSync(path.join(directory, name))))
    throw new LogError('locked', `${directory} is the folder of a log: name another folder for its copy`);
  await makeDirectory(directory);
  // Beside the directory, whose content is served; the lock names a host and process.
  using _lock = acquireLock(`${realpathSync(directory)}.lock`);
  const file = path.join(directory, 'checkpoint');
  const before = (await readCheckpointFile(file))?.checkpoint ?? { origin, size: 0, root: EMPTY_ROOT };
  if (before.origin !== origin) throw new LogError('wrong-origin', otherOriginText(file, before.origin, origin));
  const note = await read('checkpoint');
  if (!note) throw new LogError('io', 'the log serves no checkpoint');
  const head = await openHead(note, options);
  const tiles = new ServedTiles(read, head.size);
  await checkGrowth(tiles, before, head);
  await copyTiles(tiles, before.size, head.size, options);
  await replaceFile(file, note, { sync: 'all' });
  await removePartial(directory, before.size, head.size);
  return { size: head.size, root: head.root, added: head.size - before.size };
}

async function openHead(
  note: Uint8Array,
  { origin, verifiers }: Pick<PublishOptions, 'origin' | 'verifiers'>,
): Promise<Checkpoint> {
  const opened = await openNote(new TextDecoder().decode(note), verifiers);
  if (!opened.ok) throw new LogError('wrong-key', `the checkpoint of the log is not trusted: ${opened.problem}`);
  const head = parseCheckpoint(opened.text);
  if (head?.origin === origin) return head;
  throw new LogError('corrupt-checkpoint', `the log does not serve a checkpoint of ${origin}`);
}

async function checkGrowth(tiles: ServedTiles, before: Checkpoint, head: Checkpoint): Promise<void> {
  if (head.size < before.size)
    throw new LogError('lost-leaves', `the log serves ${head.size} leaves, and served ${before.size} before`);
  await tiles.checkRoot(head.root);
  const proof = await consistencyProof(tiles.hashes, before.size, head.size);
  const claim = { oldSize: before.size, oldRoot: before.root, newSize: head.size, newRoot: head.root, proof };
  if (!verifyConsistency(claim))
    throw new LogError(
      'forked',
      `the log of ${head.size} leaves is not consistent with the ${before.size} leaves copied`,
    );
}

async function copyTiles(
  tiles: ServedTiles,
  oldSize: number,
  size: number,
  { read, directory, onProgress, signal }: PublishOptions,
): Promise<void> {
  const folders = new Set<string>();
  const write = async (address: TileAddress, bytes: Uint8Array): Promise<void> => {
    const file = path.join(directory, tilePath(address));
    const folder = path.dirname(file);
    if (!folders.has(folder)) await makeDirectory(folder);
    folders.add(folder);
    await replaceFile(file, bytes, { sync: 'content' });
  };
  const copy = async (level: number, index: number, width: number): Promise<void> => {
    const tile = await tiles.tile(level, index);
    await write({ level, index, width }, tile.hashes(width));
    if (level > 0) return;
    const bundle: TileAddress = { level: 'entries', index, width };
    const [bytes, entries] = await servedEntries(read, bundle);
    if (!areLeavesOf(tile, entries))
      throw new LogError('corrupt-tile', `${tilePath(bundle)} does not match the leaf hashes of the tree`);
    await write(bundle, bytes);
  };
  const wanted = [...tilesOfTree(size)].flatMap(({ level, index, width }) =>
    level === 'entries' || isCovered(oldSize, level, index) ? [] : [{ level, index, width }],
  );
  let done = 0;
  const failed = new AbortController();
  const stopped = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const queue = wanted.values();
  const work = async (): Promise<void> => {
    for (const { level, index, width } of queue) {
      stopped.throwIfAborted();
      await copy(level, index, width).catch((error: unknown) => failed.abort(error));
      onProgress?.(++done, wanted.length);
    }
  };
  // All workers end before the lock is released.
  await Promise.allSettled(Array.from({ length: PARALLEL_READS }, work));
  stopped.throwIfAborted();
  for (const folder of folders) await syncDirectory(folder);
}

/** Whether a tile is full in a tree of this size, and therefore final. */
const isCovered = (size: number, level: TileAddress['level'], index: number): boolean =>
  tileWidth(size, level, index) === TILE_WIDTH;

/** c2sp.org/tlog-tiles allows deleting partial tiles once the full tile exists, since clients with an earlier checkpoint can use it. */
async function removePartial(directory: string, oldSize: number, size: number): Promise<void> {
  for (const level of ['entries', 0, 1, 2, 3, 4, 5, 6] as const) {
    const index = Math.floor(hashesAtLevel(oldSize, level) / TILE_WIDTH);
    if (!isCovered(size, level, index)) continue;
    const full = path.join(directory, tilePath({ level, index, width: TILE_WIDTH }));
    await rm(`${full}.p`, { recursive: true, force: true });
  }
}
