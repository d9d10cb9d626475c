// Settles a worker's receipt: compares it with the observed segment, countersigns a correct one, and reports an
// incorrect one as a breach. Each receipt is accepted once, and stored with both signatures before ours is sent: after a
// crash between the two, the same signature can be sent again from the database.
import { type ObservedSegment, segmentProblems, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { Segments } from '@strata/segments';
import type { Trust } from './audit/trust.ts';
import type { SignedSegment } from './session/session-events.ts';
import type { WorkerSession } from './session/worker-session.ts';

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

/** The content of a `settle` frame. */
interface Agreement {
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SegmentAccounts {
  /** Stores a correct receipt, and returns our signature of it. `caller`: the id of the requesting key. */
  agree(segment: SignedSegment, caller: string | undefined): Promise<Uint8Array>;
  /** The most recent agreements with a worker, a few dozen: they may not have arrived, and can be sent again. */
  recent(worker: string): Promise<readonly Agreement[]>;
}

export interface SegmentAccountsDeps {
  readonly segments: Pick<Segments, 'put' | 'list'>;
  /** Signs with the key of our own node. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly now: () => Date;
}

/** Per worker; a worker accepts at most 64 unknown ones in one session. */
const MAX_AGAIN = 32;
/** For all workers, newest last. */
const MAX_RECENT = 2_000;

/** `agree` rejects for a receipt that was already accepted, and if it cannot be stored. */
export function openSegmentAccounts({ segments, sign, now }: SegmentAccountsDeps): SegmentAccounts {
  let known: (Agreement & { readonly worker: string })[] | undefined;
  return {
    async recent(worker) {
      // From before a restart: read from the database.
      known ??= (await segments.list({ limit: MAX_RECENT }))
        .toReversed()
        .flatMap(({ worker: name, nonce, gatewaySignature: signature }) =>
          // Empty: the proof has expired.
          signature?.byteLength ? [{ worker: name, nonce, signature }] : [],
        );
      return known.filter((agreement) => agreement.worker === worker).slice(-MAX_AGAIN);
    },
    async agree({ receipt, bytes, signature }, caller) {
      const gatewaySignature = await sign(settleSignedBytes(bytes));
      const isNew = await segments.put({
        nonce: receipt.nonce,
        worker: receipt.worker,
        gateway: receipt.gateway,
        caller,
        modelSha256: receipt.modelSha256,
        promptTokens: receipt.promptTokens,
        cachedTokens: receipt.cachedTokens,
        outputTokens: receipt.to - receipt.from,
        endedAtMs: now().getTime(),
        receipt: bytes,
        workerSignature: signature,
        gatewaySignature,
      });
      if (!isNew) throw new Error('a receipt with this nonce was already accepted');
      // Not loaded yet: it is read from the database on demand.
      known?.push({ worker: receipt.worker, nonce: receipt.nonce, signature: gatewaySignature });
      if (known && known.length > MAX_RECENT * 2) known.splice(0, known.length - MAX_RECENT);
      return gatewaySignature;
    },
  };
}
