// Issues the receipts of answers. Those of one iteration of the event loop go to a thread of their own together: it takes
// a fifth of the work that a busy gateway has with an answer. A single one is issued here, without the way to the thread.
import { Worker } from 'node:worker_threads';
import { type IssuedAnswer, issueAnswer, type ReceiptOrder } from './issue-answer.ts';
import type { IssueResult } from './receipt-issuer-thread.ts';

interface Waiting {
  readonly order: ReceiptOrder;
  readonly resolve: (issued: IssuedAnswer) => void;
  readonly reject: (error: unknown) => void;
}

export class ReceiptIssuer implements AsyncDisposable {
  #queued: Waiting[] = [];
  #thread: Worker | undefined;
  #isReady = false;
  /** Batches in the thread, oldest first. */
  #sent: Waiting[][] = [];

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
    const batch = this.#queued;
    this.#queued = [];
    // It takes a while to start: until then nothing waits for it.
    if (batch.length > 1) this.#thread ??= this.#start();
    if (batch.length > 1 && this.#isReady) {
      this.#sent.push(batch);
      this.#thread?.postMessage(batch.map(({ order }) => order));
    } else issueHere(batch);
  }

  #start(): Worker {
    const thread = new Worker(new URL('./receipt-issuer-thread.ts', import.meta.url));
    thread.unref();
    thread.on('message', (results: readonly IssueResult[]) => {
      this.#isReady = true;
      if (results.length === 0) return;
      for (const [at, { resolve, reject }] of this.#sent.shift()?.entries() ?? []) {
        const result = results[at] as IssueResult;
        if ('issued' in result) resolve(result.issued);
        else reject(result.error);
      }
    });
    // It ends then, and its batches are issued here.
    thread.on('error', () => {});
    thread.once('exit', () => {
      const lost = this.#sent.flat();
      this.#sent = [];
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
