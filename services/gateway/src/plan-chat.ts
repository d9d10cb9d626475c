// From a request to jobs for the engine: the prompt in tokens, the grammar, the room that is left.
import { randomInt } from 'node:crypto';
import { type Engine, EngineError, type Job } from '@strata/engine';
import {
  type ChatRequest,
  CompletionError,
  callGrammar,
  type Generation,
  JSON_OBJECT_GRAMMAR,
  schemaGrammar,
  type Tool,
} from '@strata/inference';

export interface Plan {
  /** One for each choice. */
  readonly jobs: readonly Job[];
  /** Tools that may be called; with `isCallForced` the answer is a call and nothing else. */
  readonly tools: readonly Tool[];
  readonly isCallForced: boolean;
}

/** Throws CompletionError for a conversation that the model cannot take. */
export async function planChat(engine: Engine, request: ChatRequest): Promise<Plan> {
  const { toolChoice, format } = request;
  const tools = toolChoice === 'none' ? [] : request.tools;
  const isCallForced = toolChoice === 'required' || typeof toolChoice === 'object';
  const callable = typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const grammar = isCallForced
    ? callGrammar(callable, 'tools')
    : format.kind === 'json'
      ? JSON_OBJECT_GRAMMAR
      : format.kind === 'schema'
        ? schemaGrammar(format.schema, 'response_format.json_schema.schema')
        : undefined;
  const prompt = await engine.render({ messages: request.messages, tools }).catch((error: unknown) => {
    if (error instanceof EngineError && error.code === 'template-failed')
      throw new CompletionError('invalid_value', `${error.message}.`, { param: 'messages', cause: error });
    throw error;
  });
  return { jobs: jobsOf(engine, request, { prompt, grammar, what: 'messages' }), tools, isCallForced };
}

/** Jobs for a prompt of plain text. */
export async function planText(engine: Engine, request: Generation, prompt: string): Promise<Plan> {
  const tokens = await engine.tokenize(prompt);
  if (tokens.length === 0)
    throw new CompletionError('invalid_value', 'An empty prompt cannot be completed.', { param: 'prompt' });
  return {
    jobs: jobsOf(engine, request, { prompt: tokens, grammar: undefined, what: 'prompt' }),
    tools: [],
    isCallForced: false,
  };
}

function jobsOf(
  engine: Engine,
  request: Generation,
  { prompt, grammar, what }: { prompt: readonly number[]; grammar: string | undefined; what: string },
): Job[] {
  const { contextLength } = engine.info;
  const room = contextLength - prompt.length;
  if (room < 1) {
    throw new CompletionError(
      'context_length',
      `This model's maximum context length is ${contextLength} tokens. However, your ${what} resulted in ${prompt.length} tokens. Please reduce the length of the ${what}.`,
      { param: what },
    );
  }
  const { choices, sampling, topLogprobs } = request;
  const seed = sampling.seed ?? randomInt(2 ** 32);
  return Array.from({ length: choices }, (_, i) => ({
    prompt,
    given: [],
    replay: 'exact',
    maxTokens: Math.min(request.maxTokens ?? room, room),
    // Choices of one request differ as those of other seeds do.
    sampling: { ...sampling, seed: (seed + i) >>> 0 },
    ...(grammar === undefined ? {} : { grammar }),
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
  }));
}
