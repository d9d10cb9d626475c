// Who is caught and who is not: deviations measured between real engines, then lives of workers drawn from them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startLlamaEngine } from '../packages/engine/src/index.ts';
import { afterFinding, NEWCOMER } from '../packages/inference/src/index.ts';
import { deviation, type Standing, TOLERATED_DEVIATION } from '../packages/inference/src/network/standing.ts';
import { audited } from '../packages/inference/src/network/test/audited-life.ts';
import { marginsOf, seeded } from '../packages/inference/src/network/test/margins.ts';
import { randomModel, tinyChatModel } from '../packages/testnet/src/index.ts';
import type { Figure } from './main.ts';
import { deviationsOf, type Told, type Variant } from './trust-margins.ts';
import { writeRounded } from './trust-models.ts';

const REQUESTS = 500;
const CHEATS = 2_000;
const LIVES = 1_000;
const AUDITS = 10_000;
/** The demo's model is sure of itself; at this temperature its answers vary as those of large models do at 1. */
const WARM = 1.5;
const ANSWERS = 20;
/** Two threads of one engine wait for each other: on a busy machine each token takes long. */
const ANSWERS_OF_TWO_THREADS = 4;

const GOOD: Standing = Array.from({ length: 12 }).reduce<Standing>(
  (standing) => afterFinding(standing, { kind: 'scored', margins: [0] }, 1),
  { ...NEWCOMER, changedAtMs: 1 },
);

export async function benchTrust(): Promise<Figure[]> {
  const { honest, cheats } = await measured();
  return [
    ...honest.map(([what, deviations]) => honestFigure(what, deviations)),
    ...cheats.map(([what, deviations]) => cheatFigure(what, deviations)),
  ];
}

type Measured = readonly [what: string, deviations: readonly number[]];

