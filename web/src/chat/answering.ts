// Answers under way: they go on whatever the page shows meanwhile, and end when they are whole, stopped or broken.
import { type Answer, type Conversation, change, find, newId, type Settings, type Turn } from './conversations.ts';
import { type AnswerEvent, askChat, askReceipt, InferenceProblem } from './inference.ts';
import { currentKey } from './key.ts';

const running = new Map<string, AbortController>();

/** A receipt is there a moment after the last token. */
const RECEIPT_TRIES_MS = [0, 250, 1_000, 3_000];

/** Ends the answer that a conversation waits for; what has come stays. */
export function stop(conversationId: string): void {
  running.get(conversationId)?.abort();
}

export const isRunning = ({ turns }: Pick<Conversation, 'turns'>): boolean => {
  const last = turns.at(-1);
  return last?.role === 'assistant' && last.state === 'running';
};

/** What is sent for a conversation whose last turn is a question. */
export function requestOf({ settings, turns, sentFrom }: Conversation, model: string): string {
  const messages = turns
    .slice(sentFrom)
    .filter(({ role, text }) => role === 'user' || text !== '')
    .map(({ role, text }) => ({ role, content: text }));
  const system = settings.system?.trim() ? [{ role: 'system', content: settings.system }] : [];
  return JSON.stringify({
    model,
    messages: [...system, ...messages],
    stream: true,
    stream_options: { include_usage: true },
    ...parametersOf(settings),
  });
}

function parametersOf(settings: Settings): Record<string, unknown> {
  return {
    temperature: settings.temperature,
    top_p: settings.topP,
    max_tokens: settings.maxTokens,
    seed: settings.seed,
    stop: settings.stop || undefined,
    presence_penalty: settings.presencePenalty,
    frequency_penalty: settings.frequencyPenalty,
  };
}

/** Asks for an answer to a conversation's last question, and writes it there as it comes. */
export async function answerTo(conversationId: string, model: string): Promise<void> {
  const conversation = find(conversationId);
  if (!conversation || running.has(conversationId)) return;
  const body = requestOf(conversation, model);
  const controller = new AbortController();
  running.set(conversationId, controller);
  const id = newId();
  const first = emptyAnswer(id, model);
  change(conversationId, (one) => ({ ...one, changedAt: Date.now(), turns: [...one.turns, first] }));
  const draft = new Draft(first, (answer) =>
    change(conversationId, (one) => ({ ...one, turns: one.turns.map((turn) => (turn.id === id ? answer : turn)) })),
  );
  const progress = new Progress();
  const requestSha256 = await sha256(body);
  const key = currentKey();
  let receiptId: string | null = null;
  try {
    for await (const event of askChat(body, key, controller.signal)) {
      if (event.kind === 'begun') receiptId = event.receiptId;
      progress.see(event, performance.now());
      draft.change((answer) => ({ ...withEvent(answer, event), ...progress.figures(), requestSha256 }));
    }
    draft.change((answer) => ({ ...answer, state: 'whole' }));
  } catch (error) {
    const problem = controller.signal.aborted ? null : problemOf(error);
    draft.change((answer) => ({ ...answer, state: problem ? 'broken' : 'stopped', problem }));
  } finally {
    running.delete(conversationId);
    draft.show();
  }
  if (receiptId !== null) await addSegments(receiptId, key, draft);
}

/** Pieces come faster than anybody reads; the page is drawn so often. */
const SHOW_MS = 40;

/** An answer as far as it has come, shown a little later than it came. */
class Draft {
  #answer: Answer;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #show: (answer: Answer) => void;

  constructor(answer: Answer, show: (answer: Answer) => void) {
    this.#answer = answer;
    this.#show = show;
  }

  change(to: (answer: Answer) => Answer): void {
    this.#answer = to(this.#answer);
    this.#timer ??= setTimeout(() => this.show(), SHOW_MS);
  }

