// Who scores an answer again: our own engine, or a connected worker.
import type { Engine, ScoreJob } from '@strata/engine';
import type { WorkerSession } from '../session/worker-session.ts';

export interface Verifier {
  /** Peer id; undefined: our own engine, which is believed. */
  readonly peer: string | undefined;
  /** A margin for each token of the answer, and for its end where it has one. Rejects where there is none to be had. */
  score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]>;
}

export const ownVerifier = (engine: Pick<Engine, 'score'>): Verifier => ({
  peer: undefined,
  score: (job, signal) => engine.score(job, signal),
});

export const workerVerifier = (session: WorkerSession, modelSha256: string): Verifier => ({
  peer: session.peer,
  score({ sampling, ...job }, signal) {
    const logitBias = Array.from(sampling.logitBias, ([token, bias]) => ({ token, bias }));
    return session.score({ ...job, modelSha256, sampling: { ...sampling, logitBias } }, signal);
  },
});

/** Of those that may verify, in the order to be asked: known ones first, free ones first among them, else by chance. */
export function ranked<T extends { readonly isKnown: boolean; readonly isBusy: boolean }>(
  candidates: readonly T[],
  random: () => number,
): readonly T[] {
  const place = ({ isKnown, isBusy }: T) => (isKnown ? 0 : 2) + (isBusy ? 1 : 0);
  return candidates
    .map((candidate) => ({ candidate, place: place(candidate) + random() * 0.999 }))
    .sort((a, b) => a.place - b.place)
    .map(({ candidate }) => candidate);
}
