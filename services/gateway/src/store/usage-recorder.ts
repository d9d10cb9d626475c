// The books: each answer's signed receipt and what it used. A receipt is kept in the database before the answer's end leaves,
// so that a kill does not lose it; with those of the same moment it is entered in the ledger and counted soon after, or by
// the next start. It is given out once it is in the ledger.
import { createHmac } from 'node:crypto';
import type { AnswerContent, FinishReason, Usage } from '@strata/inference';
import type { SignedLedger } from '@strata/log';
import {
  bodySignedBytes,
  canonicalize,
  leafOf,
  newReceiptId,
  type PreparedReceipt,
  prepareReceipt,
  type SignedBody,
} from '@strata/receipts';
import type { AnswerUsage, Store } from '@strata/store';
import type { Logger } from 'pino';
import type { AnswerSegment } from '../answers/answer-segments.ts';
import { randomPart } from './random-ids.ts';

/** What is known of an answer before it is made. */
export interface AnswerStart {
  readonly answerId: string;
  readonly requestId: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly model: { readonly id: string; readonly sha256: string | null; readonly engine: string };
  /** Hex, the key of the receipt's digests. Only the client gets it: neither the receipt nor the database has it. */
  readonly salt: string;
  /** Hex HMAC-SHA-256 of the request's body. */
  readonly requestDigest: string;
  readonly receivedAt: Date;
}

export interface AnswerEnd {
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  readonly content: AnswerContent;
  readonly finishReasons: readonly (FinishReason | null)[];
  readonly usage: Usage;
  readonly firstTokenAt: Date | undefined;
  /** Empty where no worker of the network had a part in it. */
  readonly segments: readonly AnswerSegment[];
}

export interface UsageRecorderDeps {
  readonly ledger: SignedLedger;
  readonly answers: Store['answers'];
  readonly segments: Pick<Store['segments'], 'forgetProofs'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Hears of each answer that is over. */
  readonly onAnswer?: (start: AnswerStart, end: AnswerEnd, endedAt: Date) => void;
}

type Document = ReturnType<typeof receiptOf>;

interface Waiting {
  readonly keyId: string;
  readonly prepared: PreparedReceipt<Document>;
  readonly signature: Uint8Array | Promise<Uint8Array>;
  readonly used: AnswerUsage;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Kept, and not entered yet. */
interface Pending {
  /** Of the last of them. */
  readonly seq: number;
  readonly batch: readonly { readonly leaf: Uint8Array; readonly used: AnswerUsage }[];
}

/** Receipts are entered together so long after the first of them, unless somebody asks for one. */
const ENTER_MS = 100;
/** After a failure. */
const RETRY_MS = 5_000;
/** Read from the database at a time. */
const PAGE = 500;

export class UsageRecorder implements AsyncDisposable {
  readonly #deps: UsageRecorderDeps;
  #waiting: Waiting[] = [];
  #keeping: Promise<void> | undefined;
  #pending: Pending[] = [];
  #entering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Something could not be entered: it is read again from the database. */
  #isBehind = false;
  #enteredSeq = 0;

  private constructor(deps: UsageRecorderDeps) {
    this.#deps = deps;
  }

  /** Enters what a kill left between database and ledger. */
  static async open(deps: UsageRecorderDeps): Promise<UsageRecorder> {
    const recorder = new UsageRecorder(deps);
    await recorder.#catchUp();
    return recorder;
  }

  /** The id of a receipt that will be signed when its answer is over. */
  newId(): string {
    return newReceiptId(this.#deps.now(), randomPart(10));
  }

  /** Signs the receipt and keeps it; resolves when a kill cannot lose it any more, nor what its answer used. */
  keep(receiptId: string, start: AnswerStart, end: AnswerEnd): Promise<void> {
    const { ledger } = this.#deps;
    const { signer } = ledger;
    const options = ledger.issuing(receiptId);
    const document = receiptOf(start, end, options.now);
    this.#deps.onAnswer?.(start, end, options.now);
    const prepared = prepareReceipt(document, options);
    // Alone, signing here is quicker than handing it over; among many it would hold all of them up.
    const signature = this.#keeping ? signer.signLater(prepared.signedBytes) : signer.sign(prepared.signedBytes);
    // Heard of when it is awaited, a moment later.
    if (signature instanceof Promise) signature.catch(() => {});
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ keyId: start.keyId, prepared, signature, used: usedOf(document), resolve, reject });
    this.#keeping ??= this.#keepAll();
    return promise;
  }

