// Backend without a language model: finds the tool of the stack service that a question asks for, and answers with its numbers. No token is
// read or generated, so its usage is zero.
import { StackClient, StackProblem } from '@strata/client';
import {
  type ChatMessage,
  type ChatRequest,
  CompletionError,
  callableTools,
  type Generation,
  StopScanner,
} from '@strata/inference';
import { chatAnswer, conditionCount, type Intent, intentOf } from '@strata/questions';
import type { Backend, BackendFacts, EmbeddingPlan, Plan } from './backend.ts';
import { DATA_MODEL, type Models, type ServedModel } from './models.ts';

/** For one request to the stack service; an answer takes a few. */
const TIMEOUT_MS = 10_000;
const RETRY_MS = 10_000;
/** Concurrent answers, and so requests to the stack service. */
const SLOTS = 16;
/** Smaller language models cannot call tools, and know no facts. */
const MIN_TOOL_PARAMETERS = 100_000_000;

export interface DataBackendOptions {
  /** Origin of the stack service. */
  readonly baseUrl: string;
  readonly key: string;
}

export class DataBackend implements Backend {
  readonly isReady = true;
  readonly isLoaded = true;
  readonly verified = { level: 'pinned', reason: 'a program of this gateway answers, without a model file' } as const;
  readonly facts: BackendFacts = {
    ...{ name: 'Answers from the data, without a language model', engine: DATA_MODEL, slots: SLOTS },
    ...{ sha256: null, contextLength: null, parameters: null, quantisation: null, sizeBytes: null },
  };
  readonly #baseUrl: string;
  readonly #client: StackClient;

  constructor({ baseUrl, key }: DataBackendOptions) {
    this.#baseUrl = baseUrl;
    this.#client = new StackClient({ baseUrl, key, timeoutMs: TIMEOUT_MS });
  }

  async planChat(request: ChatRequest): Promise<Plan> {
    if (!isPlainChat(request))
      throw unsupported('This model writes plain text: it has no tools, JSON formats and log-probabilities.');
    const texts = userTexts(request.messages);
    // All choices have the same text, and the signal of the request.
    let answer: Promise<readonly string[]> | undefined;
    const paragraphs = (signal: AbortSignal) => {
      const [client, baseUrl] = [this.#client, this.#baseUrl];
      answer ??= chatAnswer(texts, { client, baseUrl, signal }).catch(asRefusal);
      return answer;
    };
    return {
      ...{ promptTokens: 0, answerTokens: 0 },
      requests: Math.max(askedIn(texts)?.subjects.length ?? 1, conditionsIn(texts)),
      choices: Array.from({ length: request.choices }, () => choiceOf(paragraphs, request)),
    };
  }

  async planText(): Promise<Plan> {
    throw unsupported('This model only answers chats.');
  }

  async planEmbeddings(): Promise<EmbeddingPlan> {
    throw unsupported('This model has no embeddings.');
  }
}

function choiceOf(
  answer: (signal: AbortSignal) => Promise<readonly string[]>,
  { stops }: Pick<Generation, 'stops'>,
): Plan['choices'][number] {
  return {
    prompt: 0,
    deltas: async function* ({ signal }) {
      const paragraphs = await answer(signal);
      yield [{ kind: 'begin' }];
      const scanner = new StopScanner(stops);
      for (const [at, paragraph] of paragraphs.entries()) {
        const { text, stop } = scanner.push(separator(paragraphs[at - 1], paragraph) + paragraph);
        yield [{ kind: 'text', text }];
        if (stop !== undefined) return yield [{ kind: 'end', reason: 'stop' }];
      }
      yield [
        { kind: 'text', text: scanner.end() },
        { kind: 'end', reason: 'stop' },
      ];
    },
  };
}

/**
 * The model that answers a request: for a question about the data that is put to a model which is too small to call tools, the data. The
 * answer names the model that gave it.
 */
export function answeringModel(
  models: Models,
  request: ChatRequest,
  isAllowed: (model: string) => boolean = () => true,
): ServedModel {
  const asked = models.get(request.model, isAllowed);
  const { parameters } = asked.backend.facts;
  if (
    !models.has(DATA_MODEL) ||
    !isAllowed(DATA_MODEL) ||
    parameters === null ||
    parameters >= MIN_TOOL_PARAMETERS ||
    !isPlainChat(request) ||
    request.tools.length > 0
  )
    return asked;
  return isAboutData(userTexts(request.messages)) ? models.get(DATA_MODEL) : asked;
}

function askedIn(texts: readonly string[]): Intent | undefined {
  const [last = '', earlier] = texts.slice(-2).reverse();
  return intentOf(last, earlier);
}

const isAboutData = (texts: readonly string[]): boolean =>
  askedIn(texts)?.isAboutData === true || conditionsIn(texts) > 0;

function conditionsIn(texts: readonly string[]): number {
  const [last = '', earlier] = texts.slice(-2).reverse();
  return conditionCount(last, earlier);
}

/** Also a chat whose tools need not be called. */
const isPlainChat = ({ format, topLogprobs, ...request }: ChatRequest): boolean =>
  !callableTools(request).isCallForced && format.kind === 'text' && topLogprobs === undefined;

const userTexts = (messages: readonly ChatMessage[]): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' && content ? [content] : []));

/** Markdown: items of a list stay together, everything else is a paragraph. */
function separator(before: string | undefined, text: string): string {
  if (before === undefined) return '';
  return isItem(before) && isItem(text) ? '\n' : '\n\n';
}

const isItem = (line: string) => /^(?:-|\d{1,3}\.) /.test(line);

const unsupported = (message: string) => new CompletionError('unsupported_value', message, { param: 'model' });

/** Says what cannot be asked. Rejects with a refusal for a service that cannot answer; its details are for the operator. */
function asRefusal(cause: unknown): readonly string[] {
  if (!(cause instanceof StackProblem)) throw cause;
  if (cause.status === 400) return ['I could not ask this: the data service refuses the query. Use other conditions.'];
  const retryAfterMs = cause.retryAfterSeconds === null ? RETRY_MS : cause.retryAfterSeconds * 1_000;
  throw new CompletionError('overloaded', 'The data cannot be read at present.', { cause, retryAfterMs });
}
