// Issues the receipts of answers. Those of one iteration of the event loop are sent to a worker thread in one batch: they
// are a fifth of a busy gateway's work per answer. While the thread works, the next batch grows: each message wakes a thread,
// which costs more than a receipt. A single receipt is issued on the main thread, without that delay.
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { type IssuedAnswer, type IssuedReceipt, issueAnswer, issuedAnswer, type ReceiptOrder } from './issue-answer.ts';

export interface ReceiptIssuerDeps {
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: () => Date;
}

interface Waiting {
  readonly order: ReceiptOrder;
  readonly resolve: (issued: IssuedAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that ended is not replaced until this long after its start. */
const RESTART_MS = 60_000;

export class ReceiptIssuer implements AsyncDisposable {
  readonly #deps: ReceiptIssuerDeps;
  readonly #url: URL;
  #queued: Waiting[] = [];
  #thread: Worker | undefined;
  #isReady = false;
  #startAfterMs = Number.NEGATIVE_INFINITY;
  /** The batch in the thread; empty: none. */
  #sent: readonly Waiting[] = [];

  /** `url`: the module that the thread runs. */
  constructor(deps: ReceiptIssuerDeps, url = new URL('./receipt-issuer-thread.ts', import.meta.url)) {
    this.#deps = deps;
    this.#url = url;
  }

  /** The thread runs. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves with the signed receipt; rejects for an answer that JSON cannot represent. */
  issue(order: ReceiptOrder): Promise<IssuedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<IssuedAnswer>();
    if (this.#queued.push({ order, resolve, reject }) === 1) setImmediate(() => this.#issueQueued());
    return promise;
  }

  #issueQueued(): void {
    if (this.#sent.length > 0 || this.#queued.length === 0) return;
    const batch = this.#queued;
    this.#queued = [];
    if (batch.length === 1 || !this.#send(batch)) issueHere(batch);
  }

  /** Sends a batch to the thread. False if the thread does not run: it is started, but nothing waits for that. */
  #send(batch: readonly Waiting[]): boolean {
    try {
      this.#thread ??= this.#start();
      if (!this.#isReady) return false;
      this.#thread?.postMessage(batch.map(({ order }) => order));
      this.#sent = batch;
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
    }
  }

  #warn(error: unknown): void {
    this.#deps.logger.warn({ err: error }, 'the thread that issues receipts failed: the main thread issues them');
  }

  #start(): Worker | undefined {
    const nowMs = this.#deps.now().getTime();
    if (nowMs < this.#startAfterMs) return undefined;
    this.#startAfterMs = nowMs + RESTART_MS;
    const thread = new Worker(this.#url);
    thread.unref();
    thread.on('message', (results: readonly (IssuedReceipt | undefined)[]) => {
      this.#isReady = true;
      const sent = this.#sent;
      this.#sent = [];
      for (const [at, waiting] of sent.entries()) {
        const issued = results[at];
        if (issued) waiting.resolve(issuedAnswer(waiting.order, issued));
        // It fails here again: an error that comes from the thread has lost its class.
        else issueHere([waiting]);
      }
      this.#issueQueued();
    });
    // It ends then, and its batches are issued here.
    thread.on('error', (error) => this.#warn(error));
    thread.once('exit', () => {
      const lost = [...this.#sent, ...this.#queued];
      [this.#sent, this.#queued] = [[], []];
      this.#isReady = false;
      this.#thread = undefined;
      issueHere(lost);
    });
    return thread;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }
}

function issueHere(batch: readonly Waiting[]): void {
  for (const { order, resolve, reject } of batch)
    try {
      resolve(issueAnswer(order));
    } catch (error) {
      reject(error);
    }
}
