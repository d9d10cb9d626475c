// Backend for an engine: converts a request to jobs (prompt tokens, grammar, remaining context).
import { randomPart } from '@strata/db';
import { type Engine, EngineError, type Job, type ModelMarks } from '@strata/engine';
import {
  type ChatRequest,
  CompletionError,
  type CompletionRequest,
  callableTools,
  type Generation,
  heldAnswer,
  type OutputFormat,
  OutputReader,
  openedBy,
  outputFormat,
  type Verified,
} from '@strata/inference';
import {
  answerTokens,
  type Backend,
  type BackendFacts,
  type ChoiceDeps,
  conversationLength,
  type EmbeddingPlan,
  type Plan,
  type PlannedChoice,
} from './backend.ts';
import { type ChoiceOptions, choiceDeltas } from './choice.ts';

/** Tokens at the end of a prompt that show whether it opened the reasoning. */
const PROMPT_END = 24;
const OWN: Verified = { level: 'pinned', reason: 'this gateway runs the file itself' };
/** A check of a worker takes about a second. */
const UNPROVED_RETRY_MS = 5_000;
/** Each waits for a message of the engine's process; an engine with more of them answers nothing else for long. */
const TOKENIZED_AT_ONCE = 16;
const NEVER = new AbortController().signal;

export interface ModelProof {
  readonly verified: () => Verified;
  /** Whether nothing below `pinned` may answer. */
  readonly isPinned: boolean;
}

export class EngineBackend implements Backend {
  readonly engine: Engine;
  #marks: ModelMarks | undefined;
  #format: OutputFormat | undefined;
  readonly #proof: ModelProof;

  /** `proof`: of an engine of the network; this gateway itself runs the file that it has hashed. */
  constructor(engine: Engine, proof: ModelProof = { verified: () => OWN, isPinned: false }) {
    this.engine = engine;
    this.#proof = proof;
  }

  get verified(): Verified {
    return this.#proof.verified();
  }

  get facts(): BackendFacts {
    return this.engine.info;
  }

  get isReady(): boolean {
    return this.engine.isReady;
  }

  get unavailable(): string | undefined {
    const { isReady, unavailable } = this.engine;
    if (!isReady) return unavailable ?? 'its engine is being restarted';
    const unproved = this.#unproved();
    return unproved && `it ${unproved}`;
  }

  get isLoaded(): boolean {
    return this.engine.isLoaded ?? true;
  }

  async planChat(request: ChatRequest): Promise<Plan> {
    this.#assertProved();
    this.#assertMayFit(conversationLength(request.messages), 'messages');
    this.#assertMayFit(JSON.stringify(request.tools).length, 'tools');
    const { callable, isCallForced } = callableTools(request);
    // Tools that may not be called stay in the prompt, whose prefix is then the same.
    const tools = callable.length === 0 ? [] : request.tools;
    const { messages, templateVariables: variables } = request;
    const prompt = await this.engine.render({ messages, tools, variables }).catch((error: unknown) => {
      if (error instanceof EngineError && error.code === 'template-failed')
        throw new CompletionError('invalid_value', `${error.message}.`, { param: 'messages', cause: error });
      throw error;
    });
    const { controls, format, ...end } = await this.#endOf(prompt);
    const held = heldAnswer(request, format, end);
    const jobs = this.#jobs(request, { prompt, grammar: held?.grammar, what: 'messages' });
    const max = request.allowsParallelCalls ? Number.POSITIVE_INFINITY : 1;
    const read = held ? held.format : format;
    const reading = { max, opening: (held ?? end).opening, keepsReasoning: request.keepsReasoning };
    const options = {
      ...{ stops: request.stops, isCallForced, grammarParam: held?.param ?? 'tools' },
      ...(read ? { controls, reader: () => new OutputReader(read, callable, reading) } : {}),
    };
    return {
      isContinuable: true,
      promptTokens: prompt.length,
      answerTokens: this.#answerTokens(request, prompt),
      choices: jobs.map((job) => this.#choice(job, 0, options)),
    };
  }

  async planText(request: CompletionRequest): Promise<Plan> {
    this.#assertProved();
    const choices: PlannedChoice[] = [];
    let [promptTokens, maxTokens] = [0, 0];
    for (const [at, given] of request.prompts.entries()) {
      const what = request.prompts.length === 1 ? 'prompt' : `prompt[${at}]`;
      const prompt = await this.#tokens(given, what);
      if (prompt.length === 0)
        throw new CompletionError('invalid_value', 'An empty prompt cannot be completed.', { param: what });
      promptTokens += prompt.length;
      maxTokens += this.#answerTokens(request, prompt);
      const jobs = this.#jobs(request, { prompt, grammar: undefined, what });
      const echo = request.isEchoed ? await this.#textOf(given) : undefined;
      const options = { stops: request.stops, isCallForced: false, echo };
      for (const job of jobs) choices.push(this.#choice(job, at, { ...options, grammarParam: 'response_format' }));
    }
    return { promptTokens, answerTokens: maxTokens, choices, isContinuable: true };
  }

  async planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan> {
    this.#assertProved();
    const { contextLength } = this.engine.info;
    const inputAt = (at: number) => (inputs.length === 1 ? 'input' : `input[${at}]`);
    const tokensOf = async (input: string | readonly number[], what: string) => {
      const tokens = await this.#tokens(input, what);
      if (tokens.length >= contextLength) throw tooLong(what, contextLength, String(tokens.length));
      return tokens;
    };
    const all: (readonly number[])[] = [];
    for (let from = 0; from < inputs.length; from += TOKENIZED_AT_ONCE) {
      const some = inputs.slice(from, from + TOKENIZED_AT_ONCE);
      all.push(...(await Promise.all(some.map((input, at) => tokensOf(input, inputAt(from + at))))));
    }
    return {
      promptTokens: all.reduce((sum, { length }) => sum + length, 0),
      parts: all.map((tokens, at) => async (usage, signal) => {
        usage.promptTokens += tokens.length;
        // Runs to completion even if the client has disconnected: the engine is not free before. A load can be aborted.
        const until = this.isLoaded ? NEVER : signal;
        const vector = await this.engine.embed(tokens, until).catch((error: unknown) => {
          // With the tokens that the vocabulary adds.
          if (error instanceof EngineError && error.code === 'job-too-long')
            throw tooLong(inputAt(at), contextLength, `more than ${tokens.length}`);
          throw error;
        });
        return [vector];
      }),
    };
  }

  #assertProved(): void {
    const unproved = this.#unproved();
    if (unproved === undefined) return;
    const message = `The model ${unproved}.`;
    throw new CompletionError('overloaded', message, { param: 'model', retryAfterMs: UNPROVED_RETRY_MS });
  }

  /** Why it may not answer. */
  #unproved(): string | undefined {
    const { level, reason } = this.verified;
    const mayAnswer = !this.#proof.isPinned || level === 'pinned';
    return mayAnswer ? undefined : `is pinned, and no worker has proved it: ${reason}`;
  }

