// The stored form of a posture: default values are left out, which are most values for most domains. Standards that an
// earlier version did not measure are unmeasured.
import type { Posture, PostureFactor } from './posture-type.ts';
import { UNMEASURED } from './unmeasured.ts';

type Part = Exclude<keyof Posture, 'factors' | 'score' | 'grade' | 'coverage' | 'scoreVersion'>;
const PARTS = Object.keys(UNMEASURED).filter((key) => isRecord(UNMEASURED[key as keyof Posture])) as readonly Part[];

/** A posture without default values; earlier versions stored complete postures, which are valid too. */
export type StoredPosture = Pick<Posture, 'score' | 'grade' | 'coverage' | 'scoreVersion'> & {
  readonly [Each in Part]?: Partial<Posture[Each]>;
} & { readonly factors: readonly (Omit<PostureFactor, 'weight' | 'issues'> & Partial<PostureFactor>)[] };

/** The shortest form that can be restored. */
export function shortenPosture(posture: Posture): StoredPosture {
  const parts = PARTS.map((part) => {
    const blank = new Map<string, unknown>(Object.entries(UNMEASURED[part]));
    const stored = Object.entries(posture[part]).filter(([key, value]) => !isSame(value, blank.get(key)));
    return [part, Object.fromEntries(stored)];
  });
  const { factors, score, grade, coverage, scoreVersion } = posture;
  return {
    ...Object.fromEntries(parts),
    factors: factors.map(({ weight, issues, ...factor }) => ({
      ...factor,
      ...(weight === factor.possible ? {} : { weight }),
      ...(issues.length === 0 ? {} : { issues }),
    })),
    score,
    grade,
    coverage,
    scoreVersion,
  };
}

/** The complete posture. One of an earlier version keeps its score and that version. */
export function restorePosture(stored: StoredPosture): Posture {
  const parts = PARTS.map((part) => [part, { ...UNMEASURED[part], ...stored[part] }]);
  const { factors, score, grade, coverage, scoreVersion } = stored;
  return {
    ...UNMEASURED,
    ...Object.fromEntries(parts),
    factors: factors.map((factor) => ({
      ...factor,
      weight: factor.weight ?? factor.possible,
      issues: factor.issues ?? [],
    })),
    score,
    grade,
    coverage,
    scoreVersion,
  };
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For values that mean nothing: null, false, a string, and an empty list. */
function isSame(value: unknown, blank: unknown): boolean {
  return value === blank || (Array.isArray(value) && Array.isArray(blank) && value.length === 0);
}
