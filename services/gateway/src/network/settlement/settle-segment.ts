// A worker's receipt held against what was seen: agreed to and counter-signed where it is right, told to trust where it is not.
import { type SeenSegment, segmentProblems, segmentSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { Trust } from '../audit/trust.ts';
import type { SignedSegment, WorkerSession } from '../session/worker-session.ts';
import type { SegmentAccounts } from './segment-accounts.ts';

export type SettleSegment = (
  session: WorkerSession,
  segment: SignedSegment,
  caller: string | undefined,
  seen: Omit<SeenSegment, 'gateway'>,
) => void;

export interface SettlementDeps {
  readonly trust: Trust;
  readonly accounts: SegmentAccounts;
  /** Our own peer id. */
  readonly gateway: string;
}

/** Settles beside the answers, which do not wait for it; whoever owns it waits at the end. */
export class Settlement {
  readonly #deps: SettlementDeps;
  readonly #running = new Set<Promise<void>>();
  /** Sessions whose workers were told of what was agreed before. */
  readonly #told = new WeakSet<WorkerSession>();

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
  }

  readonly settle: SettleSegment = (session, segment, caller, seen) => {
    const { gateway } = this.#deps;
    // Books that cannot be written tell of it themselves; the worker then has no agreement, and may say so.
    const run = this.#settle(session, segment, caller, { ...seen, gateway })
      .catch(() => {})
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  };

  /** Resolves when nothing is under way. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #settle(
    session: WorkerSession,
    segment: SignedSegment,
    caller: string | undefined,
    seen: SeenSegment,
  ): Promise<void> {
    const { receipt, bytes, signature } = segment;
    const problems = [...segmentProblems(receipt, seen)];
    if (!(await verifyPeerSignature(seen.worker, segmentSignedBytes(bytes), signature))) problems.push('signature');
    if (problems.length > 0) {
      this.#deps.trust.breach(seen.worker, `a receipt with a wrong ${problems.join(', ')}`);
      return;
    }
    await this.#tellAgain(session);
    session.settle(seen.nonce, await this.#deps.accounts.agree(segment, caller));
  }

  /** Where this gateway or the worker ended in between, an agreement may have been lost: on a new session it is repeated, once. */
  async #tellAgain(session: WorkerSession): Promise<void> {
    if (this.#told.has(session)) return;
    this.#told.add(session);
    for (const { nonce, signature } of await this.#deps.accounts.recent(session.peer)) session.settle(nonce, signature);
  }
}
