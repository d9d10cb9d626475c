// Verifiers of answers: our own engine, or a connected worker.
import type { Engine, ScoreJob } from '@strata/engine';
import { samplingFrame } from '../session/sampling-frame.ts';
import type { WorkerSession } from '../session/worker-session.ts';

export interface Verifier {
  /** Peer id; undefined for our own engine, which is trusted. */
  readonly peer: string | undefined;
  /** A margin for each token of the answer, and for its end if it has one. Rejects if it cannot be scored. */
  score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]>;
}

export const ownVerifier = (engine: Pick<Engine, 'score'>): Verifier => ({
  peer: undefined,
  score: (job, signal) => engine.score(job, signal),
});

export const workerVerifier = (session: WorkerSession, modelSha256: string): Verifier => ({
  peer: session.peer,
  score({ sampling, ...job }, signal) {
    return session.score({ ...job, modelSha256, sampling: samplingFrame(sampling) }, signal);
  },
});

/** Candidates in the order to ask: known ones first, among them idle ones first, otherwise random. */
export function ranked<T extends { readonly isKnown: boolean; readonly isBusy: boolean }>(
  candidates: readonly T[],
  random: () => number,
): readonly T[] {
  const rank = ({ isKnown, isBusy }: T) => (isKnown ? 0 : 2) + (isBusy ? 1 : 0);
  return candidates
    .map((candidate) => ({ candidate, rank: rank(candidate) + random() * 0.999 }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate);
}
