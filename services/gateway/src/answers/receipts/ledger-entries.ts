// Enters stored receipts into the ledger, in batches. What fails is read again from the database.
import type { SignedLedger } from '@strata/log';
import { bodySignedBytes, leafOf, type SignedBody } from '@strata/receipts';
import type { Logger } from 'pino';
import type { AnswerUsage } from '../../store/answers/answers.ts';
import type { GatewayStore } from '../../store/store.ts';
import { type AnswerReceipt, usedOf } from './answer-receipt.ts';

interface LedgerEntriesDeps {
  /** The id of this gateway among those of its database. */
  readonly gateway: () => number;
  readonly ledger: SignedLedger;
  readonly answers: GatewayStore['answers'];
  readonly logger: Logger;
}

/** Stored receipts that are not in the ledger yet. */
interface Pending {
  /** Sequence number of the last receipt of the batch. */
  readonly seq: number;
  /** The gateway that stored it. */
  readonly gateway: number;
  readonly batch: readonly { readonly leaf: string; readonly used: AnswerUsage }[];
}

/** Delay between the first stored receipt and the ledger entry of its batch, unless a receipt is fetched earlier. */
const ENTER_MS = 100;
/** The same after a large batch: a commit of the ledger changes a page for each leaf, and few more pages for many leaves. */
const BUSY_ENTER_MS = 500;
const LARGE_BATCH = 50;
/** Delay before a retry. */
const RETRY_MS = 5_000;
/** Number of receipts read from the database at once. */
const PAGE = 500;

export class LedgerEntries implements Disposable {
  readonly #deps: LedgerEntriesDeps;
  #pending: Pending[] = [];
  #entering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** A write failed: the receipts must be read again from the database. */
  #isBehind = false;
  #enteredSeq = 0;
  #enterMs = ENTER_MS;

  constructor(deps: LedgerEntriesDeps) {
    this.#deps = deps;
  }

  /** Receipts that are stored; in the order of their sequence numbers. */
  add(pending: Pending): void {
    this.#pending.push(pending);
  }

  /** A write that failed may have stored receipts. */
  readAgain(): void {
    this.#isBehind = true;
  }

  enterSoon(): void {
    this.#enterAfter(this.#enterMs);
  }

  /** Resolves when everything added before is in the ledger, or has failed and is logged. */
  async flush(): Promise<void> {
    // One in progress does not enter what was added after it began.
    await this.#entering;
    await this.#enter();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
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

  async #enterAll(): Promise<void> {
    await undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { ledger, answers, logger } = this.#deps;
    try {
      if (this.#isBehind) {
        // A write can fail while they are read.
        this.#isBehind = false;
        await this.catchUp(this.#deps.gateway());
      }
      const gateway = this.#deps.gateway();
      // Receipts that were read from the database in the meantime are already entered; those from before this gateway
      // got another id are entered by the one that settles them.
      const pending = this.#pending.filter((each) => each.seq > this.#enteredSeq && each.gateway === gateway);
      this.#pending = [];
      const last = pending.at(-1);
      if (last) {
        const all = pending.flatMap(({ batch }) => batch);
        this.#enterMs = all.length < LARGE_BATCH ? ENTER_MS : BUSY_ENTER_MS;
        await allSettled(all.map(({ leaf }) => ledger.log.append(Buffer.from(leaf, 'latin1'))));
        await answers.enter(
          last.seq,
          all.map(({ used }) => used),
          gateway,
        );
        this.#enteredSeq = last.seq;
      }
      if (this.#pending.length > 0 || this.#isBehind) this.#enterAfter(this.#enterMs);
    } catch (error) {
      logger.error({ err: error }, 'receipts are stored, but not in the ledger yet');
      // From here on the database is authoritative.
      this.#pending = [];
      this.#isBehind = true;
      this.#enterAfter(RETRY_MS);
    }
    this.#entering = undefined;
  }

  /** Enters what a gateway has stored and not entered; reads it from the database. */
  async catchUp(gateway: number): Promise<void> {
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
  }
}

/** Waits for all before it throws the first error, so that nothing is in progress afterwards. */
async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
