// Parses one chunk of an upstream's stream.
import type { ChosenLogprob, RunningUsage, TokenLogprob } from '@strata/inference';
import { z } from 'zod';
import { errorOf, errorShape, failed, invalid, jsonOf, refusalInStream } from './errors.ts';
import type { StreamEvent } from './response.ts';

export interface CallPiece {
  /** Some servers omit the index of the call. */
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Updated while deltas are consumed. If the server reports no usage, `completionTokens` is an estimate, one for each
 * chunk with content (most servers send one token per chunk), and `promptTokens` stays 0.
 */
export type UpstreamUsage = RunningUsage;

export interface Chunk {
  readonly text: string;
  readonly reasoning: string;
  readonly logprobs: readonly ChosenLogprob[];
  readonly calls: readonly CallPiece[];
  /** As sent by the server. */
  readonly reason: string | undefined;
  readonly usage: UpstreamUsage | undefined;
  /** Whether tokens were generated, visible or not. */
  readonly hasTokens: boolean;
}

const optionalText = z.string().nullish();
const tokenCount = z.int().min(0);
const tokenLogprob = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int().min(0).max(255)).nullish(),
});
const chatLogprobs = z.object({
  content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob).nullish() })).nullable(),
});
/** The older form of plain completions: parallel lists. */
const listedLogprobs = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number().nullable()),
  top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish(),
});
const callPiece = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().max(256).nullish(),
  function: z.object({ name: z.string().max(128).nullish(), arguments: optionalText }).nullish(),
});
const messageShape = z.object({
  content: optionalText,
  refusal: optionalText,
  reasoning_content: optionalText,
  reasoning: optionalText,
  tool_calls: z.array(callPiece).nullish(),
});
const chunkShape = z.object({
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        /** Of plain completions. */
        text: optionalText,
        delta: messageShape.nullish(),
        /** Of an answer that is not a stream. */
        message: messageShape.nullish(),
        logprobs: z.union([listedLogprobs, chatLogprobs]).nullish(),
        finish_reason: optionalText,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokenCount,
      completion_tokens: tokenCount.nullish(),
      prompt_tokens_details: z.object({ cached_tokens: tokenCount.nullish() }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: tokenCount.nullish() }).nullish(),
    })
    .nullish(),
});

