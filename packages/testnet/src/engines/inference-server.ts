// Inference servers of other projects, scripted: they speak the part of each API that a worker uses, over real sockets,
// and their tokens are those of the simulated engine. The formats are those of the projects' own sources, 2026-11.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { close, listen } from '../listening.ts';
import { simulatedAnswer } from './simulated-engine.ts';
import { VOCABULARY_SIZE } from './simulated-vocabulary.ts';

export type InferenceServerKind = 'llama-server' | 'vllm' | 'sglang' | 'tensorrt-llm';

/** What goes wrong in the middle of an answer. */
export type InferenceFault =
  | 'json'
  | 'shape'
  | 'huge'
  | 'token'
  | 'more'
  | 'none'
  | 'hang-up'
  | 'silence'
  | 'error'
  | 'early'
  | '500';

export interface InferenceServerOptions {
  readonly kind: InferenceServerKind;
  readonly tokensPerSecond?: number;
  /** Another seed is another model. */
  readonly modelSeed?: number;
  /** An answer ends after this many tokens; its last one is `endToken`. Undefined: only at the limit. */
  readonly answerTokens?: number;
  readonly endToken?: number;
  /** Options that it refuses with 400, as servers without the feature do: `grammar`, `logprobs`, `scores`. */
  readonly refuses?: readonly string[];
  readonly tokenize?: (text: string) => Promise<readonly number[]>;
  /** Tokens of an answer that llama-server leaves out of its stream, as those that end within a character. */
  readonly silentTokens?: readonly number[];
}

// biome-ignore lint/suspicious/noExplicitAny: four formats of JSON, of which it reads a few fields
type Body = any;

interface Given {
  readonly tokens: readonly number[];
  readonly count: number;
  readonly isStreamed: boolean;
  readonly hasGrammar: boolean;
  /** Undefined: no log-probabilities. */
  readonly top: number | undefined;
  /** Log-probabilities of the prompt. */
  readonly isScore: boolean;
}

export interface InferenceServer extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the generations, in order. */
  readonly asked: readonly Body[];
  fault: InferenceFault | undefined;
  /** Ends all connections, and accepts no more, as a killed process does. */
  kill(): Promise<void>;
}

const CONTEXT = 4_096;
const own = (token: number) => ({ token, logprob: -0.5 });
const other = (token: number, i: number) => ({ token: (token + 1 + i) % VOCABULARY_SIZE, logprob: -2 - i });

const DIALECTS: Readonly<Record<InferenceServerKind, Dialect>> = {
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
};

interface Choice {
  readonly token: number;
  readonly logprob: number;
}
interface Scored {
  readonly wanted: Choice;
  readonly best: readonly Choice[];
}
interface Event extends Pick<Given, 'top'> {
  readonly fresh: readonly number[];
  readonly all: readonly number[];
  readonly ahead?: readonly number[];
  readonly end: 'stop' | 'length' | undefined;
  readonly scored?: readonly (Scored | undefined)[] | undefined;
}
interface Dialect {
  readonly path: string;
  readonly pages: Readonly<Record<string, unknown>>;
  readonly given: (body: Body) => Given;
  readonly event: (event: Event) => object;
  readonly done?: string;
}

const alternatives = (token: number, top: number): readonly Choice[] =>
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

