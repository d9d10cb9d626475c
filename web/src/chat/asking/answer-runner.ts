// Running answers: they continue whatever the page shows, and end when they are complete, stopped or failed.
import { type AnswerEvent, AnswerSpeed, type InferenceClient, InferenceProblem } from '@strata/client';
import {
  type Answer,
  type AnswerProblem,
  type Conversation,
  changeTime,
  isRunning,
  newId,
  pathOf,
  withTurn,
} from '../conversation/conversation.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { requestOf } from './request.ts';

interface AnswerRunnerDeps {
  readonly store: ConversationStore;
  readonly client: Pick<InferenceClient, 'answer' | 'receipt'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** The receipt of an interrupted answer is available shortly after the interruption. */
const RECEIPT_TRIES_MS = [0, 250, 1_000, 3_000];
const RECEIPT_MS = 10_000;
/**
 * A stop requested by another tab is dated this far ahead, so that it overrides everything that the writing tab stores
 * before it receives the stop; a tab that is not frozen receives it immediately.
 */
const STOP_AHEAD_MS = 60_000;
/** Characters of an answer. Browsers store about five million characters per site. */
const MAX_TEXT = 2_000_000;
/** Minimum interval between two updates of the page while text arrives. */
const PUBLISH_MS = 40;
/** Characters of a service's error message that are stored. */
const MAX_MESSAGE = 1_000;

export class AnswerRunner {
  readonly #deps: AnswerRunnerDeps;
  /** By answer id. */
  readonly #drafts = new Map<string, Draft>();

  constructor(deps: AnswerRunnerDeps) {
    this.#deps = deps;
  }

  /** Requests an answer to the last question of a conversation's path and stores it as it arrives. Never rejects. */
  async run(conversationId: string, model: string): Promise<void> {
    const { store, client, now } = this.#deps;
    const conversation = store.find(conversationId);
    const question = conversation && pathOf(conversation).at(-1);
    if (!conversation || question?.role !== 'user') return;
    const request = requestOf(conversation, model);
    const first = emptyAnswer({ parent: question.id, model, at: now() });
    store.change(conversationId, (one) => withTurn(one, first, now()));
    const draft = new Draft(first, now, (answer) => storeAnswer(store, conversationId, answer));
    this.#drafts.set(first.id, draft);
    const timings = new AnswerSpeed(performance.now());
    try {
      for await (const event of client.answer(request, { signal: draft.signal })) {
        timings.record(event, performance.now());
        draft.change((answer) => ({ ...withEvent(answer, event), ...timings.figures() }));
        if (draft.answer.text.length > MAX_TEXT) throw tooLong();
      }
      draft.end((answer) => ({ ...answer, state: 'whole' }));
    } catch (error) {
      draft.end((answer) => ({ ...answer, state: 'broken', problem: problemOf(error, now()) }));
    } finally {
      this.#drafts.delete(first.id);
    }
    await this.#addReceipt(conversationId, draft.answer);
  }

  /** Ends the running answer of a conversation's path, whichever tab writes it; the received text is kept. */
  stop(conversationId: string): void {
    const { store, now } = this.#deps;
    const conversation = store.find(conversationId);
    const last = conversation && isRunning(conversation) ? pathOf(conversation).at(-1) : undefined;
    if (!last) return;
    const draft = this.#drafts.get(last.id);
    if (draft) draft.stop();
    else {
      store.changeAnswer(conversationId, last.id, (answer) => ({
        ...answer,
        state: 'stopped',
        at: changeTime(answer, now() + STOP_AHEAD_MS),
      }));
      store.write();
    }
  }