/** Of a chunk that has only text. */
export const ONLY_TEXT = {
  ...{ reasoning: '', logprobs: [], calls: [], reason: undefined, usage: undefined, hasTokens: true },
};
/** The inside of a JSON string without escapes. */
const PLAIN = /^[^"\\\p{Cc}]+$/u;
const CONTENT = '"content":';
const CHARACTERS_A_TOKEN = 4;

/** Reads the chunks of an answer. Those of its text differ only in the text, which is then read without parsing the rest. */
export class ChunkReader {
  readonly #secret: string | undefined;
  /** What was before and after the text of the last chunk that had only text. */
  #before = '';
  #after = '';

  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /**
   * The text of a chunk that has nothing else; otherwise the chunk. Throws the error of an error event, and EngineError
   * `upstream-failed` for an invalid chunk.
   */
  read(event: StreamEvent): Chunk | string {
    const text = this.#textOf(event);
    if (text !== undefined) return text;
    const chunk = readChunk(event, this.#secret);
    this.#remember(event.data, chunk);
    return chunk;
  }

  #textOf({ type, data }: StreamEvent): string | undefined {
    const isAlike = this.#before !== '' && type === '' && data.startsWith(this.#before) && data.endsWith(this.#after);
    const text = isAlike ? data.slice(this.#before.length, data.length - this.#after.length) : '';
    return PLAIN.test(text) ? text : undefined;
  }

  #remember(data: string, { text, reasoning, logprobs, calls, reason, usage }: Chunk): void {
    const isOnlyText = !reasoning && logprobs.length + calls.length === 0 && reason === undefined && !usage;
    if (!isOnlyText || !PLAIN.test(text)) return;
    const at = data.indexOf(CONTENT) + CONTENT.length;
    const from = data[at] === ' ' ? at + 2 : at + 1;
    const to = from + text.length;
    if (data.slice(from - 1, to + 1) !== `"${text}"` || data.includes(CONTENT, to)) return;
    this.#before = data.slice(0, from);
    this.#after = data.slice(to);
  }
}

/** Throws the error of an error event, and EngineError `upstream-failed` for an invalid chunk. */
function readChunk({ type, data }: StreamEvent, secret: string | undefined): Chunk {
  const value = jsonOf(data);
  if (type === 'error' || isError(value)) throw errorOf(refusalInStream(data, secret));
  if (value === undefined) throw failed('sent an invalid chunk: it is not JSON');
  const read = chunkShape.safeParse(value);
  if (!read.success) throw invalid('an invalid chunk', read.error);
  const { choices, usage } = read.data;
  // One choice was requested.
  const choice = choices?.find(({ index }) => (index ?? 0) === 0);
  const delta = choice?.delta ?? choice?.message;
  const text = `${choice?.text ?? ''}${delta?.content ?? ''}${delta?.refusal ?? ''}`;
  // vLLM and Ollama name it `reasoning`; some servers send both.
  const reasoning = delta?.reasoning_content || delta?.reasoning || '';
  const calls = (delta?.tool_calls ?? []).map((piece) => ({
    index: piece.index ?? undefined,
    id: piece.id ?? '',
    name: piece.function?.name ?? '',
    arguments: piece.function?.arguments ?? '',
  }));
  const isComplete = choice?.message != null;
  return {
    text,
    reasoning,
    logprobs: logprobsOf(choice?.logprobs),
    calls,
    reason: choice?.finish_reason || undefined,
    usage: usage
      ? {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens ?? 0,
          // Some servers count cached tokens in addition to the prompt's.
          cachedTokens: Math.min(usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens ?? 0),
          ...reasoningTokensOf(usage.completion_tokens_details?.reasoning_tokens),
        }
      : isComplete
        ? estimatedUsage(text.length + reasoning.length)
        : undefined,
    hasTokens: text !== '' || calls.length > 0 || reasoning !== '',
  };
}

/** Where the server reports none. */
const estimatedUsage = (characters: number): UpstreamUsage => ({
  ...{ promptTokens: 0, completionTokens: Math.ceil(characters / CHARACTERS_A_TOKEN), cachedTokens: 0 },
});

/** Undefined keeps what was counted from the chunks. */
const reasoningTokensOf = (reasoningTokens: number | null | undefined) => (reasoningTokens ? { reasoningTokens } : {});

function isError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('error' in value && value.error !== null) return true;
  return !('choices' in value) && errorShape.safeParse(value).success;
}

type Logprobs = z.output<typeof chatLogprobs> | z.output<typeof listedLogprobs> | null | undefined;

function logprobsOf(logprobs: Logprobs): ChosenLogprob[] {
  if (!logprobs) return [];
  if ('content' in logprobs)
    return (logprobs.content ?? []).map((chosen) => ({
      ...logprobOf(chosen),
      top_logprobs: (chosen.top_logprobs ?? []).map(logprobOf),
    }));
  const { tokens, token_logprobs, top_logprobs } = logprobs;
  return tokens.map((token, at) => ({
    ...logprobOf({ token, logprob: token_logprobs[at] ?? 0 }),
    top_logprobs: Object.entries(top_logprobs?.[at] ?? {}).map(([other, logprob]) =>
      logprobOf({ token: other, logprob }),
    ),
  }));
}

function logprobOf({ token, logprob, bytes }: z.output<typeof tokenLogprob>): TokenLogprob {
  return { token, logprob, bytes: bytes ?? [...Buffer.from(token, 'utf8')] };
}
