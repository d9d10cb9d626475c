// The hash tree over the chunks of a model file: it proves single chunks to another node, without the rest of the file.
// The tree is that of RFC 6962 over chunks of 64 KiB; its digest also covers the size, so that no part passes for all.
import { createHash, hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { readIfPresent, replaceFile } from '@strata/files';

export const CHUNK_BYTES = 64 * 1024;
const HASH_BYTES = 32;
/** Chunks that are read at once. */
const READ_CHUNKS = 16;

export interface ProvedChunk {
  readonly bytes: Uint8Array;
  /** The hashes from the leaf's sibling to the root's child, 32 bytes each. */
  readonly path: Uint8Array;
}

export interface FileTree {
  readonly sizeBytes: number;
  readonly root: Uint8Array;
  /** Hexadecimal; see `fileTreeDigest`. */
  readonly digest: string;
  /** Reads only this chunk. Rejects with RangeError outside the file. */
  chunk(index: number): Promise<ProvedChunk>;
}

/** The digest of a file's size and tree, hexadecimal. */
export function fileTreeDigest(sizeBytes: number, root: Uint8Array): string {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(sizeBytes));
  return createHash('sha256').update('strata-file-v1\0').update(size).update(root).digest('hex');
}

/**
 * The tree of a file. `cache` keeps the hashes of its chunks from one start to the next: its name must contain the
 * SHA-256 of the file, which this function does not compute. A damaged cache is computed again.
 */
export async function openFileTree(file: string, { cache }: { readonly cache?: string } = {}): Promise<FileTree> {
  const { size: sizeBytes } = await using(file, (handle) => handle.stat());
  const count = Math.ceil(sizeBytes / CHUNK_BYTES);
  const cached = cache === undefined ? undefined : checked(await readIfPresent(cache), count);
  const leaves = cached ?? (await leavesOf(file, count));
  // Without the cache, the next start computes the hashes again.
  if (cache !== undefined && !cached)
    await replaceFile(cache, Buffer.concat([leaves, digestOf(leaves)]), { mode: 0o600, sync: 'none' }).catch(() => {});
  const levels = levelsOf(leaves);
  const root = levels.at(-1) as Buffer;
  return {
    ...{ sizeBytes, root, digest: fileTreeDigest(sizeBytes, root) },
    async chunk(index) {
      if (!(index >= 0 && index < count)) throw new RangeError(`the file has no chunk ${index}`);
      const bytes = await using(file, (handle) => readAt(handle, index * CHUNK_BYTES, CHUNK_BYTES));
      return { bytes, path: pathOf(levels, index) };
    },
  };
}

async function using<Result>(file: string, read: (handle: FileHandle) => Promise<Result>): Promise<Result> {
  await using handle = await open(file, 'r');
  return await read(handle);
}

/** Shorter at the end of the file. */
export async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function leavesOf(file: string, count: number): Promise<Buffer> {
  return using(file, async (handle) => {
    const leaves = Buffer.alloc(count * HASH_BYTES);
    for (let first = 0; first < count; first += READ_CHUNKS) {
      const bytes = await readAt(handle, first * CHUNK_BYTES, READ_CHUNKS * CHUNK_BYTES);
      for (let at = 0; at * CHUNK_BYTES < bytes.length; at += 1) {
        const chunk = bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES);
        createHash('sha256')
          .update(LEAF)
          .update(chunk)
          .digest()
          .copy(leaves, (first + at) * HASH_BYTES);
      }
    }
    return leaves;
  });
}

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);
const digestOf = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');

function checked(bytes: Uint8Array | undefined, count: number): Buffer | undefined {
  if (bytes?.length !== (count + 1) * HASH_BYTES) return undefined;
  const leaves = Buffer.from(bytes.subarray(0, count * HASH_BYTES));
  return digestOf(leaves).equals(bytes.subarray(leaves.length)) ? leaves : undefined;
}

/** From the leaves to the root. The last node of an odd level is moved up unchanged, which gives the tree of RFC 6962. */
function levelsOf(leaves: Buffer): readonly Buffer[] {
  const levels = [leaves];
  for (let level = leaves; level.length > HASH_BYTES; levels.push(level)) {
    const below = level;
    level = Buffer.alloc(Math.ceil(below.length / HASH_BYTES / 2) * HASH_BYTES);
    for (let at = 0; at < level.length; at += HASH_BYTES) {
      const pair = below.subarray(at * 2, at * 2 + 2 * HASH_BYTES);
      const node = pair.length === HASH_BYTES ? pair : createHash('sha256').update(NODE).update(pair).digest();
      node.copy(level, at);
    }
  }
  return levels;
}

function pathOf(levels: readonly Buffer[], index: number): Buffer {
  let at = index;
  const siblings = levels.slice(0, -1).map((level) => {
    const sibling = (at ^ 1) * HASH_BYTES;
    at >>>= 1;
    return level.subarray(sibling, sibling + HASH_BYTES);
  });
  return Buffer.concat(siblings);
}
