// Calls to a worker other than answers: a question, and its reply within a time limit.
import { bytesSha256, type FrameOf } from '@strata/inference';
import { WorkerLostError } from './session-events.ts';

/** Scoring an answer takes as long as reading a prompt; so does embedding. */
const SCORE_LIMIT_MS = 60_000;
const EMBED_LIMIT_MS = 60_000;
const CHUNK_LIMIT_MS = 20_000;
/** For the complete file, over a slow connection. */
const VOCABULARY_LIMIT_MS = 120_000;
/** The largest vocabularies have a fifth of this size. */
const MAX_VOCABULARY_BYTES = 64 * 1024 * 1024;

type Question = FrameOf<'score' | 'embed' | 'vocabularyAsk' | 'chunkAsk'>;
type Reply = FrameOf<'scored' | 'embedded' | 'vocabularyPart' | 'chunk'>;

/** `more`: another question follows. `breach`: a protocol violation. */
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
  /** Called when a call is abandoned before its reply. */
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

  /** The number of calls that the worker includes in its load. */
  get holdingSlots(): number {
    let count = 0;
    for (const { kind } of this.#pending.values()) if (kind === 'score' || kind === 'embed') count += 1;
    return count;
  }

  has(id: number): boolean {
    return this.#pending.has(id);
  }

  /** Rejects with WorkerLostError, `stalled` after the time limit, or with the signal's reason. */
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

  /** Handles a reply; returns the protocol violation, if any. */
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

const WRONG_REPLY = { kind: 'breach', breach: 'a reply to another question' } as const;

export function scoreCall(question: FrameOf<'score'>): Call<readonly number[]> {
  const due = question.answer.length + (question.hasEnd ? 1 : 0);
  return {
    ...{ question, limitMs: SCORE_LIMIT_MS },
    take(reply) {
      if (reply.kind !== 'scored') return WRONG_REPLY;
      if (reply.margins.length !== due) return { kind: 'breach', breach: 'a score of the wrong length' };
      return { kind: 'result', result: reply.margins };
    },
  };
}

export function embedCall(question: FrameOf<'embed'>): Call<Float32Array> {
  return {
    ...{ question, limitMs: EMBED_LIMIT_MS },
    take(reply) {
      if (reply.kind !== 'embedded') return WRONG_REPLY;
      if (reply.vector.length === 0) return { kind: 'breach', breach: 'an empty vector' };
      return { kind: 'result', result: Float32Array.from(reply.vector) };
    },
  };
}

export function chunkCall(question: FrameOf<'chunkAsk'>): Call<FrameOf<'chunk'>> {
  const limitMs = CHUNK_LIMIT_MS;
  return {
    question,
    limitMs,
    take: (reply) => (reply.kind === 'chunk' ? { kind: 'result', result: reply } : WRONG_REPLY),
  };
}

/** The worker replies to each question with one part of any length; the next question continues after it. */
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
      if (reply.part.byteLength === 0 || received > size) return breach('a part of a vocabulary with the wrong length');
      parts.push(reply.part);
      if (received < size) return { kind: 'more', ask: { ...question, from: received } };
      const bytes = new Uint8Array(Buffer.concat(parts));
      if (bytesSha256(bytes) !== question.vocabularySha256) return breach('a vocabulary with the wrong digest');
      return { kind: 'result', result: bytes };
    },
  };
}
