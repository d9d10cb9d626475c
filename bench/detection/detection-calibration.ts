// Calibration on the second world: fitted on half of the companies, measured on the other; rows for the results, data for the page.
import { writeFile } from 'node:fs/promises';
import { randomFor } from '@strata/testnet';
import { type Figure, thousands } from '../measure.ts';
import { type Outcome, type Reliability, reliabilityOf } from './second-world/calibration.ts';
import type { Judged } from './second-world/score.ts';

/** The page of the explorer shows it. */
const DATA = new URL('../../web/src/explorer/calibration/calibration.json', import.meta.url);
const LEVELS = ['high', 'medium', 'low'] as const;

/** Whether a company is of the half on which strengths were fitted. */
const isFitted = (domain: string, seed: string): boolean => randomFor(seed, domain, 'half').chance(0.5);

/** That an account was verified at some time is all that such a claim says. A service that was left is wrong. */
const isRight = ({ claim, verdict }: Judged) =>
  verdict === 'right' || (verdict === 'stale' && claim.role === 'verified');

const outcomesOf = (judged: readonly Judged[]): Outcome[] =>
  judged.map((each) => ({ score: each.claim.score, isRight: isRight(each) }));

/** By the source of the strongest evidence, the one with most claims first. */
function bySource(judged: readonly Judged[]): readonly (readonly [source: string, claims: readonly Judged[]])[] {
  const groups = Map.groupBy(judged, ({ claim }) => claim.evidence[0]?.source ?? 'none');
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}

function levelsOf(judged: readonly Judged[]) {
  return LEVELS.map((level) => {
    const claims = judged.filter(({ claim }) => claim.confidence === level);
    return { level, claims: claims.length, right: claims.filter(isRight).length / Math.max(1, claims.length) };
  });
}

/** Of the claims about each half, and of the other half by level and by evidence. */
export function calibrationOf(judged: readonly Judged[], seed: string) {
  const fitted = judged.filter(({ domain }) => isFitted(domain, seed));
  const heldOut = judged.filter(({ domain }) => !isFitted(domain, seed));
  return {
    fitted: reliabilityOf(outcomesOf(fitted)),
    all: reliabilityOf(outcomesOf(heldOut)),
    levels: levelsOf(heldOut),
    kinds: bySource(heldOut).map(([source, claims]): { source: string } & Reliability => ({
      source,
      ...reliabilityOf(outcomesOf(claims)),
    })),
  };
}
type Calibration = ReturnType<typeof calibrationOf>;

export function calibrationFigures({ fitted, all, levels, kinds }: Calibration): Figure[] {
  const row = (what: string, { error, chance, right, bins, claims }: Reliability): Figure => {
    const text = bins.map(({ score, share, claims: n }) => `${score.toFixed(2)} → ${share.toFixed(2)} (${n})`);
    const value = `ECE ${error.toFixed(3)} (by chance ${chance.toFixed(3)}), ${percent(right)} of ${thousands(claims)} right`;
    return [what, value, text.join('; ')];
  };
  return [
    row('calibration, fitted half', fitted),
    row('**calibration**, other half', all),
    ...levels.map(
      ({ level, claims, right }): Figure => [`right with \`${level}\``, percent(right), `of ${thousands(claims)}`],
    ),
    ...kinds.map((kind) => row(`calibration, first evidence \`${kind.source}\``, kind)),
  ];
}

/** Writes the figures of the other half for the page. */
export async function writeCalibration(
  { all, levels, kinds }: Calibration,
  about: { readonly companies: number; readonly rulebook: string },
): Promise<void> {
  const data = { measured: new Date().toISOString().slice(0, 10), ...about, all, levels, kinds };
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(4)) : value);
  await writeFile(DATA, `${JSON.stringify(data, rounded, 2)}\n`);
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
