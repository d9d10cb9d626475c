// The receipt of an answer: its facts, salted digests of request and answer, usage and times.
import { type AnswerContent, type FinishReason, type Usage, type Verified, weakest } from '@strata/inference';
import { canonicalize } from '@strata/receipts';
import { type Charge, costOf, dayOf } from '../../store/access/policy.ts';
import type { AnswerUsage } from '../../store/answers/answers.ts';
import type { AnswerSegment } from '../answer-accumulator.ts';
import type { AnsweredBy } from '../backend.ts';
import { saltedDigest } from './salted-digest.ts';

/** The facts of an answer that are known before it is generated. */
export interface AnswerStart {
  readonly answerId: string;
  readonly requestId: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly model: {
    readonly id: string;
    readonly sha256: string | null;
    readonly engine: string;
    /** The weakest level of all that may answer; the receipt has that of the workers that did. */
    readonly verified: Verified;
  };
  /**
   * Hexadecimal HMAC key of the receipt's digests. Only the client receives it: it is neither in the receipt nor in the
   * database.
   */
  readonly salt: string;
  /** Hexadecimal HMAC-SHA-256 of the request body. */
  readonly requestDigest: string;
  readonly receivedAt: Date;
  /** Undefined for an answer that has no price and counts in no account of a policy. */
  readonly charge?: Charge | undefined;
}

export interface AnswerEnd {
  /** `interrupted`: the process was killed before the answer ended. */
  readonly outcome: 'completed' | 'cancelled' | 'failed' | 'interrupted';
  /** Undefined if it is unknown, because the answer was interrupted. */
  readonly content: AnswerContent | undefined;
  readonly finishReasons: readonly (FinishReason | null)[];
  readonly usage: Usage;
  readonly firstTokenAt: Date | undefined;
  /** Empty if no worker of the network contributed. */
  readonly segments: readonly AnswerSegment[];
  /** Of the choices, for a model with several targets. */
  readonly answeredBy?: readonly AnsweredBy[];
}

export type AnswerReceipt = ReturnType<typeof receiptOf>;

/** What a receipt counts. */
export function usedOf({ key_id, model, usage, times, charge }: AnswerReceipt): AnswerUsage {
  return {
    ...(charge && { charge: { micros: charge.spend_micros, accounts: charge.accounts } }),
    keyId: key_id,
    model: model.id,
    day: times.finished_at.slice(0, 10),
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.cached_tokens,
    completionTokens: usage.completion_tokens,
  };
}

/** The same, before its receipt is made. */
export function usageOf({ keyId, model, charge }: AnswerStart, { usage }: AnswerEnd, end: Date): AnswerUsage {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  return {
    ...(charge && { charge: { micros: costOf(charge.price, usage), accounts: charge.accounts } }),
    ...{ keyId, model: model.id, day: dayOf(end), promptTokens, cachedTokens, completionTokens },
  };
}

/**
 * The receipt of an answer that has begun, for the case that the process is killed before it ends. Its usage is that of
 * the prompt: later tokens are unknown then.
 */
export function interruptedReceipt(start: AnswerStart, usage: Usage, begun: Date): AnswerReceipt {
  const end = { outcome: 'interrupted', content: undefined, segments: [], firstTokenAt: begun } as const;
  return receiptOf(start, { ...end, finishReasons: [], usage: { ...usage, completionTokens: 0 } }, begun);
}

/** The receipt contains no text: only salted digests, names, counts and times. */
export function receiptOf(start: AnswerStart, answer: AnswerEnd, end: Date) {
  const digest = (of: string | Uint8Array) => saltedDigest(start.salt, of);
  const { outcome, content, finishReasons, usage, firstTokenAt, segments, answeredBy = [] } = answer;
  // The chain covers the prompt's digest and the tokens: unsalted, it could be used to verify a guess of both.
  const salted = ({ chainHead, verified: _, ...segment }: AnswerSegment) => ({
    ...segment,
    chain_head_hmac_sha256: digest(Buffer.from(chainHead, 'hex')),
  });
  return {
    object: 'inference.receipt',
    answer_id: start.answerId,
    request_id: start.requestId,
    key_id: start.keyId,
    endpoint: start.endpoint,
    model: {
      ...start.model,
      ...commonFacts(answeredBy),
      verified: weakest([...segments, ...answeredBy].map(({ verified }) => verified)) ?? start.model.verified,
    },
    request_hmac_sha256: start.requestDigest,
    ...(content === undefined ? {} : { answer_hmac_sha256: digest(canonicalize(content)) }),
    outcome,
    finish_reasons: finishReasons,
    usage: {
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens,
      completion_tokens: usage.completionTokens,
    },
    ...(start.charge && {
      charge: { spend_micros: costOf(start.charge.price, usage), accounts: start.charge.accounts },
    }),
    times: {
      received_at: start.receivedAt.toISOString(),
      first_token_at: firstTokenAt?.toISOString() ?? null,
      finished_at: end.toISOString(),
    },
    ...(segments.length === 0 ? {} : { segments: segments.map(salted) }),
    ...(answeredBy.length === 0 ? {} : { answered_by: distinctTargets(answeredBy) }),
  };
}

/** Of the file and the engine, if all choices came from one target. */
function commonFacts([first, ...rest]: readonly AnsweredBy[]): Partial<Pick<AnsweredBy, 'sha256' | 'engine'>> {
  if (!first || rest.some(({ sha256, engine }) => sha256 !== first.sha256 || engine !== first.engine)) return {};
  return { sha256: first.sha256, engine: first.engine };
}

function distinctTargets(answeredBy: readonly AnsweredBy[]) {
  const byName = new Map(answeredBy.map((by) => [JSON.stringify([by.upstream, by.model]), by]));
  return [...byName.values()].map(({ upstream, model }) => ({ upstream, model }));
}
