// What scripted inference servers answer in the API of each project, and what they read of a request. The formats are those of
// the projects' own sources, 2026-11.
import { simulatedText, VOCABULARY_SIZE } from './simulated-vocabulary.ts';

export type InferenceServerKind = 'llama-server' | 'vllm' | 'sglang' | 'tensorrt-llm' | 'openai';

// biome-ignore lint/suspicious/noExplicitAny: four formats of JSON, of which it reads a few fields
export type Body = any;

export interface Given {
  readonly tokens: readonly number[];
  readonly count: number;
  readonly isStreamed: boolean;
  readonly hasGrammar: boolean;
  /** Undefined: no log-probabilities. */
  readonly top: number | undefined;
  /** Log-probabilities of the prompt. */
  readonly isScore: boolean;
}

export const CONTEXT = 4_096;
export const own = (token: number) => ({ token, logprob: -0.5 });
const other = (token: number, i: number) => ({ token: (token + 1 + i) % VOCABULARY_SIZE, logprob: -2 - i });

export const DIALECTS: Readonly<Record<InferenceServerKind, Dialect>> = {
  'llama-server': {
    path: '/completion',
    pages: {
      '/v1/models': {
        data: [{ id: 'm.gguf', owned_by: 'llamacpp', meta: { n_vocab: VOCABULARY_SIZE, n_ctx: CONTEXT, n_params: 7 } }],
      },
      '/props': { total_slots: 2, build_info: 'b9999', default_generation_settings: { n_ctx: CONTEXT } },
    },
    given: ({ prompt, n_predict, stream = false, grammar, n_probs = 0 }) => {
      const top = n_probs > 0 ? n_probs : undefined;
      return {
        tokens: prompt,
        count: n_predict,
        isStreamed: stream,
        hasGrammar: Boolean(grammar),
        top,
        isScore: false,
      };
    },
    event: ({ fresh, all, end, top }) => ({
      ...{ tokens: fresh, tokens_predicted: all.length, stop: end !== undefined },
      ...(end ? { stop_type: end === 'stop' ? 'eos' : 'limit' } : {}),
      ...(top === undefined ? {} : { completion_probabilities: fresh.map((token) => probabilityOf(token, top)) }),
    }),
  },
  vllm: {
    path: '/v1/completions',
    pages: {
      '/v1/models': { data: [{ id: 'm', owned_by: 'vllm', max_model_len: CONTEXT }] },
      '/version': { version: '9.9' },
    },
    given: ({ prompt, max_tokens, stream = false, structured_outputs, logprobs, prompt_logprobs }) => ({
      ...{ tokens: prompt, count: max_tokens, isStreamed: stream, hasGrammar: Boolean(structured_outputs?.grammar) },
      ...{ top: logprobs ?? prompt_logprobs, isScore: prompt_logprobs !== undefined },
    }),
    event: ({ fresh, end, top, scored }) => ({
      choices: [
        {
          ...{ index: 0, text: '', token_ids: fresh, finish_reason: end ?? null, stop_reason: null },
          ...(top === undefined || scored ? {} : { logprobs: completionLogprobs(fresh, top) }),
          ...(scored ? { prompt_logprobs: [null, ...scored.slice(1).map((each) => each && ranks(each))] } : {}),
        },
      ],
    }),
    done: '[DONE]',
  },
  sglang: {
    path: '/generate',
    pages: {
      '/v1/models': { data: [{ id: 'm', owned_by: 'sglang', max_model_len: CONTEXT }] },
      '/server_info': { version: '9.9', max_running_requests: 2 },
    },
    given: ({
      input_ids,
      sampling_params,
      stream = false,
      return_logprob = false,
      top_logprobs_num,
      logprob_start_len,
    }) => ({
      ...{ tokens: input_ids, count: sampling_params.max_new_tokens, isStreamed: stream },
      ...{ hasGrammar: Boolean(sampling_params.ebnf), top: return_logprob ? top_logprobs_num : undefined },
      isScore: logprob_start_len !== undefined,
    }),
    // All tokens so far, and one that is not counted yet.
    event: ({ all, ahead = all, end, top, scored }) => ({
      ...{ text: '', output_ids: ahead },
      meta_info: {
        ...{ completion_tokens: all.length, cached_tokens: 1, finish_reason: end ? { type: end } : null },
        ...(top === undefined
          ? {}
          : {
              output_token_logprobs: ahead.map((token) => [own(token).logprob, token, null]),
              output_top_logprobs: ahead.map((token) => alternatives(token, top).map(entry)),
            }),
        ...(scored
          ? {
              input_token_logprobs: scored.map((each) => (each ? entry(each.wanted) : [null, 0, null])),
              input_top_logprobs: scored.map((each) => each?.best.map(entry) ?? null),
            }
          : {}),
      },
    }),
    done: '[DONE]',
  },
  'tensorrt-llm': {
    path: '/v1/completions',
    pages: { '/v1/models': { data: [{ id: 'm', owned_by: 'tensorrt_llm' }] }, '/version': { version: '9.9' } },
    given: ({ prompt, max_tokens, stream = false, response_format, detokenize }) => ({
      ...{ tokens: detokenize === false ? prompt : [], count: max_tokens, isStreamed: stream },
      ...{ hasGrammar: response_format?.type === 'ebnf', top: undefined, isScore: false },
    }),
    event: ({ fresh, end }) => ({
      choices: [{ index: 0, text: '', token_ids: fresh, finish_reason: end ?? null, stop_reason: null }],
    }),
    done: '[DONE]',
  },
  // Text only; each character of a prompt counts for the model.
  openai: {
    path: '/v1/completions',
    pages: { '/v1/models': { data: [{ id: 'm', owned_by: 'library' }] } },
    given: ({ prompt, max_tokens, stream = false }) => ({
      ...{ tokens: Array.from(prompt as string, (each) => 10 + each.charCodeAt(0)), count: max_tokens },
      ...{ isStreamed: stream, hasGrammar: false, top: undefined, isScore: false },
    }),
    event: ({ fresh, end }) => ({
      choices: [{ index: 0, text: fresh.map(simulatedText).join(''), finish_reason: end ?? null }],
    }),
    done: '[DONE]',
  },
};

