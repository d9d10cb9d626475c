// An engine without a model: fixed speed, and tokens that depend on the complete history, so that one lost or repeated
// token changes all following ones. For benches and tests of the code around engines; it has the shape of an `Engine`.
import { setTimeout } from 'node:timers/promises';
import { FIRST_WORD, simulatedText, VOCABULARY_SIZE } from './simulated-vocabulary.ts';

export interface SimulatedEngineOptions {
  readonly slots?: number;
  /** Of each answer; undefined: immediate. */
  readonly tokensPerSecond?: number;
  /** For prompts, and for given tokens read in one batch; undefined: immediate. */
  readonly prefillTokensPerSecond?: number;
  readonly name?: string;
  /** Another seed gives other tokens: a different model. */
  readonly modelSeed?: number;
  /** An answer ends by itself after this many tokens; undefined: only at `maxTokens`. */
  readonly answerTokens?: number;
}

interface SimulatedJob {
  readonly prompt: readonly number[];
  readonly given: readonly number[];
  readonly replay: 'exact' | 'fast';
  readonly maxTokens: number;
  readonly sampling: { readonly seed: number };
}

interface SimulatedScoreJob {
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
  readonly hasEnd: boolean;
  readonly sampling: { readonly seed: number };
}

type SimulatedEvent =
  | { readonly kind: 'begin'; readonly cachedTokens: number }
  | {
      readonly kind: 'token';
      readonly token: number;
      readonly bytes: Uint8Array;
      readonly logprob: number;
      readonly top: readonly [];
    }
  | { readonly kind: 'end'; readonly reason: 'stop' | 'length' };

const CONTEXT = 131_072;
const utf8 = new TextEncoder();
/** Far larger than an honest model's rounding differences. */
const WRONG_NATS = 20;

/** The tokens of an undisturbed answer: the reference for tests. */
export function simulatedAnswer(
  prompt: readonly number[],
  { seed, count, modelSeed = 1 }: { readonly seed: number; readonly count: number; readonly modelSeed?: number },
): readonly number[] {
  let state = stateOf(prompt, seed, modelSeed);
  return Array.from({ length: count }, () => {
    const token = tokenOf(state);
    state = mixed(state, token);
    return token;
  });
}

/** Disposing it aborts running jobs, as a killed process would. */
export function createSimulatedEngine(options: SimulatedEngineOptions = {}) {
  const { slots = 4, name = 'simulated', modelSeed = 1, answerTokens = Number.POSITIVE_INFINITY } = options;
  const died = new AbortController();
  let running = 0;
  const line: (() => void)[] = [];
  const leave = () => {
    running -= 1;
    line.shift()?.();
  };
  const enter = async (signal: AbortSignal) => {
    while (running >= slots) {
      await new Promise<void>((resolve, reject) => {
        line.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    signal.throwIfAborted();
    running += 1;
  };
  return {
    info: {
      name,
      sha256: modelSeed.toString(16).padStart(64, '0'),
      sizeBytes: 1_000_000,
      architecture: 'simulated',
      parameters: 1_000_000,
      quantisation: 'F16',
      contextLength: CONTEXT,
      vocabularySize: VOCABULARY_SIZE,
      longestToken: 16,
      slots,
      hasChatTemplate: true,
      engine: 'simulated 1',
    },
    get isReady() {
      return !died.signal.aborted;
    },
    /** One token per four characters, a function of them. */
    async tokenize(text: string): Promise<readonly number[]> {
      return (text.match(/.{1,4}/gs) ?? []).map((part) =>
        tokenOf(part.split('').reduce((h, c) => mixed(h, c.charCodeAt(0)), 7)),
      );
    },
    detokenize: async (tokens: readonly number[]): Promise<string> => tokens.map(simulatedText).join(''),
    marks: async () => ({ template: '', controls: new Map<number, string>() }),
    bytes: async (tokens: readonly number[]) => tokens.map((token) => utf8.encode(simulatedText(token))),
    async render({ messages }: { readonly messages: readonly { readonly content?: unknown }[] }) {
      return this.tokenize(`${messages.map(({ content }) => String(content ?? '')).join('\n')}\n>`);
    },
    async *generate(job: SimulatedJob, given: AbortSignal): AsyncGenerator<SimulatedEvent> {
      const signal = AbortSignal.any([given, died.signal]);
      signal.throwIfAborted();
      await enter(signal);
      try {
        yield { kind: 'begin', cachedTokens: 0 };
        const inBatch = job.prompt.length + (job.replay === 'fast' ? job.given.length : 0);
        await pause((inBatch / (options.prefillTokensPerSecond ?? Number.POSITIVE_INFINITY)) * 1_000, signal);
        const msOfToken = options.tokensPerSecond === undefined ? 0 : 1_000 / options.tokensPerSecond;
        let dueAt = performance.now() + (job.replay === 'exact' ? job.given.length * msOfToken : 0);
        let state = stateOf(job.prompt, job.sampling.seed, modelSeed);
        for (const token of job.given) state = mixed(state, token);
        for (let position = job.given.length; ; position += 1) {
          if (position >= answerTokens) return yield { kind: 'end', reason: 'stop' };
          if (position >= job.maxTokens) return yield { kind: 'end', reason: 'length' };
          dueAt += msOfToken;
          await pause(dueAt - performance.now(), signal);
          signal.throwIfAborted();
          const token = tokenOf(state);
          state = mixed(state, token);
          yield { kind: 'token', token, bytes: utf8.encode(simulatedText(token)), logprob: -0.5, top: [] };
        }
      } finally {
        leave();
      }
    },
    async score(job: SimulatedScoreJob, signal: AbortSignal): Promise<readonly number[]> {
      AbortSignal.any([signal, died.signal]).throwIfAborted();
      let state = stateOf(job.prompt, job.sampling.seed, modelSeed);
      const margins = job.answer.map((token, position) => {
        const isRight = token === tokenOf(state) && position < answerTokens;
        state = mixed(state, token);
        return isRight ? 0 : WRONG_NATS;
      });
      if (job.hasEnd) margins.push(job.answer.length === answerTokens ? 0 : WRONG_NATS);
      return margins;
    },
    async embed(tokens: readonly number[]): Promise<Float32Array> {
      const vector = Float32Array.from({ length: 8 }, (_, i) => 1 + (tokens[i] ?? 0));
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      died.abort(new Error('the simulated engine died'));
    },
  };
}

const stateOf = (prompt: readonly number[], seed: number, modelSeed: number): number =>
  prompt.reduce(mixed, mixed(mixed(0x9e3779b9, seed), modelSeed));
const tokenOf = (state: number): number => FIRST_WORD + (state % (VOCABULARY_SIZE - FIRST_WORD));

/** One round of MurmurHash3's mixing. */
function mixed(state: number, value: number): number {
  let hash = Math.imul(state ^ value, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) + value;
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Timers have a resolution of one millisecond: shorter pauses are skipped. Rejects with the reason of the signal. */
const pause = (ms: number, signal: AbortSignal): Promise<void> | undefined =>
  ms >= 1 ? setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted()) : undefined;
