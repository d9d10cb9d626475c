// Settles workers' receipts: compares each with the observed segment, countersigns a correct one, and reports an
// incorrect one as a breach. A receipt is accepted once, and stored with both signatures before ours is sent: after a
// crash between the two, the same signature can be sent again from the database.
import { type ObservedSegment, segmentProblems, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { Segments } from '@strata/segments';
import type { Trust } from './audit/trust.ts';
import type { SignedSegment } from './session/session-events.ts';
import type { WorkerSession } from './session/worker-session.ts';

export interface SettlementDeps {
  readonly trust: Pick<Trust, 'breach'>;
  readonly segments: Pick<Segments, 'put' | 'list'>;
  /** Our own peer id, and the signature of its key. */
  readonly gateway: string;
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly now: () => Date;
}

/** The content of a `settle` frame. */
interface Agreement {
  readonly worker: string;
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

/** Per worker; a worker accepts at most 64 unknown ones in one session. */
const MAX_AGAIN = 32;
/** For all workers, newest last. */
const MAX_RECENT = 2_000;

/** Works concurrently with answers, which do not wait for it. */
export class Settlement implements AsyncDisposable {
  readonly #deps: SettlementDeps;
  readonly #running = new Set<Promise<void>>();
  /** Sessions in which earlier agreements were repeated. */
  readonly #repeated = new WeakSet<WorkerSession>();
  /** Undefined: not read from the database yet. */
  #recent: Agreement[] | undefined;

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
  }

  /** `caller`: the id of the requesting key. */
  settle(
    session: WorkerSession,
    segment: SignedSegment,
    caller: string | undefined,
    observed: Omit<ObservedSegment, 'gateway'>,
  ): void {
    // A failing database reports itself; the worker then has no agreement, and can report that.
    const run = this.#settle(session, segment, caller, { ...observed, gateway: this.#deps.gateway })
      .catch(() => {})
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Resolves when nothing is in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #settle(
    session: WorkerSession,
    segment: SignedSegment,
    caller: string | undefined,
    observed: ObservedSegment,
  ): Promise<void> {
    const { receipt, bytes, signature } = segment;
    const problems = [...segmentProblems(receipt, observed)];
    if (!(await verifyPeerSignature(observed.worker, segmentSignedBytes(bytes), signature))) problems.push('signature');
    if (problems.length > 0) {
      this.#deps.trust.breach(observed.worker, `a receipt with an incorrect ${problems.join(', ')}`);
      return;
    }
    await this.#repeatAgreements(session);
    session.settle(observed.nonce, await this.#agree(segment, caller));
  }

  /** Stores the receipt, and returns our signature. Rejects for a receipt that was already accepted. */
  async #agree({ receipt, bytes, signature }: SignedSegment, caller: string | undefined): Promise<Uint8Array> {
    const { segments, sign, now } = this.#deps;
    const { nonce, worker, gateway, modelSha256, promptTokens, cachedTokens, from, to } = receipt;
    const gatewaySignature = await sign(settleSignedBytes(bytes));
    const isNew = await segments.put({
      ...{ nonce, worker, gateway, caller, modelSha256, promptTokens, cachedTokens, outputTokens: to - from },
      ...{ endedAtMs: now().getTime(), receipt: bytes, workerSignature: signature, gatewaySignature },
    });
    if (!isNew) throw new Error('a receipt with this nonce was already accepted');
    this.#recent?.push({ worker, nonce, signature: gatewaySignature });
    if (this.#recent && this.#recent.length > MAX_RECENT * 2) this.#recent = this.#recent.slice(-MAX_RECENT);
    return gatewaySignature;
  }

  /**
   * If the gateway or the worker ended in between, agreements may not have arrived: the most recent ones are repeated
   * once per session.
   */
  async #repeatAgreements(session: WorkerSession): Promise<void> {
    if (this.#repeated.has(session)) return;
    this.#repeated.add(session);
    const stored = this.#recent ?? (await this.#stored());
    this.#recent ??= stored;
    const own = this.#recent.filter(({ worker }) => worker === session.peer).slice(-MAX_AGAIN);
    for (const { nonce, signature } of own) session.settle(nonce, signature);
  }

  /** From before a restart. */
  async #stored(): Promise<Agreement[]> {
    const stored = await this.#deps.segments.list({ limit: MAX_RECENT });
    return stored.toReversed().flatMap(({ worker, nonce, gatewaySignature: signature }) =>
      // Empty: the proof has expired.
      signature?.byteLength ? [{ worker, nonce, signature }] : [],
    );
  }
}