interface Choice {
  readonly token: number;
  readonly logprob: number;
}
export interface Scored {
  readonly wanted: Choice;
  readonly best: readonly Choice[];
}
export interface Event extends Pick<Given, 'top'> {
  readonly fresh: readonly number[];
  readonly all: readonly number[];
  readonly ahead?: readonly number[];
  readonly end: 'stop' | 'length' | undefined;
  readonly scored?: readonly (Scored | undefined)[] | undefined;
}
export interface Dialect {
  readonly path: string;
  readonly pages: Readonly<Record<string, unknown>>;
  readonly given: (body: Body) => Given;
  readonly event: (event: Event) => object;
  readonly done?: string;
}

export const alternatives = (token: number, top: number): readonly Choice[] =>
  [own(token), ...Array.from({ length: top }, (_, i) => other(token, i))].slice(0, top);
const entry = ({ token, logprob }: Choice) => [logprob, token, null];
const named = ({ token, logprob }: Choice) => ({ id: token, token: '', bytes: [], logprob });
const probabilityOf = (token: number, top: number) => ({
  ...named(own(token)),
  top_logprobs: alternatives(token, top).map(named),
});
const completionLogprobs = (fresh: readonly number[], top: number) => ({
  token_logprobs: fresh.map((token) => own(token).logprob),
  top_logprobs: fresh.map((token) =>
    Object.fromEntries(alternatives(token, top).map((each) => [`token_id:${each.token}`, each.logprob])),
  ),
});
const ranks = ({ wanted, best }: Scored) =>
  Object.fromEntries([...best, wanted].map(({ token, logprob }) => [token, { logprob, rank: 1 }]));
