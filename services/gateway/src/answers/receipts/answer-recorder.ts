// Records the signed receipt and the usage of each answer. A receipt is stored in the database before the end of its
// answer is sent, so that a crash cannot lose it. Soon afterwards, or at the next start, it is appended to the ledger
// and counted, in batches. It can be fetched once it is in the ledger. A stream is recorded before its first token is
// sent too, unless it arrived at once: if the process is killed before the end, another gateway of the database, or the
// next start, signs a receipt of what was known then.
import { setTimeout as sleep } from 'node:timers/promises';
import { isSuperseded } from '@strata/db';
import type { Usage } from '@strata/inference';
import type { SignedLedger } from '@strata/log';
import { bodySignedBytes, leafOf, newReceiptId, type SignedBody } from '@strata/receipts';
import type { Logger } from 'pino';
import type { AnswerUsage, NewReceipt as BegunAnswer } from '../../store/answers/answers.ts';
import type { NewStoredAnswer, StoredEnd } from '../../store/answers/stored-writes.ts';
import { randomPart } from '../../store/random-ids.ts';
import type { GatewayStore } from '../../store/store.ts';
import { type AnswerEnd, type AnswerReceipt, type AnswerStart, interruptedReceipt, usedOf } from './answer-receipt.ts';
import type { IssuedAnswer, ReceiptOrder } from './issue-answer.ts';
import { ReceiptIssuer } from './receipt-issuer.ts';

export interface AnswerRecorderDeps {
  /** The id of this gateway among those of its database. */
  readonly gateway: () => number;
  readonly ledger: SignedLedger;
  readonly answers: GatewayStore['answers'];
  readonly segments: Pick<GatewayStore['segments'], 'forgetProofs'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Called for each answer that has ended. */
  readonly onAnswer?: (start: AnswerStart, end: AnswerEnd, endedAt: Date) => void;
}

export interface KeepOptions {
  /** The receipt replaces the record of the beginning. */
  readonly isBegun: boolean;
  /** Of a stored answer: its end, written with the receipt. */
  readonly stored?: StoredEnd | undefined;
  /** Now by default. */
  readonly endedAt?: Date | undefined;
}

/** A receipt to be stored. */
interface Ended extends IssuedAnswer, KeepOptions {}

/** What a receipt is issued from. */
interface Issuing extends Pick<ReceiptOrder, 'answer'> {
  readonly options: ReturnType<SignedLedger['issuing']>;
}

interface Waiting {
  readonly record:
    | { readonly begun: BegunAnswer; readonly added?: NewStoredAnswer | undefined }
    | { readonly ended: Ended };
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Stored receipts that are not in the ledger yet. */
interface Pending {
  /** Sequence number of the last receipt of the batch. */
  readonly seq: number;
  /** The gateway that stored it. */
  readonly gateway: number;
  readonly batch: readonly { readonly leaf: Uint8Array; readonly used: AnswerUsage }[];
}

/** Delay between the first stored receipt and the ledger entry of its batch, unless a receipt is fetched earlier. */
const ENTER_MS = 100;
/** Delay before a retry. */
const RETRY_MS = 5_000;
/** Number of receipts read from the database at once. */
const PAGE = 500;
/** How often, and how long, a receipt that another gateway has stored is read again until it is in the ledger. */
const ENTERED_POLL_MS = 50;
const ENTERED_POLLS = 20;

export class AnswerRecorder implements AsyncDisposable {
  readonly #deps: AnswerRecorderDeps;
  readonly #issuer: ReceiptIssuer;
  /** Receipts that are being issued and stored. */
  readonly #issuing = new Set<Promise<void>>();
  #queued: Waiting[] = [];
  #storing: Promise<void> | undefined;
  #pending: Pending[] = [];
  #entering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** An entry failed: the receipts must be read again from the database. */
  #isBehind = false;
  #enteredSeq = 0;

