// Margins from real engines: answers made by one engine in one way, scored by another as the auditor does.
import type { Engine, Job, ScoreJob } from '../../packages/engine/src/index.ts';
import { deviation, GREEDY, type Sampling } from '../../packages/inference/src/index.ts';

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

export interface Answered {
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