  /** Marks the answers of this tab as still being written, also while no text arrives. */
  heartbeat(): void {
    for (const draft of this.#drafts.values()) draft.publish();
  }

  /** Before the page closes: stops all answers and stores the received text. */
  stopAll(): void {
    for (const draft of this.#drafts.values()) draft.stop();
    this.#deps.store.write();
  }

  /** Adds the workers and token counts of the receipt to the answer it belongs to. */
  async #addReceipt(conversationId: string, { id, receiptId }: Answer): Promise<void> {
    const { store, client, now, sleep } = this.#deps;
    if (receiptId === null) return;
    for (const wait of RECEIPT_TRIES_MS) {
      await sleep(wait);
      const signal = AbortSignal.timeout(RECEIPT_MS);
      const receipt = await client.receipt(receiptId, { signal }).catch(() => undefined);
      if (!receipt) continue;
      const { segments = [], usage, model } = receipt.body;
      store.changeAnswer(conversationId, id, (answer) => ({
        ...answer,
        at: changeTime(answer, now()),
        // A question about the data is answered by another model than the requested one.
        model: model?.id ?? answer.model,
        promptTokens: answer.promptTokens ?? usage?.prompt_tokens ?? null,
        tokens: answer.tokens ?? usage?.completion_tokens ?? null,
        segments: segments.map(({ worker, from, to }) => ({ worker, from, to })),
      }));
      return;
    }
  }
}

/** Stores the answer; false if it was deleted, or stopped in another tab: then the received text is kept. */
function storeAnswer(store: ConversationStore, conversationId: string, answer: Answer): boolean {
  let isRunning = false;
  store.changeAnswer(conversationId, answer.id, (shown) => {
    isRunning = shown.state === 'running';
    return isRunning ? answer : { ...answer, state: 'stopped', at: changeTime(shown, answer.at) };
  });
  return isRunning;
}

/** The text received so far, published with a short delay. */
class Draft {
  answer: Answer;
  readonly #now: () => number;
  readonly #publishAnswer: (answer: Answer) => boolean;
  readonly #ending = new AbortController();
  #publishTimer: ReturnType<typeof setTimeout> | undefined;

  /** `publish` returns false if the answer is no longer needed. */
  constructor(answer: Answer, now: () => number, publish: (answer: Answer) => boolean) {
    this.answer = answer;
    this.#now = now;
    this.#publishAnswer = publish;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  change(to: (answer: Answer) => Answer): void {
    if (this.#ending.signal.aborted) return;
    this.answer = to(this.answer);
    this.#publishTimer ??= setTimeout(() => this.publish(), PUBLISH_MS);
  }

  /** Nothing changes after this. */
  end(to: (answer: Answer) => Answer): void {
    if (this.#ending.signal.aborted) return;
    this.answer = to(this.answer);
    this.publish();
    this.#close();
  }

  stop(): void {
    this.end((answer) => ({ ...answer, state: 'stopped' }));
  }

  /** Publishes the current text immediately, with a new timestamp. */
  publish(): void {
    if (this.#ending.signal.aborted) return;
    clearTimeout(this.#publishTimer);
    this.#publishTimer = undefined;
    this.answer = { ...this.answer, at: changeTime(this.answer, this.#now()) };
    if (!this.#publishAnswer(this.answer)) this.#close();
  }

  #close(): void {
    clearTimeout(this.#publishTimer);
    this.#ending.abort();
  }
}

function withEvent(answer: Answer, event: AnswerEvent): Answer {
  switch (event.kind) {
    case 'begun':
      return { ...answer, receiptId: event.receiptId, salt: event.salt, requestSha256: event.requestSha256 };
    case 'text':
      return { ...answer, text: answer.text + event.text };
    case 'finished':
      return { ...answer, finishReason: event.reason };
    case 'usage': {
      const { promptTokens, completionTokens, reasoningTokens } = event.usage;
      return { ...answer, promptTokens, tokens: completionTokens, reasoningTokens };
    }
    case 'reasoning':
    case 'whole':
      return answer;
    default:
      return event satisfies never;
  }
}

function emptyAnswer({ parent, model, at }: Pick<Answer, 'parent' | 'model' | 'at'>): Answer {
  return {
    role: 'assistant',
    id: newId(),
    parent,
    askedAt: at,
    at,
    text: '',
    state: 'running',
    model,
    finishReason: null,
    firstTokenMs: null,
    writingMs: null,
    pauseMs: null,
    promptTokens: null,
    tokens: null,
    reasoningTokens: null,
    receiptId: null,
    salt: null,
    requestSha256: null,
    segments: null,
    problem: null,
  };
}

const tooLong = () =>
  new InferenceProblem({
    status: 200,
    code: 'answer_too_long',
    type: 'invalid_answer',
    message: 'The answer exceeds the maximum length of this page and was stopped.',
  });

function problemOf(error: unknown, now: number): AnswerProblem {
  if (!(error instanceof InferenceProblem))
    return { code: 'failed', message: 'The answer could not be read.', requestId: null, retryAt: null };
  const { code, message, requestId, retryAfterSeconds } = error;
  const retryAt = retryAfterSeconds === null ? null : now + retryAfterSeconds * 1_000;
  return { code: code ?? 'failed', message: message.slice(0, MAX_MESSAGE), requestId, retryAt };
}

/** The conversation with its path ending before the answer, which can be requested again; the answer stays a version. */
export function rewoundBefore(conversation: Conversation, answer: Answer, at: number): Conversation {
  return { ...conversation, head: answer.parent, headAt: at };
}
