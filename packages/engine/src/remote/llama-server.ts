// llama-server's own API, which has token ids everywhere: `/completion` with `return_tokens`
// (github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
import { z } from 'zod';
import { failed } from '../upstream/errors.ts';
import { type Dialect, type Position, type ReadToken, ranked, read, seedOf } from './dialect.ts';

const token = z.int().min(0);
const choice = z.object({ id: token, logprob: z.number() });
const probabilities = z.array(choice.extend({ top_logprobs: z.array(choice).max(4_096) })).max(4_096);
const event = z.object({
  tokens: z.array(token).max(1_000_000),
  /** With those of the event. */
  tokens_predicted: z.int().min(0),
  stop: z.boolean(),
  stop_type: z.enum(['none', 'eos', 'word', 'limit']).optional(),
  completion_probabilities: probabilities.optional(),
  prompt_progress: z.object({ cache: z.int().min(0) }).optional(),
  timings: z.object({ cache_n: z.int().min(0).optional() }).optional(),
});

/** Its random seed. */
const RANDOM_SEED = 2 ** 32 - 1;
/** As in the API of OpenAI: a token whose log-probability is not known. */
const UNKNOWN_LOGPROB = -9_999;
/** Makes the drawn token one with text of its own; probabilities are those before it. */
const FORCED = 10_000;

export const LLAMA_SERVER: Dialect = {
  kind: 'llama-server',
  // Its penalties count the tokens of the prompt too.
  lacks: ['draws', 'penalties', 'replay'],
  path: '/completion',
  health: '/health',
  answersHealth: true,
  body: ({ job, tokens, count, isStreamed }) => {
    const { temperature, topP, topK, minP, logitBias } = job.sampling;
    return {
      ...{ prompt: tokens, n_predict: count, stream: isStreamed, return_tokens: true, return_progress: isStreamed },
      ...{ cache_prompt: true, temperature, top_p: topP, top_k: topK, min_p: minP, seed: seedOf(job, RANDOM_SEED) },
      // In this order; the server's default samplers are not applied.
      samplers: ['top_k', 'temperature', 'top_p', 'min_p'],
      logit_bias: [...logitBias],
      ...(job.grammar === undefined ? {} : { grammar: job.grammar }),
      ...(job.topLogprobs === undefined ? {} : { n_probs: Math.max(1, job.topLogprobs) }),
    };
  },
  reader: ({ isStreamed, job }) => {
    let received = 0;
    return (value) => {
      const { tokens, tokens_predicted: made, ...rest } = read(event, value, 'an invalid event');
      const cachedTokens = rest.prompt_progress?.cache ?? rest.timings?.cache_n;
      if (rest.prompt_progress) return { tokens: [], cachedTokens };
      received += tokens.length;
      // In a stream it sends no token that ends in the middle of a character, nor later.
      const hasGap = isStreamed && received < made;
      const end = rest.stop ? endOf(rest.stop_type) : undefined;
      return {
        tokens: hasGap ? [] : withLogprobs(tokens, rest.completion_probabilities, job),
        cachedTokens,
        end,
        hasGap,
      };
    };
  },
  positions: async ({ prompt, answer, end, top, plain, json }) => {
    const count = answer.length + (end === undefined ? 0 : 1);
    const positions: Position[] = [];
    for (let from = 0; from < count; from += 1) {
      const tokens = [...prompt, ...answer.slice(0, from)];
      const forced = { temperature: 0, samplers: [], logit_bias: [[plain, FORCED]] };
      const body = { prompt: tokens, n_predict: 1, cache_prompt: true, n_probs: top, ...forced };
      const [only] = read(
        answered,
        await json({ path: '/completion', body }),
        'no probabilities',
      ).completion_probabilities;
      const candidates = ranked((only?.top_logprobs ?? []).map(({ id, logprob }) => ({ token: id, logprob })));
      positions.push({ candidates, isRanked: true });
    }
    return positions;
  },
};

const answered = z.object({ completion_probabilities: probabilities.min(1) });

function endOf(type: z.output<typeof event>['stop_type']): 'stop' | 'length' {
  if (type === 'eos') return 'stop';
  if (type === 'limit') return 'length';
  throw failed(`ended the answer for no known reason (${type ?? 'none'})`);
}

function withLogprobs(
  tokens: readonly number[],
  listed: z.output<typeof probabilities> | undefined,
  { topLogprobs }: { readonly topLogprobs?: number },
): readonly ReadToken[] {
  if (topLogprobs === undefined) return tokens.map((each) => ({ token: each, logprob: 0, top: [] }));
  let at = 0;
  return tokens.map((each) => {
    const found = listed?.[at];
    // It lists no token that ends within a character.
    if (found?.id !== each) return { token: each, logprob: UNKNOWN_LOGPROB, top: [] };
    at += 1;
    const top = found.top_logprobs.slice(0, topLogprobs).map(({ id, logprob }) => ({ token: id, logprob }));
    return { token: each, logprob: found.logprob, top };
  });
}