export async function startInferenceServer(options: InferenceServerOptions): Promise<InferenceServer> {
  const { kind, tokensPerSecond, modelSeed = 1, answerTokens, endToken = 0, refuses = [], silentTokens = [] } = options;
  const dialect = DIALECTS[kind];
  const asked: Body[] = [];
  const truth = (tokens: readonly number[], count: number) => simulatedAnswer(tokens, { seed: 0, count, modelSeed });
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const port = await listen(server);
  const kill = async () => {
    if (!server.listening) return;
    const closed = close(server);
    server.closeAllConnections();
    await closed;
  };
  const running = { url: `http://127.0.0.1:${port}`, asked, fault: undefined as InferenceFault | undefined, kill };
  return Object.assign(running, { [Symbol.asyncDispose]: kill });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    if (method === 'GET') return reply(response, url === '/health' ? {} : dialect.pages[url]);
    const body: Body = await json(request);
    if (url === '/tokenize' && options.tokenize)
      return reply(response, { tokens: await options.tokenize(body.content ?? body.prompt) });
    if (url !== dialect.path) return reply(response, undefined);
    asked.push(body);
    const given = dialect.given(body);
    const wanted = {
      grammar: given.hasGrammar,
      logprobs: given.top !== undefined && !given.isScore,
      scores: given.isScore,
    };
    if (refuses.some((each) => Object.entries(wanted).some(([name, is]) => is && name === each)))
      return reply(response, { error: { message: 'not supported', type: 'invalid_request_error' } }, 400);
    // SGLang refuses the last position of its context too, other servers only more than their context.
    if (kind !== 'llama-server' && given.tokens.length + given.count >= CONTEXT)
      return reply(response, { error: { message: 'longer than the maximum context length' } }, 400);
    if (running.fault === '500') return reply(response, { error: { message: 'it broke' } }, 500);
    await answer(response, given);
  }

  async function answer(response: ServerResponse, given: Given): Promise<void> {
    const { tokens, count, isStreamed, top, isScore } = given;
    const generated = tokens.length - promptLength(tokens);
    const isEnded = answerTokens !== undefined && generated + count > answerTokens;
    const made = [...truth(tokens, isEnded ? answerTokens - generated : count), ...(isEnded ? [endToken] : [])];
    const end = isEnded ? 'stop' : 'length';
    const scored = isScore ? tokens.map((token, i) => scoredAt(tokens.slice(0, i), token, top ?? 1)) : undefined;
    const eventOf = (fresh: readonly number[], all: readonly number[], last = false): Event => ({
      ...{ fresh, all, top, scored, end: last ? end : undefined },
    });
    const sent = running.fault === 'none' ? [] : made;
    if (!isStreamed) return reply(response, dialect.event(eventOf(sent, sent, true)));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [i, token] of made.entries()) {
      if (tokensPerSecond) await setTimeout(1_000 / tokensPerSecond);
      if (i === 2 && running.fault && (await broken(response, running.fault, made.slice(0, 3)))) return;
      const isLast = i === made.length - 1;
      if (silentTokens.includes(token) && !isLast) continue;
      const isSeparate = kind === 'llama-server';
      const event = eventOf([token], made.slice(0, i + 1), isLast && !isSeparate);
      send(response, dialect.event({ ...event, ahead: made.slice(0, i + 2) }));
      if (isLast && isSeparate) send(response, dialect.event(eventOf([], made, true)));
    }
    response.end(dialect.done ? `data: ${dialect.done}\n\n` : undefined);
  }

  /** The margin of a token that the model would not draw is far larger than rounding. */
  function scoredAt(before: readonly number[], token: number, top: number): Scored | undefined {
    if (before.length === 0) return undefined;
    const [best = 0] = truth(before, 1);
    return { wanted: token === best ? own(best) : { token, logprob: -9 }, best: alternatives(best, Math.max(1, top)) };
  }

  /** True: the answer is over. */
  async function broken(response: ServerResponse, fault: InferenceFault, made: readonly number[]): Promise<boolean> {
    const event = (tokens: readonly number[], end?: 'length') =>
      send(response, dialect.event({ fresh: tokens, all: [...made.slice(0, 2), ...tokens], end, top: undefined }));
    if (fault === 'json') response.write('data: {"tokens": [1,\n\n');
    else if (fault === 'shape') send(response, { choices: 'none', tokens: 'none', output_ids: {} });
    else if (fault === 'huge') response.write(`data: "${'x'.repeat(3 * 1024 * 1024)}"\n\n`);
    else if (fault === 'token') event([VOCABULARY_SIZE]);
    else if (fault === 'more') event(Array.from({ length: 2_000 }, () => 400));
    else if (fault === 'error') send(response, { error: { message: 'out of memory with key sk-1', code: 500 } });
    else if (fault === 'early') event([400], 'length');
    else if (fault === 'hang-up') response.destroy();
    else if (fault === 'silence') return new Promise((resolve) => response.once('close', () => resolve(true)));
    return fault === 'hang-up';
  }
}

/** Where an answer begins in a prompt that it continues: prompts of tests end with this token. */
export const PROMPT_END = 3;
const promptLength = (tokens: readonly number[]): number => tokens.lastIndexOf(PROMPT_END) + 1 || tokens.length;

function send(response: ServerResponse, event: object): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function reply(response: ServerResponse, page: unknown, status = page === undefined ? 404 : 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(page ?? {}));
}
