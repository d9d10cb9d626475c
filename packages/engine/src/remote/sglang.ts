// SGLang's own API: `/generate` with `input_ids` and `output_ids` (docs.sglang.ai, native API).
import { z } from 'zod';
import { failed } from '../upstream/errors.ts';
import {
  alternativesAt,
  type Dialect,
  type Position,
  type ReadChoice,
  type ReadToken,
  ranked,
  read,
} from './dialect.ts';

const token = z.int().min(0);
/** Log-probability, token, and its text if it was requested. */
const entry = z.tuple([z.number().nullable(), token, z.unknown()]);
const entries = z.array(entry).max(1_000_001);
const alternatives = z.array(entries.nullable()).max(1_000_001);
const tokens = z.array(token);
/** Each event repeats those of all events before it: only the new ones are validated. */
const repeated = z.custom<readonly unknown[]>((value) => Array.isArray(value) && value.length <= 1_000_000);
const reply = z.object({
  output_ids: repeated,
  meta_info: z.object({
    completion_tokens: z.int().min(0),
    cached_tokens: z.int().min(0).nullish(),
    finish_reason: z.object({ type: z.string() }).nullish(),
    output_token_logprobs: repeated.nullish(),
    output_top_logprobs: repeated.nullish(),
    input_token_logprobs: entries.nullish(),
    input_top_logprobs: alternatives.nullish(),
  }),
});
type Meta = z.output<typeof reply>['meta_info'];

export const SGLANG: Dialect = {
  kind: 'sglang',
  lacks: ['draws', 'replay'],
  path: '/generate',
  health: '/health',
  // It may generate a token.
  answersHealth: false,
  body: ({ job, tokens: given, count, isStreamed }) => {
    const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, logitBias } = job.sampling;
    return {
      ...{ input_ids: given, stream: isStreamed },
      sampling_params: {
        ...{ max_new_tokens: count, temperature, top_p: topP, top_k: topK === 0 ? -1 : topK, min_p: minP },
        ...{ presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty, skip_special_tokens: false },
        ...(logitBias.size === 0 ? {} : { logit_bias: Object.fromEntries(logitBias) }),
        ...(job.grammar === undefined ? {} : { ebnf: job.grammar }),
      },
      ...(job.topLogprobs === undefined ? {} : { return_logprob: true, top_logprobs_num: job.topLogprobs }),
    };
  },
  reader: ({ job: { topLogprobs } }) => {
    let received = 0;
    return (value) => {
      const { output_ids: ids, meta_info: meta } = read(reply, value, 'an invalid event');
      const span = { from: received, to: meta.completion_tokens };
      const made = newOf(tokens, ids, span);
      if (made.length !== span.to - span.from) throw failed('sent fewer tokens than it counts');
      received = span.to;
      const answered = topLogprobs === undefined ? plain(made) : withLogprobs(made, { meta, span, topLogprobs });
      return { tokens: answered, cachedTokens: meta.cached_tokens ?? undefined, end: endOf(meta.finish_reason?.type) };
    };
  },
  positions: async ({ prompt, answer, end, top, json }) => {
    const given = [...prompt, ...answer, ...(end === undefined ? [] : [end])];
    const body = {
      input_ids: given,
      sampling_params: { max_new_tokens: 1, temperature: 0 },
      ...{
        return_logprob: true,
        logprob_start_len: prompt.length - 1,
        top_logprobs_num: alternativesAt(given.length - prompt.length + 1, top),
      },
    };
    const { meta_info: meta } = read(reply, await json({ path: '/generate', body }), 'no log-probabilities');
    const wanted = given.slice(prompt.length);
    const own = (meta.input_token_logprobs ?? []).slice(-wanted.length);
    const tops = (meta.input_top_logprobs ?? []).slice(-wanted.length);
    if (own.length !== wanted.length || own.some(([, id], i) => id !== wanted[i]))
      throw failed('sent log-probabilities of another prompt');
    return own.map((each, i) => positionOf([...choices([each]), ...choices(tops[i])]));
  },
};

/** Its candidates are the best ones, and the token itself. */
function positionOf(candidates: readonly ReadChoice[]): Position {
  const known = new Map(candidates.map((each) => [each.token, each]));
  return { candidates: ranked([...known.values()]), isRanked: false };
}

const choices = (listed: z.output<typeof entries> | null | undefined): readonly ReadChoice[] =>
  (listed ?? []).flatMap(([logprob, id]) => (logprob === null ? [] : [{ token: id, logprob }]));

const plain = (made: readonly number[]): readonly ReadToken[] =>
  made.map((each) => ({ token: each, logprob: 0, top: [] }));

/** Positions of the new tokens in the answer. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Lists contain all tokens so far, and may contain later ones than the server counts: it appends to them while it sends.
 * With `--incremental-streaming-output` they contain only the new tokens.
 */
function newOf<Item>(
  schema: z.ZodType<readonly Item[]>,
  listed: readonly unknown[] | null | undefined,
  { from, to }: Span,
): readonly Item[] {
  const all = listed ?? [];
  return read(schema, all.length < to ? all.slice(0, Math.max(0, to - from)) : all.slice(from, to), 'an invalid event');
}

interface LogprobsOptions {
  readonly meta: Meta;
  readonly span: Span;
  readonly topLogprobs: number;
}

function withLogprobs(made: readonly number[], { meta, span, topLogprobs }: LogprobsOptions): readonly ReadToken[] {
  const own = newOf(entries, meta.output_token_logprobs, span);
  const tops = newOf(alternatives, meta.output_top_logprobs, span);
  return made.map((each, i) => {
    const [logprob, id] = own[i] ?? [];
    if (id !== each || logprob === null || logprob === undefined) throw failed('sent no log-probability of a token');
    return { token: each, logprob, top: ranked(choices(tops[i])).slice(0, topLogprobs) };
  });
}

function endOf(type: string | undefined): 'stop' | 'length' | undefined {
  if (type === undefined || type === 'stop' || type === 'length') return type;
  throw failed(`ended the answer for no known reason (${type.slice(0, 40)})`);
}
