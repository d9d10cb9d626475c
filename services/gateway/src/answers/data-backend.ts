// Backend without a language model: finds the tool of the stack service that a question asks for, and answers with its numbers. No token is
// read or generated, so its usage is zero.
import { StackClient, StackProblem } from '@strata/client';
import { type ChatMessage, type ChatRequest, CompletionError, type Generation, StopScanner } from '@strata/inference';
import { chatAnswer, intentOf } from '@strata/questions';
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
    return { promptTokens: 0, choices: Array.from({ length: request.choices }, () => this.#choice(texts, request)) };
  }

  async planText(): Promise<Plan> {
    throw unsupported('This model only answers chats.');
  }

  async planEmbeddings(): Promise<EmbeddingPlan> {
    throw unsupported('This model has no embeddings.');
  }

  #choice(texts: readonly string[], { stops }: Pick<Generation, 'stops'>): Plan['choices'][number] {
    const [client, baseUrl] = [this.#client, this.#baseUrl];
    return {
      prompt: 0,
      deltas: async function* ({ signal }) {
        const paragraphs = await chatAnswer(texts, { client, baseUrl, signal }).catch(asRefusal);
        yield { kind: 'begin' };
        const scanner = new StopScanner(stops);
        for (const [at, paragraph] of paragraphs.entries()) {
          const { text, stop } = scanner.push(separator(paragraphs[at - 1], paragraph) + paragraph);
          yield { kind: 'text', text };
          if (stop !== undefined) return yield { kind: 'end', reason: 'stop' };
        }
        yield { kind: 'text', text: scanner.end() };
        yield { kind: 'end', reason: 'stop' };
      },
    };
  }
}

/**
 * The model that answers a request: for a question about the data that is put to a model which is too small to call tools, the data. The
 * answer names the model that gave it.
 */
export function answeringModel(models: Models, request: ChatRequest): ServedModel {
  const asked = models.get(request.model);
  const { parameters } = asked.backend.facts;
  if (
    !models.has(DATA_MODEL) ||
    parameters === null ||
    parameters >= MIN_TOOL_PARAMETERS ||
    !isPlainChat(request) ||
    request.tools.length > 0
  )
    return asked;
  const [last = '', earlier] = userTexts(request.messages).slice(-2).reverse();
  return intentOf(last, earlier)?.isAboutData ? models.get(DATA_MODEL) : asked;
}

/** Also a chat whose tools need not be called. */
const isPlainChat = ({ toolChoice, format, topLogprobs }: ChatRequest): boolean =>
  (toolChoice === 'auto' || toolChoice === 'none') && format.kind === 'text' && topLogprobs === undefined;

const userTexts = (messages: readonly ChatMessage[]): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' && content ? [content] : []));

/** Markdown: items of a list stay together, everything else is a paragraph. */
function separator(before: string | undefined, text: string): string {
  if (before === undefined) return '';
  return isItem(before) && isItem(text) ? '\n' : '\n\n';
}

const isItem = (line: string) => /^(?:-|\d{1,3}\.) /.test(line);

const unsupported = (message: string) => new CompletionError('unsupported_value', message, { param: 'model' });

/** Rejects with a refusal for a service that cannot answer; its details are for the operator. */
function asRefusal(cause: unknown): never {
  if (!(cause instanceof StackProblem)) throw cause;
  const retryAfterMs = cause.retryAfterSeconds === null ? RETRY_MS : cause.retryAfterSeconds * 1_000;
  throw new CompletionError('overloaded', 'The data cannot be read at present.', { cause, retryAfterMs });
}
