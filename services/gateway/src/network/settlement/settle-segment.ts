// Settles a worker's receipt: compares it with the observed segment, countersigns a correct one, and reports an
// incorrect one as a breach.
import { type ObservedSegment, segmentProblems, segmentSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { Trust } from '../audit/trust.ts';
import type { SignedSegment, WorkerSession } from '../session/worker-session.ts';
import type { SegmentAccounts } from './segment-accounts.ts';

export type SettleSegment = (
  session: WorkerSession,
  segment: SignedSegment,
  caller: string | undefined,
  observed: Omit<ObservedSegment, 'gateway'>,
) => void;

export interface SettlementDeps {
  readonly trust: Trust;
  readonly accounts: SegmentAccounts;
  /** Our own peer id. */
  readonly gateway: string;
}

/** Settles concurrently with answers, which do not wait for it; the owner awaits `done`. */
export class Settlement {
  readonly #deps: SettlementDeps;
  readonly #running = new Set<Promise<void>>();
  /** Sessions in which earlier agreements were repeated. */
  readonly #repeated = new WeakSet<WorkerSession>();

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
  }

  readonly settle: SettleSegment = (session, segment, caller, observed) => {
    const { gateway } = this.#deps;
    // A failing database reports itself; the worker then has no agreement, and can report that.
    const run = this.#settle(session, segment, caller, { ...observed, gateway })
      .catch(() => {})
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  };

  /** Resolves when nothing is in progress. */
  async done(): Promise<void> {
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
    session.settle(observed.nonce, await this.#deps.accounts.agree(segment, caller));
  }

  /**
   * If the gateway or the worker ended in between, agreements may not have arrived: they are repeated once per session.
   */
  async #repeatAgreements(session: WorkerSession): Promise<void> {
    if (this.#repeated.has(session)) return;
    this.#repeated.add(session);
    for (const { nonce, signature } of await this.#deps.accounts.recent(session.peer)) session.settle(nonce, signature);
  }
}
