// Records the signed receipt and the usage of each answer. A receipt is stored in the database before the end of its
// answer is sent, so that a crash cannot lose it. Soon afterwards, or at the next start, it is appended to the ledger
// and counted, in batches. It can be fetched once it is in the ledger. A stream is recorded before its first token is
// sent too, unless it arrived at once: if the process is killed before the end, another gateway of the database, or the
// next start, signs a receipt of what was known then.
import { setTimeout as sleep } from 'node:timers/promises';
import { isSuperseded, randomPart } from '@strata/db';
import type { Usage } from '@strata/inference';
import type { SignedLedger } from '@strata/log';
import { newReceiptId } from '@strata/receipts';
import type { Logger } from 'pino';
import type { NewReceipt as BegunAnswer } from '../../store/answers/answers.ts';
import type { NewStoredAnswer, StoredEnd } from '../../store/answers/stored-writes.ts';
import type { GatewayStore } from '../../store/store.ts';
import { type AnswerEnd, type AnswerReceipt, type AnswerStart, interruptedReceipt } from './answer-receipt.ts';
import type { IssuedAnswer, ReceiptOrder } from './issue-answer.ts';
import { LedgerEntries } from './ledger-entries.ts';
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

/** Number of receipts read from the database at once. */
const PAGE = 500;
/** How often, and how long, a receipt that another gateway has stored is read again until it is in the ledger. */
const ENTERED_POLL_MS = 50;
const ENTERED_POLLS = 40;

export class AnswerRecorder implements AsyncDisposable {
  readonly #deps: AnswerRecorderDeps;
  readonly #issuer: ReceiptIssuer;
  readonly #entries: LedgerEntries;
  /** Receipts that are being issued and stored. */
  readonly #issuing = new Set<Promise<void>>();
  #queued: Waiting[] = [];
  #storing: Promise<void> | undefined;

  constructor(deps: AnswerRecorderDeps) {
    this.#deps = deps;
    this.#issuer = new ReceiptIssuer(deps);
    this.#entries = new LedgerEntries(deps);
  }

  /** Enters the receipts that an ended gateway has left between database and ledger, and signs those of its interrupted answers. */
  async settle(gateway: number): Promise<void> {
    await this.#endInterrupted(gateway);
    await this.#entries.catchUp(gateway);
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
    this.#entries[Symbol.dispose]();
    await this.#issuer[Symbol.asyncDispose]();
  }

  /** Enters everything that is stored or being issued. */
  async #flush(): Promise<void> {
    await Promise.allSettled(this.#issuing);
    await this.#storing;
    await this.#entries.flush();
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
    this.#entries.enterSoon();
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
      if (ended.length > 0) this.#entries.add({ seq, gateway, batch: ended });
      for (const { resolve } of batch) resolve();
    } catch (error) {
      // Another gateway may have ended only some of these answers.
      if (isSuperseded(error) && batch.length > 1) for (const one of batch) await this.#storeBatch([one]);
      else {
        // The database may have committed it before the connection was lost.
        if (!isSuperseded(error)) this.#entries.readAgain();
        for (const { reject } of batch) reject(error);
      }
    }
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
}

const newReceipt = ({ receiptId, keyId, body }: IssuedAnswer) => ({ id: receiptId, keyId, body });
