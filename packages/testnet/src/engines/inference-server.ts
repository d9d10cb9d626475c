// Inference servers of other projects, scripted: they speak the part of each API that a worker uses, over real sockets,
// and their tokens are those of the simulated engine.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { close, listen } from '../listening.ts';
import {
  alternatives,
  type Body,
  CONTEXT,
  DIALECTS,
  type Event,
  type Given,
  type InferenceServerKind,
  own,
  type Scored,
} from './inference-dialects.ts';
import { simulatedAnswer } from './simulated-engine.ts';
import { VOCABULARY_SIZE } from './simulated-vocabulary.ts';

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
  /** Nothing answers, and the health page says so. */
  | 'hang'
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
  /** Tokens that a server without token ids adds to a prompt. */
  readonly added?: number;
  /** Whether it has embeddings, which depend on the length of a text; `only`: and generates nothing. */
  readonly embeddings?: 'also' | 'only';
  /** Tokens of an answer that llama-server leaves out of its stream, as those that end within a character. */
  readonly silentTokens?: readonly number[];
}

export interface InferenceServer extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the generations, in order. */
  readonly asked: readonly Body[];
  fault: InferenceFault | undefined;
  /** Ends all connections, and accepts no more, as a killed process does. */
  kill(): Promise<void>;
}

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
    const isHanging = running.fault === 'hang';
    if (method === 'GET')
      return reply(response, url === '/health' ? {} : dialect.pages[url], isHanging ? 503 : undefined);
    const body: Body = await json(request);
    if (url === '/tokenize' && options.tokenize)
      return reply(response, { tokens: await options.tokenize(body.content ?? body.prompt) });
    if (url === '/v1/embeddings' && options.embeddings)
      return reply(response, { data: body.input.map((text: string) => ({ embedding: [text.length, 0, 1] })) });
    if (url !== dialect.path || options.embeddings === 'only') return reply(response, undefined);
    asked.push(body);
    if (isHanging) return;
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
    const { tokenize, added = 0 } = options;
    const counted = kind === 'openai' && tokenize ? (await tokenize(body.prompt)).length + added : undefined;
    await answer(response, given, counted === undefined ? {} : { usage: { prompt_tokens: counted } });
  }

  async function answer(response: ServerResponse, given: Given, more: object): Promise<void> {
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
    if (!isStreamed) return reply(response, { ...dialect.event(eventOf(sent, sent, true)), ...more });
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
