// Whether a worker has the model file: it must return chunks at random positions, with their paths in the file's tree.
import { CHUNK_BYTES, fileTreeDigest } from '@strata/engine';
import type { FrameOf } from '@strata/inference';
import { leafHash, verifyInclusion } from '@strata/receipts';
import type { WorkerSession } from '../session/worker-session.ts';

export interface FileProofOptions {
  readonly modelSha256: string;
  /** `fileTreeDigest` of the file. */
  readonly treeSha256: string;
  /** The worker's claim: the tree's digest covers the size, so a wrong one fails. */
  readonly sizeBytes: number;
  readonly chunks: number;
  /** Numbers from 0 to below 1 that a worker cannot predict. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** False: a chunk is not of the file. Rejects if the worker does not answer. */
export async function provesFile(
  session: Pick<WorkerSession, 'chunk'>,
  { modelSha256, treeSha256, sizeBytes, chunks, random, signal }: FileProofOptions,
): Promise<boolean> {
  const count = Math.max(1, Math.ceil(sizeBytes / CHUNK_BYTES));
  for (let i = 0; i < chunks; i += 1) {
    const index = Math.floor(random() * count);
    const chunk = await session.chunk(modelSha256, index, signal);
    if (!isChunkOf(chunk, { treeSha256, sizeBytes, index })) return false;
  }
  return true;
}

/** Whether the bytes are the chunk at this index of the file with this tree and size. */
export function isChunkOf(
  { sizeBytes: claimedBytes, rootSha256, part, path }: Omit<FrameOf<'chunk'>, 'kind' | 'id'>,
  { treeSha256, sizeBytes, index }: { readonly treeSha256: string; readonly sizeBytes: number; readonly index: number },
): boolean {
  const root = Buffer.from(rootSha256, 'hex');
  if (claimedBytes !== sizeBytes || fileTreeDigest(sizeBytes, root) !== treeSha256) return false;
  if (part.byteLength !== Math.min(CHUNK_BYTES, sizeBytes - index * CHUNK_BYTES)) return false;
  const proof = Array.from({ length: Math.ceil(path.byteLength / 32) }, (_, at) =>
    path.subarray(at * 32, at * 32 + 32),
  );
  const size = Math.ceil(sizeBytes / CHUNK_BYTES);
  return verifyInclusion({ leafHash: leafHash(part), index, size, proof, root });
}
