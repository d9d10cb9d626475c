// Workers to be audited, on llama.cpp: honest ones with other threads, caches, handovers and quantisations, and cheats of every kind.
// The result is how far the answers of each deviate.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readGgufFileInfo } from 'node-llama-cpp';
import { type Engine, type Job, type ScoreJob, startLlamaEngine } from '../../packages/engine/src/index.ts';
import { deviation, GREEDY, type Sampling } from '../../packages/inference/src/index.ts';
import { randomModel, tinyChatModel } from '../../packages/testnet/src/index.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';

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

const GGML_F16 = 1;
/** Weights that share a scale, as in Q4_0 to Q8_0. */
const BLOCK = 32;

/** Writes a copy whose matrices are rounded to so many bits: Q4_0's way of rounding (GGML), with any number of bits. */
async function writeRounded(source: string, target: string, bits: number): Promise<void> {
  const bytes = await readFile(source);
  const { fullTensorInfo = [] } = await readGgufFileInfo(source, { readTensorInfo: true, logWarnings: false });
  for (const { ggmlType, dimensions, fileOffset } of fullTensorInfo) {
    if ((ggmlType as number) !== GGML_F16) continue;
    const count = dimensions.reduce<number>((product, each) => product * Number(each), 1);
    const weights = new Float16Array(bytes.buffer, bytes.byteOffset + Number(fileOffset), count);
    for (let from = 0; from < count; from += BLOCK) round(weights.subarray(from, from + BLOCK), bits);
  }
  await writeFile(target, bytes);
}

/** The value of largest magnitude becomes the lowest step, and the scale is what that makes it. */
function round(block: Float16Array, bits: number): void {
  const lowest = -(2 ** (bits - 1));
  const largest = block.reduce((max, value) => (Math.abs(value) > Math.abs(max) ? value : max), 0);
  const scale = largest / lowest;
  if (scale === 0) return;
  for (const [i, value] of block.entries())
    block[i] = Math.min(-lowest - 1, Math.max(lowest, Math.round(value / scale))) * scale;
}

export interface Variant {
  readonly worker: Engine;
  readonly verifier: Engine;
  readonly answers: number;
  /** What the gateway asks for; 1 by default. */
  readonly temperature?: number;
  /** What the worker draws with instead. */
  readonly drawnWith?: (asked: Sampling) => Sampling;
  /** What it says of its answer. */
  readonly altered?: (answer: Answered) => Answered;
  /** It gave the same answer before, and has prompt and answer cached. */
  readonly isWarm?: boolean;
  /** Concurrent answers. */
  readonly together?: number;
  /** The second half is made by one that got the first from another, and replays it so; it alone is judged. */
  readonly continuedBy?: Job['replay'];
}

interface Answered {
  readonly tokens: readonly number[];
  readonly hasEnd: boolean;
}

/** Nothing that the model was trained on: what it knows by heart has one answer, whatever its weights are rounded to. */
const WORDS = 'river say blue why seven horse paint of winter song and bread far so'.split(' ');
const MAX_TOKENS = 64;
const never = new AbortController().signal;

/** Deviations of a variant's answers, of those that have any tokens. */
export async function deviationsOf(variant: Variant): Promise<readonly number[]> {
  const { answers, together = 1 } = variant;
  const found: number[] = [];
  for (let from = 0; from < answers; from += together) {
    const numbers = Array.from({ length: Math.min(together, answers - from) }, (_, i) => from + i);
    found.push(...(await Promise.all(numbers.map((number) => deviationOf(variant, number)))));
  }
  return found;
}

async function deviationOf(variant: Variant, number: number): Promise<number> {
  const { worker, verifier, temperature = 1, continuedBy } = variant;
  const content = Array.from({ length: 6 }, (_, i) => WORDS[(number * 5 + i * (number + 3)) % WORDS.length]).join(' ');
  const prompt = await verifier.render({ messages: [{ role: 'user', content }], tools: [] });
  const sampling = { ...GREEDY, temperature, seed: number + 1 };
  const job: Job = { prompt, given: [], replay: 'exact', maxTokens: MAX_TOKENS, sampling };
  const asked = { ...job, sampling: variant.drawnWith?.(sampling) ?? sampling };
  if (variant.isWarm) await run(worker, asked);
  let made = await run(worker, asked);
  const from = continuedBy ? Math.floor(made.tokens.length / 2) : 0;
  if (continuedBy) {
    const given = made.tokens.slice(0, from);
    made = await run(worker, { ...asked, given, replay: continuedBy }, given);
  }
  const { tokens, hasEnd } = variant.altered?.(made) ?? made;
  const scored: ScoreJob = { prompt, answer: tokens, hasEnd, sampling, maxTokens: MAX_TOKENS };
  const margins = await verifier.score(scored, never);
  const end = hasEnd ? margins.at(-1) : undefined;
  return deviation({ margins: margins.slice(from, tokens.length), ...(end === undefined ? {} : { end }) });
}

async function run(engine: Engine, job: Job, given: readonly number[] = []): Promise<Answered> {
  const tokens = [...given];
  let hasEnd = false;
  for await (const event of engine.generate(job, never)) {
    if (event.kind === 'token') tokens.push(event.token);
    if (event.kind === 'end') hasEnd = event.reason === 'stop';
  }
  return { tokens, hasEnd };
}
