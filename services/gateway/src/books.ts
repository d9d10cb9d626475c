// The books: each answer's signed receipt and what it used. Kept in the database before the answer's end leaves, so that a
// kill loses neither; entered in the ledger right after, or by the next start. A receipt is given out once it is there.
import { hash, randomBytes } from 'node:crypto';
import type { AnswerContent, FinishReason, Usage } from '@strata/inference';
import type { SignedLedger } from '@strata/log';
import { bodySignedBytes, canonicalize, issueReceipt, leafOf, newReceiptId, type Provenance } from '@strata/receipts';
import type { AnsweredRequest, Store } from '@strata/store';
import type { Logger } from 'pino';

/** What is known of an answer before it is made. */
export interface AnswerStart {
  readonly answerId: string;
  readonly requestId: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly model: { readonly id: string; readonly sha256: string | null; readonly engine: string };
  /** Hex SHA-256 of the request's body. */
  readonly requestSha256: string;
  readonly receivedAt: Date;
}

export interface AnswerEnd {
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  readonly content: AnswerContent;
  readonly finishReasons: readonly (FinishReason | null)[];
  readonly usage: Usage;
  readonly firstTokenAt: Date | undefined;
}

export interface BooksParts {
  readonly ledger: SignedLedger;
  readonly answers: Store['answers'];
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Waiting extends AnsweredRequest {
  readonly leaf: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Receipts entered in the ledger at a time after a start. */
const CATCH_UP = 500;

export class Books implements AsyncDisposable {
  readonly #parts: BooksParts;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  /** Kept, and not in the ledger yet. */
  #toEnter: Waiting[] = [];
  #entering: Promise<void> | undefined;
  /** Some could not be entered. */
  #isBehind = false;

  private constructor(parts: BooksParts) {
    this.#parts = parts;
  }

  /** Enters what a kill left between database and ledger. */
  static async open(parts: BooksParts): Promise<Books> {
    const books = new Books(parts);
    await books.#catchUp();
    return books;
  }

  /** The id of a receipt that will be signed when its answer is over. */
  newId(): string {
    return newReceiptId(this.#parts.now(), randomBytes(16));
  }

  /** Signs the receipt and keeps it with what was used; resolves when a kill cannot lose it any more. */
  keep(receiptId: string, start: AnswerStart, end: AnswerEnd): Promise<void> {
    const { ledger, now } = this.#parts;
    const finishedAt = now();
    const issued = issueReceipt(receiptOf(start, end, finishedAt), { ...ledger.issuing(), receiptId });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({
      ...end.usage,
      keyId: start.keyId,
      model: start.model.id,
      day: finishedAt.toISOString().slice(0, 10),
      receiptId,
      receipt: JSON.stringify(issued.body),
      leaf: issued.leaf,
      resolve,
      reject,
    });
    this.#writing ??= this.#writeAll();
    return promise;
  }

  /** The signed receipt of a key's answer, JSON; undefined where there is none, or its answer is not over. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    // What was kept a moment ago is being entered.
    await this.#writing;
    await this.#entering;
    return this.#parts.answers.receipt(id, keyId);
  }

  /** Forgets receipts from before that time. */
  async forget(before: Date): Promise<void> {
    const id = newReceiptId(before, new Uint8Array(16));
    while ((await this.#parts.answers.forget(id, CATCH_UP)) === CATCH_UP);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#entering;
  }

  /** Whatever ends in one turn of the event loop is one transaction. */
  async #writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#parts.answers.record(batch);
        for (const { resolve } of batch) resolve();
        this.#toEnter.push(...batch);
        this.#entering ??= this.#enterAll();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined;
  }

  /** What cannot be entered now is tried again after the next that can, or by the next start; it is not given out before. */
  async #enterAll(): Promise<void> {
    const { ledger, answers, logger } = this.#parts;
    while (this.#toEnter.length > 0) {
      const batch = this.#toEnter;
      this.#toEnter = [];
      try {
        await Promise.all(batch.map(({ leaf }) => ledger.log.append(leaf)));
        await answers.markLogged(batch.map(({ receiptId }) => receiptId));
        if (this.#isBehind) await this.#catchUp();
      } catch (error) {
        this.#isBehind = true;
        logger.error({ err: error, receipts: batch.length }, 'receipts are kept, but not in the ledger yet');
      }
    }
    this.#entering = undefined;
  }

  async #catchUp(): Promise<void> {
    const { ledger, answers } = this.#parts;
    for (;;) {
      const kept = await answers.unlogged(CATCH_UP);
      await Promise.all(
        kept.map(async ({ body }) => {
          const receipt = JSON.parse(body) as { readonly provenance: Provenance };
          const { provenance } = receipt;
          // A kill between ledger and mark: it is there already.
          const isEntered = (await ledger.log.receipt(provenance.ledger_receipt_id)) !== undefined;
          if (!isEntered) await ledger.log.append(leafOf(bodySignedBytes(receipt, provenance), provenance));
        }),
      );
      await answers.markLogged(kept.map(({ id }) => id));
      if (kept.length < CATCH_UP) break;
    }
    this.#isBehind = false;
  }
}

/** No text in it: digests, names, counts and times. */
function receiptOf(start: AnswerStart, { outcome, content, finishReasons, usage, firstTokenAt }: AnswerEnd, end: Date) {
  return {
    object: 'inference.receipt',
    answer_id: start.answerId,
    request_id: start.requestId,
    key_id: start.keyId,
    endpoint: start.endpoint,
    model: start.model,
    request_sha256: start.requestSha256,
    answer_sha256: hash('sha256', canonicalize(content)),
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
  };
}
