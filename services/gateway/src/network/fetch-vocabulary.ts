// A vocabulary file from whichever worker gives it: what one does not have, or gives wrong, the next one is asked for.
import { VocabularyError } from './vocabulary-cache.ts';
import { WorkerLostError, type WorkerSession } from './worker-session.ts';

export interface FetchVocabularyOptions {
  readonly sha256: string;
  readonly peers: readonly string[];
  readonly signal: AbortSignal;
}

/** Of each worker. */
const LIMIT_MS = 30_000;
/** Workers that are asked; were they all unable to, more of them would be too. */
const MOST_ASKED = 5;

/** Rejects with VocabularyError when no worker gives it. */
export async function fetchVocabulary(
  { sha256, peers, signal }: FetchVocabularyOptions,
  sessionOf: (peer: string) => WorkerSession | undefined,
): Promise<Uint8Array> {
  const sessions = peers.flatMap((peer) => sessionOf(peer) ?? []).slice(0, MOST_ASKED);
  let cause: unknown;
  for (const session of sessions) {
    signal.throwIfAborted();
    const limit = AbortSignal.timeout(LIMIT_MS);
    try {
      return await session.vocabulary(sha256, AbortSignal.any([signal, limit]));
    } catch (error) {
      if (!(error instanceof WorkerLostError) && !limit.aborted) throw error;
      cause = error;
    }
  }
  throw new VocabularyError(`no worker gives the vocabulary ${sha256.slice(0, 12)}`, { cause });
}
