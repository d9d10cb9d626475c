// Records the signed receipt and the usage of each answer. A receipt is stored in the database before the end of its
// answer is sent, so that a crash cannot lose it. Soon afterwards, or at the next start, it is appended to the ledger
// and counted, in batches. It can be fetched once it is in the ledger.
import { createHmac } from 'node:crypto';
import { type AnswerContent, type FinishReason, type Usage, type Verified, weakest } from '@strata/inference';
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
import type { Logger } from 'pino';
import type { AnswerUsage } from '../store/answers.ts';
import { randomPart } from '../store/random-ids.ts';
import type { GatewayStore } from '../store/store.ts';
import type { AnswerSegment } from './answer-accumulator.ts';

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
}

export interface AnswerEnd {
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  readonly content: AnswerContent;
  readonly finishReasons: readonly (FinishReason | null)[];
  readonly usage: Usage;
  readonly firstTokenAt: Date | undefined;
  /** Empty if no worker of the network contributed. */
  readonly segments: readonly AnswerSegment[];
}

export interface AnswerRecorderDeps {
  readonly ledger: SignedLedger;
  readonly answers: GatewayStore['answers'];
  readonly segments: Pick<GatewayStore['segments'], 'forgetProofs'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Called for each answer that has ended. */
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

/** Stored receipts that are not in the ledger yet. */
interface Pending {
  /** Sequence number of the last receipt of the batch. */
  readonly seq: number;
  readonly batch: readonly { readonly leaf: Uint8Array; readonly used: AnswerUsage }[];
}

/** Delay between the first stored receipt and the ledger entry of its batch, unless a receipt is fetched earlier. */
const ENTER_MS = 100;
/** Delay before a retry. */
const RETRY_MS = 5_000;
/** Number of receipts read from the database at once. */
const PAGE = 500;

export class AnswerRecorder implements AsyncDisposable {
  readonly #deps: AnswerRecorderDeps;
  #queued: Waiting[] = [];
  #storing: Promise<void> | undefined;
  #pending: Pending[] = [];
  #entering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** An entry failed: the receipts must be read again from the database. */
  #isBehind = false;
  #enteredSeq = 0;

  private constructor(deps: AnswerRecorderDeps) {
    this.#deps = deps;
  }

  /** Enters the receipts that a crash left between database and ledger. */
  static async open(deps: AnswerRecorderDeps): Promise<AnswerRecorder> {
    const recorder = new AnswerRecorder(deps);
    await recorder.#catchUp();
    return recorder;
  }

  /** A receipt id, to be signed when the answer ends. */
  newId(): string {
    return newReceiptId(this.#deps.now(), randomPart(10));
  }

  /** Signs and stores the receipt; resolves when it and the usage are durable. */
  keep(receiptId: string, start: AnswerStart, end: AnswerEnd): Promise<void> {
    const { ledger } = this.#deps;
    const { signer } = ledger;
    const options = ledger.issuing(receiptId);
    const document = receiptOf(start, end, options.now);
    this.#deps.onAnswer?.(start, end, options.now);
    const prepared = prepareReceipt(document, options);
    // Signing one receipt here is faster than handing it over; signing many here would block all of them.
    const signature = this.#storing ? signer.signLater(prepared.signedBytes) : signer.sign(prepared.signedBytes);
    // A rejection is handled where the promise is awaited.
    if (signature instanceof Promise) signature.catch(() => {});
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queued.push({ keyId: start.keyId, prepared, signature, used: usedOf(document), resolve, reject });
    this.#storing ??= this.#storeAll();
    return promise;
  }

  /** The signed receipt of a key's answer as JSON; undefined if it does not exist or its answer has not ended. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    const entered = await this.#deps.answers.receipt(id, keyId);
    if (entered !== undefined) return entered;
    await this.#flush();
    return this.#deps.answers.receipt(id, keyId);
  }

  /** Deletes receipts from before that time, and the workers' signatures; usage totals are kept. */
  async forget(before: Date): Promise<void> {
    const id = newReceiptId(before, new Uint8Array(16));
    while ((await this.#deps.answers.forget(id, PAGE)) === PAGE);
    while ((await this.#deps.segments.forgetProofs(before.getTime(), PAGE)) === PAGE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush();
    clearTimeout(this.#timer);
  }

  /** Enters everything that is stored. */
  async #flush(): Promise<void> {
    await this.#storing;
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

  /** Receipts of one iteration of the event loop are stored in one transaction. */
  async #storeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#queued.length > 0) {
      const batch = this.#queued;
      this.#queued = [];
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
    // Synchronous with the last check of the queue.
    this.#storing = undefined;
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
        // Receipts that were read from the database in the meantime are already entered.
        const pending = this.#pending.filter(({ seq }) => seq > this.#enteredSeq);
        this.#pending = [];
        const last = pending.at(-1);
        if (!last) continue;
        const all = pending.flatMap(({ batch }) => batch);
        this.#isBehind = true;
        await allSettled(all.map(({ leaf }) => ledger.log.append(leaf)));
        await answers.enter(
          last.seq,
          all.map(({ used }) => used),
        );
        this.#enteredSeq = last.seq;
        this.#isBehind = false;
      }
    } catch (error) {
      logger.error({ err: error }, 'receipts are stored, but not in the ledger yet');
      // From here on the database is authoritative.
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
      await allSettled(
        receipts.map(async (receipt) => {
          const { provenance } = receipt;
          // After a crash between the ledger and this mark the receipt is already in the ledger.
          const isEntered = (await ledger.log.receipt(provenance.ledger_receipt_id)) !== undefined;
          if (!isEntered) await ledger.log.append(leafOf(bodySignedBytes(receipt, provenance), provenance));
        }),
      );
      await answers.enter(last.seq, receipts.map(usedOf));
      this.#enteredSeq = last.seq;
    }
    this.#isBehind = false;
  }
}

/** Waits for all before it throws the first error, so that nothing is in progress afterwards. */
async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
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

/** The receipt contains no text: only salted digests, names, counts and times. */
function receiptOf(start: AnswerStart, answer: AnswerEnd, end: Date) {
  const digest = (of: string | Uint8Array) =>
    createHmac('sha256', Buffer.from(start.salt, 'hex')).update(of).digest('hex');
  const { outcome, content, finishReasons, usage, firstTokenAt, segments } = answer;
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
    model: { ...start.model, verified: weakest(segments.map(({ verified }) => verified)) ?? start.model.verified },
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
