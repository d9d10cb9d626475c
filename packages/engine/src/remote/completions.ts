// The completions API of OpenAI with token ids, as vLLM and TensorRT-LLM extend it.
import { z } from 'zod';
import type { Job } from '../engine.ts';
import { failed } from '../upstream/errors.ts';
import {
  alternativesAt,
  type Dialect,
  type GenerateAsk,
  type Piece,
  type Position,
  type ReadChoice,
  type ReadToken,
  ranked,
  read,
  seedOf,
} from './dialect.ts';

const token = z.int().min(0);
const logprob = z.number().nullable();
const chunk = z.object({
  choices: z
    .array(
      z.object({
        token_ids: z.array(token).max(1_000_000).nullish(),
        finish_reason: z.string().nullish(),
        /** A token that ended the answer, other than the end of the vocabulary. */
        stop_reason: z.union([z.string(), z.int()]).nullish(),
        logprobs: z
          .object({
            token_logprobs: z.array(logprob).max(1_000_000),
            /** By `token_id:N`. */
            top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).max(1_000_000).nullish(),
          })
          .nullish(),
      }),
    )
    .max(1),
  usage: z.object({ prompt_tokens_details: z.object({ cached_tokens: z.int().min(0).nullish() }).nullish() }).nullish(),
});

function sampled({ job, model, tokens, count, isStreamed }: GenerateAsk): object {
  const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, logitBias } = job.sampling;
  return {
    ...{ model, prompt: tokens, max_tokens: count, stream: isStreamed, temperature, top_p: topP, min_p: minP },
    ...{ top_k: topK, seed: seedOf(job), presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty },
    ...{ repetition_penalty: 1, add_special_tokens: false },
    ...(logitBias.size === 0 ? {} : { logit_bias: Object.fromEntries(logitBias) }),
  };
}

/** `docs.vllm.ai`, online serving: `return_token_ids`, `return_tokens_as_token_ids`, `prompt_logprobs`. */
export const VLLM: Dialect = {
  kind: 'vllm',
  lacks: ['draws', 'replay'],
  path: '/v1/completions',
  health: '/health',
  answersHealth: true,
  body: (ask) => ({
    ...sampled(ask),
    ...{ return_token_ids: true, return_tokens_as_token_ids: true },
    ...(ask.job.topLogprobs === undefined ? {} : { logprobs: ask.job.topLogprobs }),
    ...(ask.job.grammar === undefined ? {} : { structured_outputs: { grammar: ask.job.grammar } }),
  }),
  reader: ({ job }) => readerOf(job),
  positions: async ({ model, prompt, answer, end, top, json }) => {
    const tokens = [...prompt, ...answer, ...(end === undefined ? [] : [end])];
    // It also reports those of the prompt.
    const count = alternativesAt(tokens.length, Math.min(top, MAX_LOGPROBS));
    const options = { max_tokens: 1, temperature: 0, add_special_tokens: false, prompt_logprobs: count };
    const body = { model, prompt: tokens, ...options };
    const [only] = read(scored, await json({ path: '/v1/completions', body }), 'no log-probabilities').choices;
    const all = only?.prompt_logprobs ?? [];
    if (all.length !== tokens.length) throw failed('sent log-probabilities of another prompt');
    return all.slice(prompt.length).map(positionOf);
  },
};

/** Its limit without `--max-logprobs`. */
const MAX_LOGPROBS = 20;
const scored = z.object({
  choices: z
    .array(
      z.object({
        prompt_logprobs: z
          .array(z.record(z.string().regex(/^\d{1,7}$/), z.object({ logprob: z.number() })).nullable())
          .max(1_000_001),
      }),
    )
    .length(1),
});

/** Its candidates are the best ones, and the token itself. */
function positionOf(listed: Readonly<Record<string, { readonly logprob: number }>> | null): Position {
  const candidates = Object.entries(listed ?? {}).map(([id, each]) => ({ token: Number(id), logprob: each.logprob }));
  return { candidates: ranked(candidates), isRanked: false };
}

/** `trtllm-serve`: token ids instead of text with `detokenize: false`. Unknown fields are refused by it. */
export const TENSORRT_LLM: Dialect = {
  kind: 'tensorrt-llm',
  // Its alternatives are named by text, and it has no log-probabilities of a prompt.
  lacks: ['draws', 'replay', 'embeddings', 'scores', 'logprobs'],
  path: '/v1/completions',
  health: '/health',
  answersHealth: true,
  body: (ask) => ({
    ...sampled(ask),
    ...(ask.job.sampling.temperature === 0 ? { temperature: 1, top_k: 1 } : {}),
    detokenize: false,
    ...(ask.job.grammar === undefined ? {} : { response_format: { type: 'ebnf', ebnf: ask.job.grammar } }),
  }),
  reader: ({ job }) => readerOf(job),
};

function readerOf(job: Job): (value: unknown) => Piece {
  return (value) => {
    const { choices, usage } = read(chunk, value, 'an invalid event');
    const [only] = choices;
    const cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? undefined;
    if (!only) return { tokens: [], cachedTokens };
    const { token_ids: ids, finish_reason: reason, logprobs } = only;
    if (!ids) throw failed('sent no token ids');
    return { tokens: withLogprobs(ids, logprobs, job), cachedTokens, end: endOf(reason) };
  };
}

function endOf(reason: string | null | undefined): 'stop' | 'length' | undefined {
  if (reason === 'stop' || reason === 'length') return reason;
  if (reason === null || reason === undefined) return undefined;
  throw failed(`ended the answer for no known reason (${reason.slice(0, 40)})`);
}

function withLogprobs(
  ids: readonly number[],
  listed: NonNullable<z.output<typeof chunk>['choices'][number]>['logprobs'],
  { topLogprobs }: Job,
): readonly ReadToken[] {
  if (topLogprobs === undefined) return ids.map((each) => ({ token: each, logprob: 0, top: [] }));
  return ids.map((each, i) => {
    const own = listed?.token_logprobs[i];
    if (own === undefined || own === null) throw failed('sent no log-probability of a token');
    const top = ranked(Object.entries(listed?.top_logprobs?.[i] ?? {}).map(choiceOf));
    return { token: each, logprob: own, top: top.slice(0, topLogprobs) };
  });
}

function choiceOf([name, value]: [string, number]): ReadChoice {
  const id = /^token_id:(\d{1,7})$/.exec(name)?.[1];
  if (id === undefined) throw failed('sent alternatives without token ids');
  return { token: Number(id), logprob: value };
}
