// Verifiers of answers (our own engine, or connected workers), and their combined scores for one answer. No single
// verifier is trusted against another worker: a second one must confirm evidence against a worker, a third one decides
// between two, and verifiers that were clearly wrong are reported.
import type { Engine, ScoreJob } from '@strata/engine';
import { deviation, type Margins, TOLERATED_DEVIATION } from '@strata/inference';
import { samplingFrame } from '../session/session-events.ts';
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

/**
 * The workers that need not load the model for an audit, if they are a majority and enough: the audited one, and two that
 * agree; otherwise all. That a model is loaded is a claim: in a majority the share of colluding workers at most doubles.
 */
export function loadedMajority<T>(workers: readonly T[], isLoaded: (worker: T) => boolean): readonly T[] {
  const loaded = workers.filter(isLoaded);
  return loaded.length >= 3 && loaded.length * 2 > workers.length ? loaded : workers;
}

export type Verdict =
  | {
      readonly kind: 'judged';
      /** The margins of the worker's own part; with two verifiers, the smaller of each pair, which both confirm. */
      readonly found: Margins;
      /** The number of verifiers that agree; our own engine counts as two. */
      readonly voices: number;
    }
  /** One verifier found evidence against the worker, and no other can confirm it. */
  | { readonly kind: 'unconfirmed' }
  /** Verifiers contradict each other, and no third one decides. */
  | { readonly kind: 'disputed' }
  /** No verifier was available. */
  | { readonly kind: 'unverified' };

export interface Panel {
  readonly verdict: Verdict;
  /** Verifiers that scored it. */
  readonly asked: readonly string[];
  /** Verifiers that were clearly wrong. */
  readonly misjudged: readonly string[];
  /** Verifiers whose result cannot be the margins of this answer. */
  readonly malformed: readonly string[];
}

export interface PanelOptions {
  /** Where the audited worker's part begins. */
  readonly from: number;
  /** Whether a clean score is confirmed by a second verifier, which detects verifiers that always report `clean`. */
  readonly isDoubleChecked: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Opinion {
  readonly verifier: Verifier;
  readonly found: Margins;
  readonly deviation: number;
}

/** Two honest deviations of the same answer differ by at most this, or by a fifth of the larger one. */
const MIN_DISPUTE = 0.005;
const DISPUTED_SHARE = 0.2;

/** Asks the verifiers in order. Never rejects because of a verifier. */
export async function judge(job: ScoreJob, verifiers: readonly Verifier[], options: PanelOptions): Promise<Panel> {
  const left = [...verifiers];
  const asked: string[] = [];
  const misjudged: string[] = [];
  const malformed: string[] = [];
  const next = async (): Promise<Opinion | undefined> => {
    for (let verifier = left.shift(); verifier && !options.signal.aborted; verifier = left.shift()) {
      const margins = await scoreOf(verifier, job, options);
      if (margins === undefined) continue;
      const name = verifier.peer;
      if (name !== undefined) asked.push(name);
      if (margins.length === job.answer.length + (job.hasEnd ? 1 : 0)) {
        const found = ownPart(job, margins, options.from);
        return { verifier, found, deviation: deviation(found) };
      }
      if (name !== undefined) malformed.push(name);
    }
    return undefined;
  };
  const panelOf = (verdict: Verdict): Panel => ({ verdict, asked, misjudged, malformed });

  const first = await next();
  if (!first) return panelOf({ kind: 'unverified' });
  if (first.verifier.peer === undefined) return panelOf({ kind: 'judged', found: first.found, voices: 2 });
  const isDeviating = first.deviation > TOLERATED_DEVIATION;
  if (!isDeviating && !options.isDoubleChecked) return panelOf({ kind: 'judged', found: first.found, voices: 1 });
  const second = await next();
  if (!second) {
    return panelOf(isDeviating ? { kind: 'unconfirmed' } : { kind: 'judged', found: first.found, voices: 1 });
  }
  if (agree(first, second)) return panelOf(agreed(first, second));
  const third = await next();
  if (!third) return panelOf({ kind: 'disputed' });
  const [isWithFirst, isWithSecond] = [agree(third, first), agree(third, second)];
  if (isWithFirst === isWithSecond) return panelOf({ kind: 'disputed' });
  const [right, wrong] = isWithFirst ? [first, second] : [second, first];
  if (wrong.verifier.peer !== undefined) misjudged.push(wrong.verifier.peer);
  return panelOf(agreed(right, third));
}

/** Undefined if the verifier failed or timed out. */
export function scoreOf(
  verifier: Verifier,
  job: ScoreJob,
  { timeoutMs, signal }: Pick<PanelOptions, 'timeoutMs' | 'signal'>,
): Promise<readonly number[] | undefined> {
  return verifier.score(job, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).catch(() => undefined);
}

/** Whether two deviations are consistent with two honest verifiers of the same answer. */
function agree(a: { readonly deviation: number }, b: { readonly deviation: number }): boolean {
  const larger = Math.max(a.deviation, b.deviation);
  return Math.abs(a.deviation - b.deviation) <= Math.max(MIN_DISPUTE, DISPUTED_SHARE * larger);
}

/** The margins of the part that begins at `from`, from the margins of the complete answer. */
export function ownPart({ answer, hasEnd }: ScoreJob, margins: readonly number[], from: number): Margins {
  const end = hasEnd ? margins.at(-1) : undefined;
  return { margins: margins.slice(from, answer.length), ...(end === undefined ? {} : { end }) };
}

function agreed({ found: a }: Opinion, { found: b }: Opinion): Verdict {
  const margins = a.margins.map((margin, i) => Math.min(margin, b.margins[i] as number));
  const end = a.end === undefined || b.end === undefined ? {} : { end: Math.min(a.end, b.end) };
  return { kind: 'judged', found: { margins, ...end }, voices: 2 };
}
