// A vocabulary file from whichever worker gives it: the most trusted first, and another one beside whoever takes its time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerSession } from '../session/worker-session.ts';
import { VocabularyError } from './vocabulary-cache.ts';

export interface FetchVocabularyOptions {
  readonly sha256: string;
  /** In the order in which they are asked. */
  readonly sessions: readonly WorkerSession[];
  readonly signal: AbortSignal;
  /** Another one is asked beside those who have not given it after so long. 1,000 by default: silence costs no more. */
  readonly besideMs?: number;
  /** For all of it. 60,000 by default: the largest, over a slow line. */
  readonly limitMs?: number;
}

/** Of each worker: 15 MB over a line of 6 Mbit/s. Then the next one is asked in its place. */
const EACH_MS = 20_000;
/** Asked at the same time: a large file would fill a line that is shared by more. */
const MAX_AT_ONCE = 4;

/** Rejects with VocabularyError when no worker gives it, or with the signal's reason. */
export async function fetchVocabulary(options: FetchVocabularyOptions): Promise<Uint8Array> {
  const { sha256, sessions, besideMs = 1_000, limitMs = 60_000 } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal, AbortSignal.timeout(limitMs)]);
  const left = sessions.values();
  const asking = async (afterMs: number): Promise<Uint8Array> => {
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
    const lanes = Array.from({ length: Math.min(MAX_AT_ONCE, sessions.length) }, (_, lane) => asking(lane * besideMs));
    return await Promise.any(lanes);
  } catch (cause) {
    options.signal.throwIfAborted();
    throw new VocabularyError(`no worker gives the vocabulary ${sha256.slice(0, 12)}`, { cause });
  } finally {
    over.abort();
  }
}

/** In chance order among those who are trusted alike: nobody is asked first for what it does to be. */
export function mostTrustedFirst(
  sessions: readonly WorkerSession[],
  { of, random }: { readonly of: (peer: string) => number; readonly random: () => number },
): readonly WorkerSession[] {
  const drawn = sessions.map((session) => ({ session, trust: of(session.peer), draw: random() }));
  return drawn.sort((a, b) => b.trust - a.trust || a.draw - b.draw).map(({ session }) => session);
}
