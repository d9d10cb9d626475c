// What verifiers make of one answer. None of them is trusted alone against another worker: what speaks against one is confirmed
// by a second, a third decides between two, and who was clearly wrong is named.
import type { ScoreJob } from '@strata/engine';
import { deviation, type Margins, TOLERATED_DEVIATION } from '@strata/inference';
import type { Verifier } from './audit-verifier.ts';

export type Verdict =
  | {
      readonly kind: 'judged';
      /** Of the worker's own part. Where two found them, the smaller of each pair: both say at least so much. */
      readonly found: Margins;
      /** How many verifiers stand behind it; our own engine counts as two. */
      readonly voices: number;
    }
  /** One verifier speaks against the worker, and there is nobody to confirm it. */
  | { readonly kind: 'unconfirmed' }
  /** Verifiers contradict each other, and no third one settles it. */
  | { readonly kind: 'disputed' }
  /** Nobody could be asked. */
  | { readonly kind: 'unverified' };

export interface Panel {
  readonly verdict: Verdict;
  /** Who scored it. */
  readonly asked: readonly string[];
  /** Who was clearly wrong. */
  readonly misjudged: readonly string[];
  /** Who gave what cannot be the margins of this answer. */
  readonly malformed: readonly string[];
}

export interface PanelOptions {
  /** Where the checked worker's part begins. */
  readonly from: number;
  /** A clean score is held against a second one, too: a verifier that always says `clean` is found out so. */
  readonly isDoubleChecked: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Opinion {
  readonly verifier: Verifier;
  readonly found: Margins;
  readonly deviation: number;
}

/** Deviations further apart than this, and than a fifth of the larger, are not two honest views of one answer. */
const MIN_DISPUTE = 0.005;
const DISPUTED_SHARE = 0.2;

/** Asks verifiers in their order. Never rejects for what a verifier does. */
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
  const tell = (verdict: Verdict): Panel => ({ verdict, asked, misjudged, malformed });

  const first = await next();
  if (!first) return tell({ kind: 'unverified' });
  if (first.verifier.peer === undefined) return tell({ kind: 'judged', found: first.found, voices: 2 });
  const speaksAgainst = first.deviation > TOLERATED_DEVIATION;
  if (!speaksAgainst && !options.isDoubleChecked) return tell({ kind: 'judged', found: first.found, voices: 1 });
  const second = await next();
  if (!second) {
    return tell(speaksAgainst ? { kind: 'unconfirmed' } : { kind: 'judged', found: first.found, voices: 1 });
  }
  if (areOfOneMind(first, second)) return tell(agreed(first, second));
  const third = await next();
  if (!third) return tell({ kind: 'disputed' });
  const [isWithFirst, isWithSecond] = [areOfOneMind(third, first), areOfOneMind(third, second)];
  if (isWithFirst === isWithSecond) return tell({ kind: 'disputed' });
  const [right, wrong] = isWithFirst ? [first, second] : [second, first];
  if (wrong.verifier.peer !== undefined) misjudged.push(wrong.verifier.peer);
  return tell(agreed(right, third));
}

/** Undefined: it failed, or took too long. */
export function scoreOf(
  verifier: Verifier,
  job: ScoreJob,
  { timeoutMs, signal }: Pick<PanelOptions, 'timeoutMs' | 'signal'>,
): Promise<readonly number[] | undefined> {
  return verifier.score(job, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).catch(() => undefined);
}

/** Whether two deviations can be those of the same answer, as two honest verifiers see it. */
function areOfOneMind(a: { readonly deviation: number }, b: { readonly deviation: number }): boolean {
  const larger = Math.max(a.deviation, b.deviation);
  return Math.abs(a.deviation - b.deviation) <= Math.max(MIN_DISPUTE, DISPUTED_SHARE * larger);
}

/** Of the margins of a whole answer, those of the part from there on. */
export function ownPart({ answer, hasEnd }: ScoreJob, margins: readonly number[], from: number): Margins {
  const end = hasEnd ? margins.at(-1) : undefined;
  return { margins: margins.slice(from, answer.length), ...(end === undefined ? {} : { end }) };
}

function agreed({ found: a }: Opinion, { found: b }: Opinion): Verdict {
  const margins = a.margins.map((margin, i) => Math.min(margin, b.margins[i] as number));
  const end = a.end === undefined || b.end === undefined ? {} : { end: Math.min(a.end, b.end) };
  return { kind: 'judged', found: { margins, ...end }, voices: 2 };
}
