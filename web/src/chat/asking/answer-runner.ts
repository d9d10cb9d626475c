// Answers under way: they go on whatever the page shows meanwhile, and end when they are whole, stopped or broken.
import { type AnswerEvent, AnswerPace, type InferenceClient, InferenceProblem } from '@strata/client';
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

export interface AnsweringDeps {
  readonly store: ConversationStore;
  readonly client: Pick<InferenceClient, 'answer' | 'receipt'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Of an answer that was cut off the receipt is there a moment later. */
const RECEIPT_TRIES_MS = [0, 250, 1_000, 3_000];
const RECEIPT_MS = 10_000;
/**
 * Dated so far ahead, a stop that another tab asks for counts against all that the answer's writer says before it hears of
 * it; a tab that is not frozen hears at once.
 */
const STOP_AHEAD_MS = 60_000;
/** Characters of an answer: a browser keeps some five million of a site, and shows far fewer with ease. */
const MAX_TEXT = 2_000_000;
/** Pieces come faster than anybody reads; the page is drawn so often. */
const SHOW_MS = 40;
/** Of a service's words on what went wrong; they are kept. */
const MAX_MESSAGE = 1_000;

export class Answering {
  readonly #deps: AnsweringDeps;
  /** By the answer's id. */
  readonly #drafts = new Map<string, Draft>();

  constructor(deps: AnsweringDeps) {
    this.#deps = deps;
  }

  /** Asks for an answer to the question that a conversation's path ends in, and writes it there as it comes. Never rejects. */
  async answer(conversationId: string, model: string): Promise<void> {
    const { store, client, now } = this.#deps;
    const conversation = store.find(conversationId);
    const question = conversation && pathOf(conversation).at(-1);
    if (!conversation || question?.role !== 'user') return;
    const request = requestOf(conversation, model);
    const first = emptyAnswer({ parent: question.id, model, at: now() });
    store.change(conversationId, (one) => withTurn(one, first, now()));
    const draft = new Draft(first, now, (answer) => isTaken(store, conversationId, answer));
    this.#drafts.set(first.id, draft);
    const pace = new AnswerPace(performance.now());
    try {
      for await (const event of client.answer(request, { signal: draft.signal })) {
        pace.see(event, performance.now());
        draft.change((answer) => ({ ...withEvent(answer, event), ...pace.figures() }));
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

  /** Ends the answer that a conversation's path waits for, whichever tab writes it; what has come stays. */
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

  /** Other tabs hear that the answers of this one are still being written, also when no word comes. */
  tellAlive(): void {
    for (const draft of this.#drafts.values()) draft.tell();
  }

  /** Before the page goes away: what has come is written at once. */
  stopAll(): void {
    for (const draft of this.#drafts.values()) draft.stop();
    this.#deps.store.write();
  }

  /** Who made it, and what it counted, for the very answer that the receipt is of, whatever was asked meanwhile. */
  async #addReceipt(conversationId: string, { id, receiptId }: Answer): Promise<void> {
    const { store, client, now, sleep } = this.#deps;
    if (receiptId === null) return;
    for (const wait of RECEIPT_TRIES_MS) {
      await sleep(wait);
      const signal = AbortSignal.timeout(RECEIPT_MS);
      const receipt = await client.receipt(receiptId, { signal }).catch(() => undefined);
      if (!receipt) continue;
      const { segments = [], usage } = receipt.body;
      store.changeAnswer(conversationId, id, (answer) => ({
        ...answer,
        at: changeTime(answer, now()),
        promptTokens: answer.promptTokens ?? usage?.prompt_tokens ?? null,
        tokens: answer.tokens ?? usage?.completion_tokens ?? null,
        segments: segments.map(({ worker, from, to }) => ({ worker, from, to })),
      }));
      return;
    }
  }
}

/** False where the answer is gone, or was stopped in another tab: then it stays as far as it has come here. */
function isTaken(store: ConversationStore, conversationId: string, answer: Answer): boolean {
  let isRunning = false;
  store.changeAnswer(conversationId, answer.id, (shown) => {
    isRunning = shown.state === 'running';
    return isRunning ? answer : { ...answer, state: 'stopped', at: changeTime(shown, answer.at) };
  });
  return isRunning;
}

/** An answer as far as it has come, shown a little later than it came. */
class Draft {
  answer: Answer;
  readonly #now: () => number;
  readonly #show: (answer: Answer) => boolean;
  readonly #ending = new AbortController();
  #showing: ReturnType<typeof setTimeout> | undefined;

  /** `show` says false when nobody wants the answer any more. */
  constructor(answer: Answer, now: () => number, show: (answer: Answer) => boolean) {
    this.answer = answer;
    this.#now = now;
    this.#show = show;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  change(to: (answer: Answer) => Answer): void {
    if (this.#ending.signal.aborted) return;
    this.answer = to(this.answer);
    this.#showing ??= setTimeout(() => this.tell(), SHOW_MS);
  }

  /** Nothing changes after this. */
  end(to: (answer: Answer) => Answer): void {
    if (this.#ending.signal.aborted) return;
    this.answer = to(this.answer);
    this.tell();
    this.#close();
  }

  stop(): void {
    this.end((answer) => ({ ...answer, state: 'stopped' }));
  }

  /** Shows it at once as one that is alive. */
  tell(): void {
    if (this.#ending.signal.aborted) return;
    clearTimeout(this.#showing);
    this.#showing = undefined;
    this.answer = { ...this.answer, at: changeTime(this.answer, this.#now()) };
    if (!this.#show(this.answer)) this.#close();
  }

  #close(): void {
    clearTimeout(this.#showing);
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
    message: 'The answer is longer than this page can keep, and was stopped there.',
  });

function problemOf(error: unknown, now: number): AnswerProblem {
  if (!(error instanceof InferenceProblem))
    return { code: 'failed', message: 'The answer cannot be read.', requestId: null, retryAt: null };
  const { code, message, requestId, retryAfterSeconds } = error;
  const retryAt = retryAfterSeconds === null ? null : now + retryAfterSeconds * 1_000;
  return { code: code ?? 'failed', message: message.slice(0, MAX_MESSAGE), requestId, retryAt };
}

/** The conversation with its path ending before an answer, so that it is answered anew; the answer stays as a version. */
export function asked(conversation: Conversation, answer: Answer, at: number): Conversation {
  return { ...conversation, head: answer.parent, headAt: at };
}