  constructor(deps: AnswerRecorderDeps) {
    this.#deps = deps;
    this.#issuer = new ReceiptIssuer(deps);
  }

  /** Enters the receipts that an ended gateway has left between database and ledger, and signs those of its interrupted answers. */
  async settle(gateway: number): Promise<void> {
    await this.#endInterrupted(gateway);
    await this.#catchUp(gateway);
  }

  /** A receipt id, to be signed when the answer ends. */
  newId(): string {
    return newReceiptId(this.#deps.now(), randomPart(10));
  }

  /** Records that an answer has begun, and stores it; resolves when that is durable. `keep` with `isBegun` ends it. */
  begin(receiptId: string, start: AnswerStart, usage: Usage, added?: NewStoredAnswer): Promise<void> {
    const document = interruptedReceipt(start, usage, this.#deps.now());
    return this.#store({ begun: { id: receiptId, keyId: start.keyId, body: JSON.stringify(document) }, added });
  }

  /** Reports an answer that ended before it began: it has no receipt. */
  unanswered(start: AnswerStart, end: AnswerEnd): void {
    this.#deps.onAnswer?.(start, end, this.#deps.now());
  }

  /**
   * Signs and stores the receipt; resolves when it and the usage are durable. Rejects with StoreError `superseded` if another
   * gateway has ended the answer.
   */
  keep(receiptId: string, start: AnswerStart, end: AnswerEnd, kept: KeepOptions = { isBegun: false }): Promise<void> {
    const issuing = this.#deps.ledger.issuing(receiptId);
    const options = { ...issuing, now: kept.endedAt ?? issuing.now };
    this.#deps.onAnswer?.(start, end, options.now);
    const signed = this.#signed(receiptId, { answer: { start, end }, options });
    const issued = signed.then((each) => this.#store({ ended: { ...each, ...kept } }));
    this.#issuing.add(issued);
    return issued.finally(() => this.#issuing.delete(issued));
  }

  #signed(receiptId: string, { answer, options: { now, publicKeyUrl, signer } }: Issuing): Promise<IssuedAnswer> {
    // In the same synchronous section as the key's id.
    const { privateKey } = this.#deps.ledger.signer;
    return this.#issuer.issue({ receiptId, answer, now, publicKeyUrl, keyId: signer.keyId, privateKey });
  }

  #store(record: Waiting['record']): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queued.push({ record, resolve, reject });
    this.#storing ??= this.#storeAll();
    return promise;
  }

  /** The signed receipt of a key's answer as JSON; undefined if it does not exist or its answer has not ended. */
  async receipt(id: string, keyId: string): Promise<string | undefined> {
    const read = () => this.#deps.answers.receipt(id, keyId);
    let stored = await read();
    if (stored?.isEntered) return stored.body;
    await this.#flush();
    for (let tries = 0; tries < ENTERED_POLLS; tries += 1) {
      stored = await read();
      if (stored === undefined || stored.isEntered) break;
      await sleep(ENTERED_POLL_MS);
    }
    return stored?.isEntered ? stored.body : undefined;
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
    await this.#issuer[Symbol.asyncDispose]();
  }

  /** Enters everything that is stored or being issued. */
  async #flush(): Promise<void> {
    await Promise.allSettled(this.#issuing);
    await this.#storing;
    // One in progress does not enter what was stored after it began.
    await this.#entering;
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

  /** Records of one iteration of the event loop are stored in one transaction. */
  async #storeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#queued.length > 0) {
      const batch = this.#queued;
      this.#queued = [];
      await this.#storeBatch(batch);
    }
    // Synchronous with the last check of the queue.
    this.#storing = undefined;
    this.#enterAfter(ENTER_MS);
  }

  async #storeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const ended = batch.flatMap(({ record }) => ('ended' in record ? [record.ended] : []));
      const gateway = this.#deps.gateway();
      const stored = {
        added: batch.flatMap(({ record }) => ('begun' in record && record.added ? [record.added] : [])),
        ended: ended.flatMap((each) => (each.stored ? [each.stored] : [])),
      };
      const seq = await this.#deps.answers.keep(ended.map(newReceipt), {
        begun: batch.flatMap(({ record }) => ('begun' in record ? [record.begun] : [])),
        ended: ended.flatMap(({ receiptId, isBegun }) => (isBegun ? [receiptId] : [])),
        stored,
      });
      if (ended.length > 0) this.#pending.push({ seq, gateway, batch: ended });
      for (const { resolve } of batch) resolve();
    } catch (error) {
      // Another gateway may have ended only some of these answers.
      if (isSuperseded(error) && batch.length > 1) for (const one of batch) await this.#storeBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  async #enterAll(): Promise<void> {
    await undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { ledger, answers, logger } = this.#deps;
    try {
      if (this.#isBehind) await this.#catchUp(this.#deps.gateway());
      const gateway = this.#deps.gateway();
      // Receipts that were read from the database in the meantime are already entered; those from before this gateway
      // got another id are entered by the one that settles them.
      const pending = this.#pending.filter((each) => each.seq > this.#enteredSeq && each.gateway === gateway);
      this.#pending = [];
      const last = pending.at(-1);
      if (last) {
        const all = pending.flatMap(({ batch }) => batch);
        this.#isBehind = true;
        await allSettled(all.map(({ leaf }) => ledger.log.append(leaf)));
        await answers.enter(
          last.seq,
          all.map(({ used }) => used),
          gateway,
        );
        this.#enteredSeq = last.seq;
        this.#isBehind = false;
      }
      if (this.#pending.length > 0) this.#enterAfter(ENTER_MS);
    } catch (error) {
      logger.error({ err: error }, 'receipts are stored, but not in the ledger yet');
      // From here on the database is authoritative.
      this.#pending = [];
      this.#enterAfter(RETRY_MS);
    }
    this.#entering = undefined;
  }

  /** Answers that an ended gateway began and did not end. */
  async #endInterrupted(gateway: number): Promise<void> {
    const { answers, ledger } = this.#deps;
    for (;;) {
      const begun = await answers.begun(PAGE, gateway);
      if (begun.length === 0) return;
      const issued = await Promise.all(
        begun.map(({ id, body }) => {
          const options = ledger.issuing(id);
          const document = JSON.parse(body) as AnswerReceipt;
          const times = { ...document.times, finished_at: options.now.toISOString() };
          return this.#signed(id, { answer: { document: { ...document, times } }, options });
        }),
      );
      await answers.keep(issued.map(newReceipt), { ended: begun.map(({ id }) => id), gateway });
    }
  }

  async #catchUp(gateway: number): Promise<void> {
    const { ledger, answers } = this.#deps;
    for (;;) {
      const kept = await answers.unentered(PAGE, gateway);
      const last = kept.at(-1);
      if (!last) break;
      const receipts = kept.map(({ body }) => JSON.parse(body) as SignedBody<AnswerReceipt>);
      await allSettled(
        receipts.map(async (receipt) => {
          const { provenance } = receipt;
          // After a crash between the ledger and this mark the receipt is already in the ledger.
          const isEntered = (await ledger.log.receipt(provenance.ledger_receipt_id)) !== undefined;
          if (!isEntered) await ledger.log.append(leafOf(bodySignedBytes(receipt, provenance), provenance));
        }),
      );
      await answers.enter(last.seq, receipts.map(usedOf), gateway);
      if (gateway === this.#deps.gateway()) this.#enteredSeq = last.seq;
    }
    if (gateway === this.#deps.gateway()) this.#isBehind = false;
  }
}

const newReceipt = ({ receiptId, keyId, body }: IssuedAnswer) => ({ id: receiptId, keyId, body });

/** Waits for all before it throws the first error, so that nothing is in progress afterwards. */
async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