  /** What a prompt leaves open, by the text at its end, control tokens included. */
  async #endOf(prompt: readonly number[]) {
    this.#marks ??= await this.engine.marks();
    const { template, controls } = this.#marks;
    this.#format ??= outputFormat(template);
    const text = await this.#textOfEnd(prompt, controls);
    return { controls, format: this.#format, text, opening: openedBy(text, this.#format) };
  }

  async #textOfEnd(prompt: readonly number[], controls: ReadonlyMap<number, string>): Promise<string> {
    const end = prompt.slice(-PROMPT_END);
    const texts: (string | Promise<string>)[] = [];
    for (let from = 0; from < end.length; ) {
      const control = end.findIndex((token, at) => at >= from && controls.has(token));
      const to = control < 0 ? end.length : control;
      if (to > from) texts.push(this.engine.detokenize(end.slice(from, to)));
      if (control >= 0) texts.push(controls.get(end[control] as number) ?? '');
      from = to + 1;
    }
    return (await Promise.all(texts)).join('');
  }

  #choice(job: Job, prompt: number, options: Omit<ChoiceOptions, keyof ChoiceDeps>): PlannedChoice {
    return {
      prompt,
      deltas: (deps) => {
        deps.usage.promptTokens = job.prompt.length;
        return choiceDeltas(this.engine, job, { ...options, ...deps });
      },
    };
  }

  #answerTokens(request: Generation, prompt: readonly number[]): number {
    return answerTokens(request, { available: this.engine.info.contextLength - prompt.length });
  }

  async #tokens(input: string | readonly number[], param: string): Promise<readonly number[]> {
    if (typeof input === 'string') {
      this.#assertMayFit(input.length, param);
      return this.engine.tokenize(input);
    }
    const unknown = input.find((token) => token >= this.engine.info.vocabularySize);
    if (unknown === undefined) return input;
    throw new CompletionError('invalid_value', `This model has no token ${unknown}.`, { param });
  }

  /**
   * Text that is too long for any tokenization is rejected without tokenizing it, which would take long and delay
   * answers.
   */
  #assertMayFit(length: number, what: string): void {
    const { contextLength, longestToken } = this.engine.info;
    const min = Math.ceil(length / longestToken);
    if (min >= contextLength) throw tooLong(what, contextLength, `at least ${min}`);
  }

  async #textOf(input: string | readonly number[]): Promise<string> {
    return typeof input === 'string' ? input : this.engine.detokenize(input);
  }

  #jobs(
    request: Generation,
    { prompt, grammar, what }: { prompt: readonly number[]; grammar: string | undefined; what: string },
  ): Job[] {
    const { contextLength } = this.engine.info;
    const available = contextLength - prompt.length;
    if (available < 1) throw tooLong(what, contextLength, String(prompt.length));
    const { choices, sampling, topLogprobs, cacheKey } = request;
    const seed = sampling.seed ?? Buffer.from(randomPart(4)).readUInt32LE();
    return Array.from({ length: choices }, (_, i) => ({
      prompt,
      given: [],
      replay: 'exact',
      maxTokens: Math.min(request.maxTokens ?? available, available),
      // The choices of a request use consecutive seeds.
      sampling: { ...sampling, seed: (seed + i) >>> 0 },
      ...(grammar === undefined ? {} : { grammar }),
      ...(topLogprobs === undefined ? {} : { topLogprobs }),
      ...(cacheKey === undefined ? {} : { cacheKey }),
    }));
  }
}

function tooLong(what: string, contextLength: number, tokens: string): CompletionError {
  return new CompletionError(
    'context_length',
    `This model's maximum context length is ${contextLength} tokens. However, your ${what} resulted in ${tokens} tokens. Please reduce the length of the ${what}.`,
    { param: what },
  );
}
