// How one kind of inference server is asked for tokens, and how its answers are read. Answers are untrusted: each reader
// validates what it reads, and rejects with EngineError `upstream-failed`.
import type { Ability } from '@strata/inference';
import type { z } from 'zod';
import type { Job } from '../engine.ts';
import { invalid } from '../upstream/errors.ts';
import type { Ask } from '../upstream/http.ts';

export type RemoteKind = 'llama-server' | 'vllm' | 'sglang' | 'tensorrt-llm' | 'openai';

export interface ReadChoice {
  readonly token: number;
  /** 0 if it was not requested. */
  readonly logprob: number;
}

export type ReadToken = ReadChoice & { readonly top: readonly ReadChoice[] };

/** What one event of a stream contains. */
export interface Piece {
  readonly tokens: readonly ReadToken[];
  /** Instead of tokens: of a server without token ids. */
  readonly text?: string;
  readonly cachedTokens?: number | undefined;
  /** Why the answer ended. */
  readonly end?: 'stop' | 'length' | undefined;
  /** The server made tokens before these that it did not send. */
  readonly hasGap?: boolean;
}

export interface GenerateAsk {
  /** The model's name at the server. */
  readonly model: string;
  readonly job: Job;
  /** Prompt and given tokens. */
  readonly tokens: readonly number[];
  /** Their text, for a server without token ids. */
  readonly text: string;
  /** Tokens to make. */
  readonly count: number;
  readonly isStreamed: boolean;
}

/** The log-probabilities at one position of a given answer. */
export interface Position {
  /** Best first; those of the token and of `ends` are included where the server reports them. */
  readonly candidates: readonly ReadChoice[];
  /** Whether every token that is missing is less likely than all candidates. */
  readonly isRanked: boolean;
}

export interface ScoreAsk {
  readonly model: string;
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
  /** An end of the answer, where its end is scored. */
  readonly end: number | undefined;
  /** A token that is text. */
  readonly plain: number;
  /** Alternatives wanted at each position. */
  readonly top: number;
  /** Sends one request. */
  readonly json: (ask: Pick<Ask, 'path' | 'body'>) => Promise<unknown>;
}

export interface Dialect {
  readonly kind: RemoteKind;
  /** What servers of this kind cannot do. */
  readonly lacks: readonly Ability[];
  /** Path of the generation. */
  readonly path: string;
  readonly health: string;
  /** Whether its health page answers at once however busy the server is. */
  readonly answersHealth: boolean;
  body(ask: GenerateAsk): object;
  /** Reads the events of one answer in their order. */
  reader(ask: GenerateAsk): (value: unknown) => Piece;
  /** One position for each token of the answer, and its end. Absent: servers of this kind score nothing. */
  readonly positions?: (ask: ScoreAsk) => Promise<readonly Position[]>;
}

/** Throws EngineError with the path of the first invalid value. */
export function read<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(what, result.error);
}

/** Reading more alternatives than these takes so long that other answers stall. */
const MAX_ALTERNATIVES = 100_000;

/** Alternatives at each of the positions of one response. */
export const alternativesAt = (positions: number, wanted: number): number =>
  Math.max(1, Math.min(wanted, Math.floor(MAX_ALTERNATIVES / positions)));

/** The noise of a continuation differs from that of the beginning. */
export const seedOf = ({ sampling, given }: Job, modulus = 2 ** 32): number => (sampling.seed + given.length) % modulus;

/** The best alternatives first, as many as the job wants. */
export const ranked = (choices: readonly ReadChoice[]): readonly ReadChoice[] =>
  choices.toSorted((a, b) => b.logprob - a.logprob || a.token - b.token);
