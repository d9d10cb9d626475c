// A parsed request: defaults are filled in, and unsupported parameters are rejected by name.
import type { z } from 'zod';
import { CompletionError } from '../errors.ts';
import type { Sampling } from '../sampling.ts';
import { type ChatMessage, toMessage } from './chat-message.ts';
import { chatFields, completionFields, embeddingFields, MAX_CHOICES, type tools } from './fields.ts';
import { parse } from './parse-fields.ts';

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** JSON Schema of the result. */
  readonly return?: Readonly<Record<string, unknown>>;
  /** Every call must be valid by `parameters`. */
  readonly strict?: boolean;
}

/** `names`: only these tools may be called; with `required` one of them must be. */
export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly mode: 'auto' | 'required'; readonly names: readonly string[] };

/** The tools that an answer may call, and whether it must call one. */
export function callableTools({ tools, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>): {
  readonly callable: readonly Tool[];
  readonly isCallForced: boolean;
} {
  if (typeof toolChoice === 'string')
    return { callable: toolChoice === 'none' ? [] : tools, isCallForced: toolChoice === 'required' };
  const { mode, names } = toolChoice;
  return { callable: tools.filter(({ name }) => names.includes(name)), isCallForced: mode === 'required' };
}

/** The required format of the answer. */
export type Format =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  /** `param`: where the request has the schema. */
  | { readonly kind: 'schema'; readonly schema: Readonly<Record<string, unknown>>; readonly param: string };

/** The generation parameters that all request types share. */
export interface Generation {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly hasUsageChunk: boolean;
  /** Whether the answer is stored, so that a client that was disconnected can go on reading it. */
  readonly isStored: boolean;
  /** Undefined: generate until the model ends the answer or the context is full. */
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly stops: readonly string[];
  /** `seed` is undefined if the request has none; the service then chooses one. */
  readonly sampling: Omit<Sampling, 'seed'> & { readonly seed: number | undefined };
  /** The number of alternatives to report for each token; undefined: no log-probabilities. */
  readonly topLogprobs: number | undefined;
  /** Requests with the same key probably share a prompt prefix. */
  readonly cacheKey: string | undefined;
}

export interface ChatRequest extends Generation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly allowsParallelCalls: boolean;
  /** Tools that do not say whether they are `strict` are, where that is possible. */
  readonly prefersStrict?: boolean;
  readonly format: Format;
  /** For the model's chat template: `reasoning_effort`, `enable_thinking` … */
  readonly templateVariables: Readonly<Record<string, unknown>>;
  /** Reasoning is part of the text, with its marks. */
  readonly keepsReasoning?: boolean;
}

export interface CompletionRequest extends Generation {
  /** Each prompt is text or a list of the model's token ids. */
  readonly prompts: readonly (string | readonly number[])[];
  /** Whether the prompt is included before its completion. */
  readonly isEchoed: boolean;
}

export interface EmbeddingRequest {
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
  readonly encoding: 'float' | 'base64';
  readonly dimensions: number | undefined;
}

/** Throws CompletionError that names the first invalid parameter. */
export function readChatRequest(body: unknown): ChatRequest {
  const fields = parse(chatFields, body);
  rejectOtherModalities(fields);
  const toolList = (fields.tools ?? []).map(toTool);
  return {
    ...generationOf(fields, fields.max_completion_tokens ?? fields.max_tokens),
    topLogprobs: topLogprobsOf(fields),
    messages: fields.messages.map(toMessage),
    tools: toolList,
    toolChoice: toolChoiceOf(fields.tool_choice, toolList),
    allowsParallelCalls: fields.parallel_tool_calls ?? true,
    format: formatOf(fields.response_format),
    templateVariables: templateVariablesOf(fields),
    keepsReasoning: fields.reasoning_format === 'none',
  };
}

/** `chat_template_kwargs` prevail. */
function templateVariablesOf({
  reasoning_effort,
  add_generation_prompt,
  chat_template_kwargs,
}: z.output<typeof chatFields>): Readonly<Record<string, unknown>> {
  return {
    ...(reasoning_effort === undefined ? {} : { reasoning_effort }),
    ...(add_generation_prompt === undefined ? {} : { add_generation_prompt }),
    ...chat_template_kwargs,
  };
}

/** Throws CompletionError that names the first invalid parameter. */
export function readCompletionRequest(body: unknown): CompletionRequest {
  const fields = parse(completionFields, body);
  if (fields.suffix !== undefined && fields.suffix !== '')
    throw new CompletionError('unsupported_value', 'Suffixes are not supported.', {
      param: 'suffix',
    });
  if ((fields.best_of ?? 1) > (fields.n ?? 1))
    throw new CompletionError('unsupported_value', '`best_of` must not be larger than `n`.', { param: 'best_of' });
  if (fields.echo && fields.logprobs !== undefined)
    throw new CompletionError('unsupported_value', 'Log-probabilities of a prompt are not supported.', {
      param: 'logprobs',
    });
  const prompts = inputsOf(fields.prompt);
  if (prompts.length * (fields.n ?? 1) > MAX_CHOICES)
    throw new CompletionError('invalid_value', `A request can generate at most ${MAX_CHOICES} completions.`, {
      param: 'prompt',
    });
  return {
    ...generationOf(fields, fields.max_tokens ?? 16),
    topLogprobs: fields.logprobs,
    prompts,
    isEchoed: fields.echo ?? false,
  };
}