async function measured(): Promise<{ honest: Measured[]; cheats: Measured[] }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-trust-'));
  try {
    await using stack = new AsyncDisposableStack();
    const start = async (file: string, threads = 1) =>
      stack.use(await startLlamaEngine({ file, slots: 2, threads, gpu: false }));
    const rounded = async (bits: number) => {
      const file = path.join(directory, `${bits}-bits.gguf`);
      await writeRounded(tinyChatModel, file, bits);
      return start(file);
    };
    const random = async (seed: number, weights: 'F16' | 'Q8_0') => {
      const file = path.join(directory, `${seed}-${weights}.gguf`);
      const size = { layers: 4, width: 128, heads: 4, hidden: 256, context: 512 };
      await writeFile(file, randomModel({ seed, name: 'random', ...size, weights }));
      return file;
    };
    const verifier = await start(tinyChatModel);
    const [f16, q8] = [await random(1, 'F16'), await random(1, 'Q8_0')];
    const [ofF16, ofQ8] = [await start(f16), await start(q8)];
    const of = async (what: string, variant: Partial<Variant> = {}): Promise<Measured> => {
      const usual = { worker: verifier, verifier, answers: ANSWERS, temperature: WARM };
      return [what, await deviationsOf({ ...usual, ...variant })];
    };
    const told = (change: (told: Told, number: number) => Told) => ({ told: change });
    const two = await start(tinyChatModel, 2);
    const few = { answers: ANSWERS_OF_TWO_THREADS };
    return {
      honest: [
        await of('same threads'),
        await of('2 threads', { worker: two, ...few }),
        await of('side by side', { together: 2 }),
        await of('continued after a fast replay', { isContinued: true }),
        await of('prompts cached'),
        await of('greedy', { temperature: 0 }),
        await of('random F16, 2 threads', { worker: await start(f16, 2), verifier: ofF16, ...few }),
        await of('random Q8_0, 2 threads', { worker: await start(q8, 2), verifier: ofQ8, ...few }),
        ['simulated, logits wrong by 0.02', simulated({ error: 0.02 })],
        ['simulated, logits wrong by 0.05', simulated({ error: 0.05, spread: 1.5 })],
      ],
      cheats: [
        await of('another model', { worker: await start(await random(2, 'F16')), verifier: ofF16 }),
        await of('2 bits for F16', { worker: await rounded(2) }),
        await of('3 bits for F16', { worker: await rounded(3) }),
        await of('4 bits for F16', { worker: await rounded(4) }),
        await of('5 bits for F16', { worker: await rounded(5) }),
        await of('8 bits for F16 (within rounding)', { worker: await rounded(8) }),
        await of('the likeliest tokens', { drawnWith: (asked) => ({ ...asked, temperature: 0 }) }),
        await of('temperature 1 for 1.5', { drawnWith: (asked) => ({ ...asked, temperature: 1 }) }),
        await of('a seed of its own', { drawnWith: (asked) => ({ ...asked, seed: asked.seed + 1_000 }) }),
        await of(
          'half of each answer',
          told((it) => ({ tokens: it.tokens.slice(0, it.tokens.length / 2), hasEnd: true })),
        ),
        await of(
          'one answer for all',
          told(() => ({ tokens: [72, 101, 108, 108, 111], hasEnd: true })),
        ),
        await of(
          'eight tokens more',
          told((it) => ({ tokens: [...it.tokens, ...it.tokens.slice(0, 8)], hasEnd: true })),
        ),
        ['simulated, logits wrong by 0.2', simulated({ error: 0.2 })],
      ],
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

function simulated(options: { readonly error: number; readonly spread?: number }): readonly number[] {
  const random = seeded(1);
  return Array.from({ length: 300 }, () => deviation({ margins: marginsOf({ ...options, tokens: 64 }, random) }));
}

function honestFigure(what: string, deviations: readonly number[]): Figure {
  const random = seeded(2);
  // Where no answer deviates by more than is tolerated, no evidence ever rises: such lives need not be played.
  const isEverHeld = deviations.some((each) => each > TOLERATED_DEVIATION);
  const lives = Array.from({ length: isEverHeld ? LIVES : 0 }, () =>
    audited({ deviationOf: drawn(deviations, random), requests: AUDITS, share: 1, random }),
  );
  const caught = lives.filter(({ caughtAfter }) => caughtAfter !== undefined).length;
  return {
    what: `honest: ${what}, mean deviation ${mean(deviations).toExponential(1)}`,
    value: isEverHeld
      ? `${caught} of ${LIVES.toLocaleString('en-US')} lives of ${AUDITS.toLocaleString('en-US')} audits quarantined`
      : 'none can be: no answer beyond what is tolerated',
    against: 'goal: < 0.1 %',
  };
}

function cheatFigure(what: string, deviations: readonly number[]): Figure {
  const random = seeded(3);
  const lives = (from: Standing) =>
    Array.from({ length: CHEATS }, () =>
      audited({ deviationOf: drawn(deviations, random), requests: REQUESTS, from, random }),
    ).map(({ caughtAfter }) => caughtAfter ?? Number.POSITIVE_INFINITY);
  const [trusted, fresh] = [lives(GOOD), lives(NEWCOMER)];
  const share = (counts: readonly number[]) =>
    `${((counts.filter((count) => count <= REQUESTS).length / counts.length) * 100).toFixed(1)} %`;
  const middle = (counts: readonly number[]) => {
    const count = counts.toSorted((a, b) => a - b)[counts.length >> 1] ?? Number.POSITIVE_INFINITY;
    return count <= REQUESTS ? `${count}` : `more than ${REQUESTS}`;
  };
  return {
    what: `cheat: ${what}, mean deviation ${mean(deviations).toExponential(1)}`,
    value: `once trusted ${share(trusted)}, median after ${middle(trusted)}; new ${share(fresh)}, after ${middle(fresh)}`,
    against: what.includes('within rounding')
      ? 'not held against anything'
      : `goal: within ${REQUESTS} requests at 2 %`,
  };
}

const drawn = (pool: readonly number[], random: () => number) => () =>
  pool[Math.floor(random() * pool.length)] as number;
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
