// Who is caught and who is not: deviations measured between real engines, then lives of workers drawn from them.
import { afterFinding, NEW_WORKER } from '../../packages/inference/src/index.ts';
import {
  deviation,
  type Reputation,
  TOLERATED_DEVIATION,
} from '../../packages/inference/src/network/audit/reputation.ts';
import { audited } from '../../packages/inference/src/network/test/audited-life.ts';
import { marginsOf } from '../../packages/inference/src/network/test/margins.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { type Figure, median, thousands } from '../measure.ts';
import { type Measured, measuredVariants } from './trust-variants.ts';

const REQUESTS = 500;
const CHEATS = 2_000;
const LIVES = 3_000;
const AUDITS = 10_000;
const GOOD: Reputation = Array.from({ length: 12 }).reduce<Reputation>(
  (standing) => afterFinding(standing, { kind: 'scored', margins: [0] }, 1),
  { ...NEW_WORKER, changedAtMs: 1 },
);

export async function benchTrust(): Promise<Figure[]> {
  const { honest, cheats, unfound } = await measuredVariants();
  return [
    ...[...honest, ...simulatedHonest()].map(honestFigure),
    ...cheats.map((each) => cheatFigure(each, `goal: all within ${REQUESTS} requests at 2 %`)),
    ...unfound.map((each) => cheatFigure(each, 'not found by margins: docs/trust.md')),
  ];
}

/** Other hardware than that at hand: logits that are wrong by so much, in nats. */
const simulatedHonest = (): readonly Measured[] => [
  ['simulated, logits wrong by 0.02', simulated({ error: 0.02 })],
  ['simulated, logits wrong by 0.05, many near ties', simulated({ error: 0.05, spread: 1.5 })],
];

function simulated(options: { readonly error: number; readonly spread?: number }): readonly number[] {
  const random = randomFrom(1);
  return Array.from({ length: 300 }, () => deviation({ margins: marginsOf({ ...options, tokens: 64 }, random) }));
}

function honestFigure([what, deviations]: Measured): Figure {
  const random = randomFrom(2);
  // Where no answer deviates by more than is tolerated, no evidence ever rises: such lives need not be played.
  const isEverHeld = deviations.some((each) => each > TOLERATED_DEVIATION);
  const lives = Array.from({ length: isEverHeld ? LIVES : 0 }, () =>
    audited({ deviationOf: drawn(deviations, random), requests: AUDITS, share: 1, random }),
  );
  const caught = lives.filter(({ caughtAfter }) => caughtAfter !== undefined).length;
  const of = `${thousands(LIVES)} lives of ${thousands(AUDITS)} audits`;
  return [
    `honest: ${what}; ${spread(deviations)}`,
    isEverHeld ? `${caught} of ${of} quarantined` : 'impossible: no answer exceeds the tolerance',
    'goal: < 0.1 %',
  ];
}

function cheatFigure([what, deviations]: Measured, against: string): Figure {
  const random = randomFrom(3);
  const lives = (from: Reputation) =>
    Array.from({ length: CHEATS }, () =>
      audited({ deviationOf: drawn(deviations, random), requests: REQUESTS, from, random }),
    ).map(({ caughtAfter }) => caughtAfter ?? Number.POSITIVE_INFINITY);
  const text = (counts: readonly number[]) => {
    const share = counts.filter((count) => count <= REQUESTS).length / counts.length;
    const middle = median(counts);
    return `${(share * 100).toFixed(2)} %, median ${middle <= REQUESTS ? middle : `more than ${REQUESTS}`}`;
  };
  return [
    `cheat: ${what}; ${spread(deviations)}`,
    `trusted: caught ${text(lives(GOOD))}; new: ${text(lives(NEW_WORKER))}`,
    against,
  ];
}

const drawn = (pool: readonly number[], random: () => number) => () =>
  pool[Math.floor(random() * pool.length)] as number;
const spread = (deviations: readonly number[]) => {
  const mean = deviations.reduce((sum, value) => sum + value, 0) / deviations.length;
  return `deviation ${mean.toExponential(1)}, at most ${Math.max(...deviations).toExponential(1)}`;
};
