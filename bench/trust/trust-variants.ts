// Workers to be audited, on llama.cpp: honest ones with other threads, caches, handovers and quantisations, and cheats of every kind.
// The result is how far the answers of each deviate.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startLlamaEngine } from '../../packages/engine/src/index.ts';
import { randomModel, tinyChatModel } from '../../packages/testnet/src/index.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Answered, deviationsOf, type Variant } from './trust-margins.ts';
import { writeRounded } from './trust-models.ts';

export type Measured = readonly [what: string, deviations: readonly number[]];

export interface Variants {
  readonly honest: readonly Measured[];
  readonly cheats: readonly Measured[];
  /** Lies that leave the tokens unchanged, or nearly: reported without a verdict. */
  readonly unfound: readonly Measured[];
}

type Weights = 'F16' | 'Q8_0' | 'Q4_0';

const ANSWERS = 40;
/** The demo's model is sure of itself; at this temperature its answers vary as those of large models do at 1. */
const WARM = 1.5;
/** Two threads of one engine wait for each other: on a busy machine each token takes long. */
const ANSWERS_OF_TWO_THREADS = 8;
const HELLO = [72, 101, 108, 108, 111];

export async function measuredVariants(): Promise<Variants> {
  await using directory = await temporaryDirectory();
  await using stack = new AsyncDisposableStack();
  const start = async (file: string, threads = 1) =>
    stack.use(await startLlamaEngine({ file, slots: 2, threads, gpu: false }));
  // Its logits are spread as those of large models are where they do not know: many tokens are nearly as likely.
  const random = async (weights: Weights, { seed = 1, layers = 4 } = {}) => {
    const file = path.join(directory.path, `${seed}-${layers}-${weights}.gguf`);
    const size = { layers, width: 128, heads: 4, hidden: 256, context: 512 };
    await writeFile(file, randomModel({ seed, name: 'random', ...size, weights }));
    return file;
  };
  const files = { F16: await random('F16'), Q8_0: await random('Q8_0'), Q4_0: await random('Q4_0') };
  const verifiers = { F16: await start(files.F16), Q8_0: await start(files.Q8_0), Q4_0: await start(files.Q4_0) };
  const worker = await start(files.F16);
  const of = async (what: string, variant: Partial<Variant> = {}): Promise<Measured> => [
    what,
    await deviationsOf({ worker, verifier: verifiers.F16, answers: ANSWERS, ...variant }),
  ];
  const altered = (change: (altered: Answered) => Answered) => ({ altered: change });
  const threads = async (weights: Weights): Promise<Measured> => {
    await using two = await startLlamaEngine({ file: files[weights], slots: 2, threads: 2, gpu: false });
    const variant = { worker: two, verifier: verifiers[weights], answers: ANSWERS_OF_TWO_THREADS };
    return await of(`${weights}, 2 threads against 1`, variant);
  };
  const same = async (weights: Weights) =>
    of(`${weights}, both 1 thread`, { worker: await start(files[weights]), verifier: verifiers[weights] });
  const demo = await start(tinyChatModel);
  const ofDemo = (what: string, variant: Partial<Variant> = {}) =>
    of(what, { worker: demo, verifier: demo, temperature: WARM, ...variant });
  const rounded = async (bits: number) => {
    const file = path.join(directory.path, `${bits}-bits.gguf`);
    await writeRounded(tinyChatModel, file, bits);
    return { worker: await start(file) };
  };
  return {
    honest: [
      await of('F16, both 1 thread, nothing cached'),
      await of('F16, prompt and answer cached', { isWarm: true }),
      await of('Q4_0, prompt and answer cached', {
        ...{ worker: await start(files.Q4_0), verifier: verifiers.Q4_0, isWarm: true },
      }),
      await same('Q8_0'),
      await same('Q4_0'),
      await threads('F16'),
      await threads('Q8_0'),
      await threads('Q4_0'),
      await of('F16, concurrently', { together: 2 }),
      await of('F16, continued after an exact replay', { continuedBy: 'exact' }),
      await of('F16, continued after a fast replay', { continuedBy: 'fast' }),
      await of('Q4_0, continued after a fast replay', {
        ...{ worker: await start(files.Q4_0), verifier: verifiers.Q4_0, continuedBy: 'fast' },
      }),
      await of('F16, greedy', { temperature: 0 }),
      await ofDemo("the demo's model"),
    ],
    cheats: [
      await of('another model', { worker: await start(await random('F16', { seed: 2 })) }),
      await of('half of its layers', { worker: await start(await random('F16', { layers: 2 })) }),
      await of('Q4_0 for F16', { worker: await start(files.Q4_0) }),
      await of('Q4_0 for F16, greedy', { worker: await start(files.Q4_0), temperature: 0 }),
      await of('the likeliest tokens instead of drawn ones', {
        drawnWith: (asked) => ({ ...asked, temperature: 0 }),
      }),
      await of('temperature 0.7 for 1', { drawnWith: (asked) => ({ ...asked, temperature: 0.7 }) }),
      await of('a seed of its own', { drawnWith: (asked) => ({ ...asked, seed: asked.seed + 1_000 }) }),
      await of(
        'half of each answer',
        altered(({ tokens }) => ({ tokens: tokens.slice(0, tokens.length / 2), hasEnd: true })),
      ),
      await of(
        'one answer for all',
        altered(() => ({ tokens: HELLO, hasEnd: true })),
      ),
      await of(
        'eight tokens more',
        altered(({ tokens }) => ({ tokens: [...tokens, ...tokens.slice(0, 8)], hasEnd: true })),
      ),
      await ofDemo("the demo's model, 4 bits for F16", await rounded(4)),
      await ofDemo("the demo's model, 5 bits for F16", await rounded(5)),
      await ofDemo("the demo's model, the likeliest tokens", {
        drawnWith: (asked) => ({ ...asked, temperature: 0 }),
      }),
      await ofDemo("the demo's model, temperature 1 for 1.5", {
        drawnWith: (asked) => ({ ...asked, temperature: 1 }),
      }),
    ],
    unfound: [
      await of('Q8_0 for F16', { worker: await start(files.Q8_0) }),
      await ofDemo("a seed of its own, where the demo's model knows the answer by heart", {
        temperature: 0.1,
        drawnWith: (asked) => ({ ...asked, seed: asked.seed + 1_000 }),
      }),
    ],
  };
}
