// What is asked of a worker besides answers: a question, and what comes back within its time.
import { bytesSha256, type FrameOf } from '@strata/inference';
import { WorkerLostError } from './worker-session.ts';

/** Reading an answer again takes as long as reading a prompt; embeddings likewise. */
const SCORE_LIMIT_MS = 60_000;
const EMBED_LIMIT_MS = 60_000;
/** Of the whole file, over a slow line. */
const VOCABULARY_LIMIT_MS = 120_000;
/** The largest vocabularies are a fifth of this. */
const MAX_VOCABULARY_BYTES = 64 * 1024 * 1024;

type Question = FrameOf<'score' | 'embed' | 'vocabularyAsk'>;
type Reply = FrameOf<'scored' | 'embedded' | 'vocabularyPart'>;

/** `more`: another one has to come. A breach is what no worker may say. */
type Taken<Result> =
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'more'; readonly ask: Question }
  | { readonly kind: 'breach'; readonly breach: string };

export interface Call<Result> {
  readonly question: Question;
  readonly limitMs: number;
  readonly take: (reply: Reply) => Taken<Result>;
}

interface Pending {
  readonly kind: Question['kind'];
  readonly take: (reply: Reply) => string | undefined;
  readonly fail: (error: unknown) => void;
}

export interface SessionCallsDeps {
  readonly peer: string;
  readonly send: (question: Question) => void;
  /** Hears that nobody waits for this any more, although it was not answered. */
  readonly onGivenUp: (id: number) => void;
}

export class SessionCalls {
  readonly #deps: SessionCallsDeps;
  readonly #pending = new Map<number, Pending>();

  constructor(deps: SessionCallsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Those that its worker counts with its load. */
  get holdingPlaces(): number {
    let count = 0;
    for (const { kind } of this.#pending.values()) if (kind !== 'vocabularyAsk') count += 1;
    return count;
  }

  has(id: number): boolean {
    return this.#pending.has(id);
  }

  /** Rejects with WorkerLostError, `stalled` when its time is over, or with the signal's reason. */
  ask<Result>({ question, limitMs, take }: Call<Result>, signal: AbortSignal): Promise<Result> {
    const { id } = question;
    return new Promise<Result>((resolve, reject) => {
      const leave = (): void => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const giveUp = (error: unknown): void => {
        leave();
        this.#deps.onGivenUp(id);
        reject(error);
      };
      const abort = (): void => giveUp(signal.reason);
      const timer = setTimeout(() => giveUp(new WorkerLostError(this.#deps.peer, 'stalled')), limitMs);
      this.#pending.set(id, {
        kind: question.kind,
        fail: (error) => {
          leave();
          reject(error);
        },
        take: (reply) => {
          const taken = take(reply);
          if (taken.kind === 'breach') return taken.breach;
          if (taken.kind === 'more') this.#deps.send(taken.ask);
          else {
            leave();
            resolve(taken.result);
          }
          return undefined;
        },
      });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) return abort();
      try {
        this.#deps.send(question);
      } catch (error) {
        leave();
        reject(error);
      }
    });
  }

  /** Takes what belongs to a question; what may not be said is told in words. */
  take(reply: Reply): string | undefined {
    return this.#pending.get(reply.id)?.take(reply);
  }

  fail(id: number, error: WorkerLostError): void {
    this.#pending.get(id)?.fail(error);
  }

  failAll(error: WorkerLostError): void {
    for (const pending of [...this.#pending.values()]) pending.fail(error);
  }
}

const WRONG_REPLY = { kind: 'breach', breach: 'an answer to another question' } as const;

export function scoreCall(question: FrameOf<'score'>): Call<readonly number[]> {
  const due = question.answer.length + (question.hasEnd ? 1 : 0);
  return {
    ...{ question, limitMs: SCORE_LIMIT_MS },
    take(reply) {
      if (reply.kind !== 'scored') return WRONG_REPLY;
      if (reply.margins.length !== due) return { kind: 'breach', breach: 'a score of another length' };
      return { kind: 'result', result: reply.margins };
    },
  };
}

export function embedCall(question: FrameOf<'embed'>): Call<Float32Array> {
  return {
    ...{ question, limitMs: EMBED_LIMIT_MS },
    take(reply) {
      if (reply.kind !== 'embedded') return WRONG_REPLY;
      if (reply.vector.length === 0) return { kind: 'breach', breach: 'a vector of nothing' };
      return { kind: 'result', result: Float32Array.from(reply.vector) };
    },
  };
}

/** Each question is answered by one part, from where it says, as long as the worker likes; then the next part is asked for. */
export function vocabularyCall(question: FrameOf<'vocabularyAsk'>): Call<Uint8Array> {
  const parts: Uint8Array[] = [];
  let received = 0;
  let size: number | undefined;
  return {
    ...{ question, limitMs: VOCABULARY_LIMIT_MS },
    take(reply) {
      const breach = (what: string) => ({ kind: 'breach', breach: what }) as const;
      if (reply.kind !== 'vocabularyPart') return WRONG_REPLY;
      size ??= reply.sizeBytes;
      if (size > MAX_VOCABULARY_BYTES) return breach('a vocabulary that is too large');
      if (reply.from !== received || reply.sizeBytes !== size) return breach('a part of a vocabulary out of order');
      received += reply.part.byteLength;
      if (reply.part.byteLength === 0 || received > size) return breach('a part of a vocabulary of a wrong length');
      parts.push(reply.part);
      if (received < size) return { kind: 'more', ask: { ...question, from: received } };
      const bytes = new Uint8Array(Buffer.concat(parts));
      if (bytesSha256(bytes) !== question.vocabularySha256) return breach('a vocabulary of another digest');
      return { kind: 'result', result: bytes };
    },
  };
}
