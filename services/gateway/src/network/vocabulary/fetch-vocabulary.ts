// Fetches a vocabulary file from the workers: the most trusted first, and concurrently from further ones if that takes
// long.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerSession } from '../session/worker-session.ts';
import { VocabularyError } from './vocabulary-cache.ts';

export interface FetchVocabularyOptions {
  readonly sha256: string;
  /** In the order in which they are asked. */
  readonly sessions: readonly WorkerSession[];
  readonly signal: AbortSignal;
  /** Another worker is asked in addition after this time. 1,000 by default. */
  readonly hedgeMs?: number;
  /** Total time limit. 60,000 by default: the largest file over a slow connection. */
  readonly limitMs?: number;
}

/** Time limit per worker: 15 MB at 6 Mbit/s. Then the next worker is asked instead. */
const EACH_MS = 20_000;
/** Maximum number of concurrent downloads, which may share one connection. */
const MAX_AT_ONCE = 4;

/** Rejects with VocabularyError if no worker delivers it, or with the signal's reason. */
export async function fetchVocabulary(options: FetchVocabularyOptions): Promise<Uint8Array> {
  const { sha256, sessions, hedgeMs = 1_000, limitMs = 60_000 } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal, AbortSignal.timeout(limitMs)]);
  const left = sessions.values();
  const download = async (afterMs: number): Promise<Uint8Array> => {
    await sleep(afterMs, undefined, { signal });
    let cause: unknown;
    for (const session of left) {
      try {
        return await session.vocabulary(sha256, AbortSignal.any([signal, AbortSignal.timeout(EACH_MS)]));
      } catch (error) {
        signal.throwIfAborted();
        cause = error;
      }
    }
    throw cause;
  };
  try {
    const lanes = Array.from({ length: Math.min(MAX_AT_ONCE, sessions.length) }, (_, lane) => download(lane * hedgeMs));
    return await Promise.any(lanes);
  } catch (cause) {
    options.signal.throwIfAborted();
    throw new VocabularyError(`no worker delivered the vocabulary ${sha256.slice(0, 12)}`, { cause });
  } finally {
    over.abort();
  }
}

/** Workers with equal trust are in random order, so that no worker can influence its position. */
export function byTrust(
  sessions: readonly WorkerSession[],
  { of, random }: { readonly of: (peer: string) => number; readonly random: () => number },
): readonly WorkerSession[] {
  const drawn = sessions.map((session) => ({ session, trust: of(session.peer), draw: random() }));
  return drawn.sort((a, b) => b.trust - a.trust || a.draw - b.draw).map(({ session }) => session);
}
