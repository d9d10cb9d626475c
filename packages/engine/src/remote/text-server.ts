// Servers without token ids: OpenAI's completions API as text (Ollama, LM Studio, TGI, LiteLLM …). Prompts are sent as the
// text of their tokens, and answers become tokens by the vocabulary of the worker; both must be exact.
import type { ChatMessage } from '@strata/inference';
import { z } from 'zod';
import { EngineError, type Job } from '../engine.ts';
import { embedAll } from '../upstream/embeddings.ts';
import { failed } from '../upstream/errors.ts';
import type { UpstreamHttp } from '../upstream/http.ts';
import type { ModelVocabulary } from '../vocabulary/vocabulary-engine.ts';
import { type Dialect, type GenerateAsk, read, seedOf } from './dialect.ts';

/** How prompts of a server are written. */
export interface PromptText {
  readonly vocabulary: Pick<ModelVocabulary, 'tokenize' | 'detokenize' | 'bytes' | 'spell'>;
  /** The token that the server adds in front of a prompt; undefined: none. */
  readonly added?: number | undefined;
}

const chunk = z.object({
  choices: z.array(z.object({ text: z.string().nullish(), finish_reason: z.string().nullish() })).max(1),
});

export const TEXT_SERVER: Dialect = {
  kind: 'openai',
  lacks: ['grammar', 'logprobs', 'scores', 'draws', 'replay', 'continuation'],
  path: '/v1/completions',
  health: '/v1/models',
  // Nothing is known of its load.
  answersHealth: false,
  body: ({ model, job, text, count, isStreamed }) => ({
    ...{ model, prompt: text, max_tokens: count, stream: isStreamed, ...optionsOf(job) },
  }),
  reader: (_ask: GenerateAsk) => (value) => {
    const [only] = read(chunk, value, 'an invalid event').choices;
    return { tokens: [], text: only?.text ?? '', end: endOf(only?.finish_reason) };
  },
};

/** Many servers refuse names that are not OpenAI's: only those that have an effect. */
function optionsOf(job: Job): object {
  const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, logitBias } = job.sampling;
  return {
    ...{ temperature, top_p: topP, seed: seedOf(job, 2 ** 31) },
    ...(topK === 0 ? {} : { top_k: topK }),
    ...(minP === 0 ? {} : { min_p: minP }),
    ...(presencePenalty === 0 ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === 0 ? {} : { frequency_penalty: frequencyPenalty }),
    ...(logitBias.size === 0 ? {} : { logit_bias: Object.fromEntries(logitBias) }),
  };
}

function endOf(reason: string | null | undefined): 'stop' | 'length' | undefined {
  // As some servers name the end token.
  if (reason === 'stop' || reason === 'eos_token') return 'stop';
  if (reason === 'length') return 'length';
  if (!reason) return undefined;
  throw failed(`ended the answer for no known reason (${reason.slice(0, 40)})`);
}

/** The text of which the server makes these tokens. Rejects with EngineError `unsupported` if no text has them. */
export async function textOf(tokens: readonly number[], { vocabulary, added }: PromptText): Promise<string> {
  const written = added === undefined ? tokens : tokens.slice(1);
  const text = await vocabulary.spell(written);
  const again = await vocabulary.tokenize(text, { hasControl: true });
  if ((added === undefined || tokens[0] === added) && again.join() === written.join()) return text;
  throw new EngineError('unsupported', 'the engine has no token ids, and this prompt cannot be written as text');
}

/** Tokens with exactly this text. Rejects with EngineError `upstream-failed` if the vocabulary has none. */
export async function tokensOf(text: string, vocabulary: PromptText['vocabulary']): Promise<readonly number[]> {
  if (text === '') return [];
  const isExact = async (tokens: readonly number[]) =>
    Buffer.concat(await vocabulary.bytes(tokens)).equals(Buffer.from(text, 'utf8'));
  const plain = await vocabulary.tokenize(text);
  if (await isExact(plain)) return plain;
  // SentencePiece begins a text with a space, which a text in the middle of an answer does not have.
  const [line, continued] = await Promise.all([vocabulary.tokenize('\n'), vocabulary.tokenize(`\n${text}`)]);
  const rest = continued.slice(line.length);
  if (continued.slice(0, line.length).join() === line.join() && (await isExact(rest))) return rest;
  throw failed('sent text that is not in the vocabulary');
}

const counted = z.object({ usage: z.object({ prompt_tokens: z.int().min(0) }) });
const PROBE_TEXT = 'The quick brown fox jumps over 13 lazy dogs; a vocabulary shows itself.\n';
const MESSAGES: readonly ChatMessage[] = [{ role: 'user', content: 'What is 2 + 2?' }];

interface Checking {
  readonly model: string;
  readonly vocabulary: ModelVocabulary;
  /** The token at the beginning of a text in the model's vocabulary. */
  readonly bos: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Compares the tokens that the server counts in prompts with those of the vocabulary: a server with a template of its own,
 * with another vocabulary, or without control tokens is refused with EngineError `model-unusable`. Returns what it adds.
 */
export async function checkText(http: UpstreamHttp, checking: Checking): Promise<Pick<PromptText, 'added'>> {
  const { model, vocabulary, bos, signal } = checking;
  const countOf = async (prompt: string) => {
    const body = { model, prompt, max_tokens: 1, temperature: 0 };
    const answer = await http.json({ path: TEXT_SERVER.path, body, signal });
    return read(counted, answer, 'no count of the tokens of a prompt (usage.prompt_tokens)').usage.prompt_tokens;
  };
  const plain = await vocabulary.tokenize(PROBE_TEXT);
  const surplus = (await countOf(PROBE_TEXT)) - plain.length;
  if (surplus !== 0 && (surplus !== 1 || bos === undefined)) throw changed(http, plain.length, surplus);
  const text = { vocabulary, added: surplus === 1 ? bos : undefined };
  if (!vocabulary.facts.hasChatTemplate) return text;
  const rendered = await vocabulary.render({ messages: MESSAGES, tools: [] });
  const more = (await countOf(await textOf(rendered, text))) - rendered.length;
  if (more !== 0) throw changed(http, rendered.length, more);
  return text;
}

function changed({ base }: UpstreamHttp, tokens: number, surplus: number): EngineError {
  const found = `${base} counts ${tokens + surplus} tokens in a prompt of ${tokens}`;
  return new EngineError(
    'model-unusable',
    `${found}: --model is of another vocabulary, or the server has a template of its own, which its completions must not use (Ollama: TEMPLATE {{ .Prompt }})`,
  );
}

/** Vectors of length 1, of servers of all kinds. */
export const embedTexts = async (http: UpstreamHttp, asked: Omit<Parameters<typeof embedAll>[1], 'path'>) =>
  (await embedAll(http, { path: '/v1/embeddings', ...asked })).vectors;

/** An input as text, so that the server adds the tokens that its model expects around it. */
export async function inputOf(
  tokens: readonly number[],
  vocabulary: Pick<ModelVocabulary, 'tokenize' | 'spell'>,
): Promise<string> {
  const text = await vocabulary.spell(tokens);
  if ((await vocabulary.tokenize(text)).join() === tokens.join()) return text;
  throw new EngineError('unsupported', 'the engine embeds texts, and these tokens are not those of a text');
}