/** Throws CompletionError that names the first invalid parameter. */
export function readEmbeddingRequest(body: unknown): EmbeddingRequest {
  const { model, input, encoding_format, dimensions } = parse(embeddingFields, body);
  return { model, inputs: inputsOf(input), encoding: encoding_format ?? 'float', dimensions };
}

/** Normalises a single input or a list of inputs (text or tokens) to a list. */
function inputsOf(given: string | readonly (string | number | readonly number[])[]): (string | readonly number[])[] {
  const isOne = typeof given === 'string' || typeof given[0] === 'number';
  return isOne ? [given as string | readonly number[]] : (given as (string | readonly number[])[]);
}

type Fields = z.output<typeof chatFields> | z.output<typeof completionFields>;

function generationOf(fields: Fields, maxTokens: number | undefined): Omit<Generation, 'topLogprobs'> {
  const isStreamed = fields.stream ?? false;
  if (fields.stream_options && !isStreamed)
    throw new CompletionError('invalid_value', '`stream_options` requires `stream` to be true.', {
      param: 'stream_options',
    });
  const { stop, seed } = fields;
  return {
    model: fields.model,
    isStreamed,
    hasUsageChunk: fields.stream_options?.include_usage ?? false,
    isStored: fields.store ?? false,
    maxTokens,
    choices: fields.n ?? 1,
    stops: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((each) => each !== ''),
    sampling: {
      temperature: fields.temperature ?? 1,
      topP: fields.top_p ?? 1,
      topK: fields.top_k ?? 0,
      minP: fields.min_p ?? 0,
      presencePenalty: fields.presence_penalty ?? 0,
      frequencyPenalty: fields.frequency_penalty ?? 0,
      logitBias: new Map(Object.entries(fields.logit_bias ?? {}).map(([token, bias]) => [Number(token), bias])),
      // Any integer is accepted as a seed; only its lower 32 bits are used.
      seed: seed === undefined ? undefined : Number(BigInt.asUintN(32, BigInt(seed))),
    },
    cacheKey: fields.prompt_cache_key,
  };
}

function topLogprobsOf({ logprobs, top_logprobs }: z.output<typeof chatFields>): number | undefined {
  if (logprobs) return top_logprobs ?? 0;
  if (top_logprobs !== undefined && top_logprobs > 0)
    throw new CompletionError('invalid_value', '`top_logprobs` requires `logprobs` to be true.', {
      param: 'top_logprobs',
    });
  return undefined;
}

function rejectOtherModalities({ modalities, audio, functions, function_call }: z.output<typeof chatFields>): void {
  const other = modalities?.findIndex((each) => each !== 'text') ?? -1;
  if (other >= 0)
    throw new CompletionError('unsupported_value', `Only text output is supported, not '${modalities?.[other]}'.`, {
      param: `modalities[${other}]`,
    });
  if (audio !== undefined && audio !== null)
    throw new CompletionError('unsupported_value', 'Audio output is not supported.', { param: 'audio' });
  for (const [param, value] of Object.entries({ functions, function_call })) {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    throw new CompletionError('unsupported_value', `\`${param}\` is not supported; use \`tools\`.`, { param });
  }
}

function toTool({ function: { name, description, parameters, ...rest } }: z.output<typeof tools>[number]): Tool {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(rest.return === undefined ? {} : { return: rest.return }),
    ...(rest.strict === undefined ? {} : { strict: rest.strict }),
  };
}

function toolChoiceOf(choice: z.output<typeof chatFields>['tool_choice'], tools: readonly Tool[]): ToolChoice {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none';
  const param = 'tool_choice';
  if (tools.length === 0)
    throw new CompletionError('invalid_value', '`tool_choice` is only allowed with `tools`.', { param });
  if (typeof choice === 'string') return choice;
  const mode = choice.type === 'function' ? 'required' : choice.allowed_tools.mode;
  const chosen = choice.type === 'function' ? [choice] : choice.allowed_tools.tools;
  const names = chosen.map(({ function: { name } }) => name);
  const unknown = names.find((each) => !tools.some(({ name }) => name === each));
  if (unknown !== undefined)
    throw new CompletionError('invalid_value', `There is no tool named '${unknown}'.`, { param });
  return { mode, names };
}

function formatOf(format: z.output<typeof chatFields>['response_format']): Format {
  switch (format?.type) {
    case 'json_object':
      return format.schema
        ? { kind: 'schema', schema: format.schema, param: 'response_format.schema' }
        : { kind: 'json' };
    case 'json_schema': {
      const param = 'response_format.json_schema.schema';
      const { schema } = format.json_schema;
      if (!schema) throw new CompletionError('missing_parameter', 'A JSON schema is required.', { param });
      return { kind: 'schema', schema, param };
    }
    default:
      return { kind: 'text' };
  }
}