  /** At once. */
  show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#show(this.#answer);
  }
}

/** Times and counts of an answer, as seen from here. */
class Progress {
  readonly #askedAt = performance.now();
  #firstAt: number | null = null;
  #lastAt = 0;
  #pauseMs: number | null = null;

  see({ kind }: AnswerEvent, now: number): void {
    if (kind !== 'text') return;
    if (this.#firstAt === null) this.#firstAt = now;
    else this.#pauseMs = Math.max(this.#pauseMs ?? 0, now - this.#lastAt);
    this.#lastAt = now;
  }

  figures() {
    const firstTokenMs = this.#firstAt === null ? null : this.#firstAt - this.#askedAt;
    const writingMs = this.#firstAt === null ? null : this.#lastAt - this.#firstAt;
    return { firstTokenMs, writingMs, pauseMs: this.#pauseMs };
  }
}

function withEvent(answer: Answer, event: AnswerEvent): Answer {
  switch (event.kind) {
    case 'begun':
      return { ...answer, receiptId: event.receiptId };
    case 'text':
      // A piece is a token nearly always; the count at the end is the service's.
      return { ...answer, text: answer.text + event.text, tokens: (answer.tokens ?? 0) + 1 };
    case 'finished':
      return { ...answer, finishReason: event.reason };
    case 'usage':
      return { ...answer, promptTokens: event.usage.prompt_tokens, tokens: event.usage.completion_tokens };
    default:
      return event satisfies never;
  }
}

function emptyAnswer(id: string, model: string): Answer {
  return {
    role: 'assistant',
    id,
    model,
    text: '',
    state: 'running',
    askedAt: Date.now(),
    finishReason: null,
    firstTokenMs: null,
    writingMs: null,
    promptTokens: null,
    tokens: null,
    pauseMs: null,
    receiptId: null,
    requestSha256: null,
    segments: null,
    problem: null,
  };
}

async function addSegments(receiptId: string, key: string | undefined, draft: Draft): Promise<void> {
  for (const wait of RECEIPT_TRIES_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const receipt = await askReceipt(receiptId, key, AbortSignal.timeout(10_000)).catch(() => undefined);
    if (!receipt) continue;
    const segments = (receipt.segments ?? []).map(({ worker, from, to }) => ({ worker, from, to }));
    draft.change((answer) => ({ ...answer, segments }));
    draft.show();
    return;
  }
}

function problemOf(error: unknown): Answer['problem'] {
  if (!(error instanceof InferenceProblem))
    return { code: 'failed', message: 'The answer cannot be read.', requestId: null, retryAt: null };
  const { code, message, requestId, retryAfterMs } = error;
  return { code, message, requestId, retryAt: retryAfterMs === null ? null : Date.now() + retryAfterMs };
}

/** Hex; null where the page came over plain HTTP from another machine, which browsers give no digests. */
export async function sha256(text: string): Promise<string | null> {
  if (!globalThis.crypto?.subtle) return null;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The digest that a receipt has of such an answer: of its canonical form (RFC 8785), which for this object is its JSON with sorted names. */
export function digestOfAnswer({ text, finishReason }: Pick<Answer, 'text' | 'finishReason'>): Promise<string | null> {
  return sha256(JSON.stringify([{ content: text, finish_reason: finishReason, tool_calls: [] }]));
}

/** About so many tokens: what the service counted for the last answer, and a guess for what came after. */
export function tokensOf(turns: readonly Turn[], more: string): number {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant' && turn.promptTokens !== null);
  const counted = turns[at];
  const known = counted?.role === 'assistant' ? (counted.promptTokens ?? 0) + (counted.tokens ?? 0) : 0;
  const text = turns.slice(at + 1).reduce((all, turn) => all + turn.text.length, more.length);
  return known + Math.ceil(text / CHARACTERS_PER_TOKEN);
}

/** Of English text, roughly. */
const CHARACTERS_PER_TOKEN = 4;
