// The response bodies of the contract: complete, or as stream chunks.
import type { ToolCall } from '../request/chat-message.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  /** UTF-8 bytes. A character can span several tokens, so the bytes of one token may not be valid text. */
  readonly bytes: readonly number[];
}

export interface ChosenLogprob extends TokenLogprob {
  readonly top_logprobs: readonly TokenLogprob[];
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that were already in the cache. */
  readonly cachedTokens: number;
  /** Of the completion. */
  readonly reasoningTokens?: number;
}

/** The usage of an answer in progress: updated while its deltas are read. */
export type RunningUsage = { -readonly [Field in keyof Usage]: Usage[Field] };

/** The fields that every body and chunk of an answer has. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  /** Identifies the model file and the engine: answers are reproducible only with the same fingerprint. */
  readonly fingerprint: string;
}

export interface ChatChoice {
  readonly content: string | null;
  /** Empty without reasoning. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly logprobs: readonly ChosenLogprob[] | undefined;
  readonly finishReason: FinishReason;
}

/** One increment of a choice. */
export type ChatDelta =
  | { readonly kind: 'begin' }
  | { readonly kind: 'text'; readonly text: string; readonly logprobs?: readonly ChosenLogprob[] }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly at: number; readonly id: string; readonly name: string }
  | { readonly kind: 'arguments'; readonly at: number; readonly text: string }
  | { readonly kind: 'end'; readonly reason: FinishReason };

function usageOf({ promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

export function chatCompletion(head: AnswerHead, choices: readonly ChatChoice[], usage: Usage) {
  return {
    ...headOf(head, 'chat.completion'),
    choices: choices.map(({ content, reasoning, toolCalls, logprobs, finishReason }, index) => ({
      index,
      message: {
        role: 'assistant',
        content,
        refusal: null,
        ...(reasoning === '' ? {} : reasoningFields(reasoning)),
        ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(callOf) } : {}),
      },
      logprobs: logprobs ? { content: logprobs, refusal: null } : null,
      finish_reason: finishReason,
    })),
    usage: usageOf(usage),
  };
}

/**
 * A chunk of one choice. With `hasUsage`, every chunk has `usage: null`, because the usage follows in the last chunk.
 */
export function chatChunk(
  head: AnswerHead,
  { index, delta, hasUsage }: { readonly index: number; readonly delta: ChatDelta; readonly hasUsage: boolean },
) {
  return {
    ...headOf(head, 'chat.completion.chunk'),
    choices: [
      {
        index,
        delta: deltaOf(delta),
        logprobs: delta.kind === 'text' && delta.logprobs ? { content: delta.logprobs, refusal: null } : null,
        finish_reason: delta.kind === 'end' ? delta.reason : null,
      },
    ],
    ...(hasUsage ? { usage: null } : {}),
  };
}

/** The last chunk of a stream that reports usage. */
export function usageChunk(head: AnswerHead, usage: Usage, object: 'chat.completion.chunk' | 'text_completion') {
  return { ...headOf(head, object), choices: [], usage: usageOf(usage) };
}

export interface TextChoice {
  readonly text: string;
  readonly logprobs: readonly ChosenLogprob[] | undefined;
  /** The number of characters of the choice before this text; 0 by default. */
  readonly offset?: number;
  /** Null in every chunk except the last. */
  readonly finishReason: FinishReason | null;
}

export function textCompletion(head: AnswerHead, choices: readonly TextChoice[], usage: Usage) {
  return {
    ...textChunk(
      head,
      choices.map((choice, index) => ({ index, ...choice })),
    ),
    usage: usageOf(usage),
  };
}

export function textChunk(head: AnswerHead, choices: readonly (TextChoice & { readonly index: number })[]) {
  return {
    ...headOf(head, 'text_completion'),
    choices: choices.map(({ index, text, logprobs, finishReason, offset = 0 }) => ({
      index,
      text,
      logprobs: logprobs ? textLogprobs(logprobs, offset) : null,
      finish_reason: finishReason,
    })),
  };
}

/** The log-probabilities of `/v1/completions`: parallel lists. */
function textLogprobs(logprobs: readonly ChosenLogprob[], from: number) {
  let offset = from;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ top_logprobs }) =>
      Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: logprobs.map(({ token }) => {
      const at = offset;
      offset += token.length;
      return at;
    }),
  };
}

function headOf<Kind extends string>({ id, created, model, fingerprint }: AnswerHead, object: Kind) {
  return { id, object, created, model, system_fingerprint: fingerprint };
}

function callOf({ id, name, arguments: text }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: text } };
}

/** Clients read one of these names: DeepSeek's, or that of OpenRouter and vLLM. */
const reasoningFields = (text: string) => ({ reasoning_content: text, reasoning: text });

function deltaOf(delta: ChatDelta) {
  switch (delta.kind) {
    case 'begin':
      return { role: 'assistant', content: '', refusal: null };
    case 'text':
      return { content: delta.text };
    case 'reasoning':
      return reasoningFields(delta.text);
    case 'call':
      return {
        tool_calls: [
          { index: delta.at, id: delta.id, type: 'function', function: { name: delta.name, arguments: '' } },
        ],
      };
    case 'arguments':
      return { tool_calls: [{ index: delta.at, function: { arguments: delta.text } }] };
    case 'end':
      return {};
    default:
      return delta satisfies never;
  }
}