  /** The signed receipt of a key's answer, JSON; undefined where there is none, or its answer is not over. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    const entered = await this.#deps.answers.receipt(id, keyId);
    if (entered !== undefined) return entered;
    await this.#settle();
    return this.#deps.answers.receipt(id, keyId);
  }

  /** Forgets receipts from before that time, and what workers signed for their parts; what they made is counted on. */
  async forget(before: Date): Promise<void> {
    const id = newReceiptId(before, new Uint8Array(16));
    while ((await this.#deps.answers.forget(id, PAGE)) === PAGE);
    while ((await this.#deps.segments.forgetProofs(before.getTime(), PAGE)) === PAGE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#settle();
    clearTimeout(this.#timer);
  }

  /** Enters all that was kept. */
  async #settle(): Promise<void> {
    await this.#keeping;
    await this.#enter();
  }

  #enterAfter(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#enter();
    }, ms);
  }

  #enter(): Promise<void> {
    this.#entering ??= this.#enterAll();
    return this.#entering;
  }

  /** Whatever ends in one turn of the event loop is one transaction. */
  async #keepAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const signed = await Promise.all(
          batch.map(async ({ keyId, prepared, signature, used }) => ({
            ...{ keyId, used, ...prepared.finish(signature instanceof Promise ? await signature : signature) },
          })),
        );
        const seq = await this.#deps.answers.keep(
          signed.map(({ receiptId, keyId, body }) => ({ id: receiptId, keyId, body: JSON.stringify(body) })),
        );
        this.#pending.push({ seq, batch: signed });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // In the turn of the last look at what waits.
    this.#keeping = undefined;
    this.#enterAfter(ENTER_MS);
  }

  async #enterAll(): Promise<void> {
    await undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { ledger, answers, logger } = this.#deps;
    try {
      if (this.#isBehind) await this.#catchUp();
      while (this.#pending.length > 0) {
        // What was read from the database meanwhile is entered already.
        const pending = this.#pending.filter(({ seq }) => seq > this.#enteredSeq);
        this.#pending = [];
        const last = pending.at(-1);
        if (!last) continue;
        const all = pending.flatMap(({ batch }) => batch);
        this.#isBehind = true;
        await allDone(all.map(({ leaf }) => ledger.log.append(leaf)));
        await answers.enter(
          last.seq,
          all.map(({ used }) => used),
        );
        this.#enteredSeq = last.seq;
        this.#isBehind = false;
      }
    } catch (error) {
      logger.error({ err: error }, 'receipts are kept, but not in the ledger yet');
      // Those in the database are what counts now.
      this.#pending = [];
      this.#enterAfter(RETRY_MS);
    }
    this.#entering = undefined;
  }

  async #catchUp(): Promise<void> {
    const { ledger, answers } = this.#deps;
    for (;;) {
      const kept = await answers.unentered(PAGE);
      const last = kept.at(-1);
      if (!last) break;
      const receipts = kept.map(({ body }) => JSON.parse(body) as SignedBody<Document>);
      await allDone(
        receipts.map(async (receipt) => {
          const { provenance } = receipt;
          // A kill between the ledger and the mark: it is there already.
          const isThere = (await ledger.log.receipt(provenance.ledger_receipt_id)) !== undefined;
          if (!isThere) await ledger.log.append(leafOf(bodySignedBytes(receipt, provenance), provenance));
        }),
      );
      await answers.enter(last.seq, receipts.map(usedOf));
      this.#enteredSeq = last.seq;
    }
    this.#isBehind = false;
  }
}

/** Waits for all before it tells that one failed: none is under way then. */
async function allDone(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

function usedOf({ key_id, model, usage, times }: Document): AnswerUsage {
  return {
    keyId: key_id,
    model: model.id,
    day: times.finished_at.slice(0, 10),
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.cached_tokens,
    completionTokens: usage.completion_tokens,
  };
}

/** No text in it: digests under the salt, names, counts and times. */
function receiptOf(start: AnswerStart, answer: AnswerEnd, end: Date) {
  const digest = (of: string | Uint8Array) =>
    createHmac('sha256', Buffer.from(start.salt, 'hex')).update(of).digest('hex');
  const { outcome, content, finishReasons, usage, firstTokenAt, segments } = answer;
  // The chain is over the prompt's digest and the tokens: as it is, a guess of both could be checked by it.
  const salted = ({ chainHead, ...segment }: AnswerSegment) => ({
    ...segment,
    chain_head_hmac_sha256: digest(Buffer.from(chainHead, 'hex')),
  });
  return {
    object: 'inference.receipt',
    answer_id: start.answerId,
    request_id: start.requestId,
    key_id: start.keyId,
    endpoint: start.endpoint,
    model: start.model,
    request_hmac_sha256: start.requestDigest,
    answer_hmac_sha256: digest(canonicalize(content)),
    outcome,
    finish_reasons: finishReasons,
    usage: {
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens,
      completion_tokens: usage.completionTokens,
    },
    times: {
      received_at: start.receivedAt.toISOString(),
      first_token_at: firstTokenAt?.toISOString() ?? null,
      finished_at: end.toISOString(),
    },
    ...(segments.length === 0 ? {} : { segments: segments.map(salted) }),
  };
}
