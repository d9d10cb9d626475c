// A log whose checkpoints are shown to witnesses (c2sp.org/tlog-witness), and served with their cosignatures.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Checkpoint,
  type LedgerReceipt,
  noteText,
  signNote,
  type WitnessAddress,
  type WitnessReport,
} from '@strata/receipts';
import { type CheckpointSigner, type Log, type LogStats, noteSigner, type Placed } from '../log.ts';
import type { LogError } from '../log-error.ts';
import { claimedContradiction, type JudgedLog, provenContradiction, signedCheckpoint } from './contradiction.ts';
import { type Round, roundOf } from './round.ts';
import { type CosignOutcome, WitnessClient, type WitnessFetch } from './witness-client.ts';

/** Witnesses of a log: so many of them are to cosign each checkpoint that they are shown. */
export interface LogWitnesses {
  readonly addresses: readonly WitnessAddress[];
  readonly required: number;
  readonly fetch: WitnessFetch;
  /** Other times than the usual ones. */
  readonly timing?: Partial<typeof TIMING>;
}

export interface WitnessedLogOptions extends LogWitnesses, JudgedLog {
  readonly log: Log;
}

/** Milliseconds. */
const TIMING = {
  /** Between two checkpoints that are shown: a log signs many more. */
  roundMs: 1_000,
  /** No round waits longer, and neither does a request for a receipt: they go on with the cosignatures that there are. */
  waitMs: 2_000,
  /** Of a request to a witness: a late cosignature still counts. */
  timeoutMs: 10_000,
  /** How long other nodes of this log may be ahead of this one before a witness that is ahead is a contradiction. */
  aheadMs: 5_000,
  /** In which this node reads what other nodes of the log have appended: well above the interval at which it does. */
  followMs: 2_000,
  /** A witness that failed is left alone for so long, twice as long each time, up to the most. */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
};
const TICK_MS = 50;

/**
 * Appends wait for no witness. The checkpoint that is served is that of the last round: the newest that was shown to the witnesses, with
 * the cosignatures that came in time, and those that came later. A receipt is proved against the newest checkpoint that has as many
 * cosignatures as required, if that covers its leaf, else against the one served; one of a newer leaf waits for the round that
 * covers it.
 *
 * A witness that has cosigned more leaves than the log has, or another tree, shows that leaves were lost or the log was forked:
 * then the log is not opened. In operation the same stops appends, if the witness shows such a checkpoint with the log's own signature,
 * until the log goes on from that checkpoint.
 */
export class WitnessedLog implements Log, AsyncDisposable {
  readonly #options: WitnessedLogOptions;
  readonly #log: Log;
  readonly #timing: typeof TIMING;
  readonly #witnesses: readonly WitnessClient[];
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #roundAt = Number.NEGATIVE_INFINITY;
  /** Resolved when the next round is over. */
  #roundOver = Promise.withResolvers<void>();
  #served: Round;
  /** The newest that has as many cosignatures as required. */
  #cosigned: Round | undefined;
  /** Signed checkpoints that the log does not go on from, by the witness that shows them. */
  readonly #contradictions = new Map<WitnessClient, { readonly checkpoint: Checkpoint; readonly error: LogError }>();

  private constructor(options: WitnessedLogOptions) {
    const { log, addresses, fetch, timing } = options;
    this.#options = options;
    this.#log = log;
    this.#timing = { ...TIMING, ...timing };
    this.#witnesses = addresses.map((address) => new WitnessClient(address, { fetch, ...this.#timing }));
    this.#served = roundOf(log);
  }

  /**
   * Shows the witnesses the log as it is. Rejects with LogError `lost-leaves` or `forked` where one of them has cosigned more or something
   * else; one that does not answer in time is asked again later.
   */
  static async open(options: WitnessedLogOptions): Promise<WitnessedLog> {
    const opened = new WitnessedLog(options);
    try {
      await opened.#firstRound();
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
    opened.#running = opened.#run();
    return opened;
  }

  get size(): number {
    return this.#log.size;
  }

  checkpoint(): string {
    return this.#noteOf(this.#served);
  }

  append(leaf: Uint8Array): Promise<Placed> {
    const { refusal } = this;
    return refusal ? Promise.reject(refusal) : this.#log.append(leaf);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return path === 'checkpoint' ? new TextEncoder().encode(this.checkpoint()) : this.#log.read(path);
  }

  async receipt(ledgerReceiptId: string): Promise<LedgerReceipt | undefined> {
    const covered = await this.#coveredReceipt(ledgerReceiptId);
    if (covered) return covered;
    const newest = await this.#log.receipt(ledgerReceiptId);
    if (!newest) return undefined;
    await this.#waitFor(newest.index);
    const late = await this.#coveredReceipt(ledgerReceiptId);
    if (late) return late;
    // Clients remember the tree of a receipt: the checkpoint that is served must not be an older one.
    this.#serve(this.#newest());
    return this.#coveredReceipt(ledgerReceiptId);
  }

  /** Signs anew what is served, for the key has changed: call it after the log has signed its present tree anew. */
  resign(signer: CheckpointSigner): void {
    const named = noteSigner(this.#options.origin, signer);
    // Cosignatures are over the text alone: they hold under any signature of the log.
    const resigned = (round: Round) => ({ ...round, note: signNote(noteText(round.note), [named]) });
    this.#served = resigned(this.#served);
    this.#cosigned = this.#cosigned && resigned(this.#cosigned);
  }

  /** Why no leaf is accepted now. */
  get refusal(): LogError | undefined {
    const [first] = this.#contradictions.values();
    return first?.error;
  }

  stats(): LogStats {
    const stats = this.#log.stats();
    const { refusal } = this;
    return refusal ? { ...stats, refusal, backgroundError: refusal } : stats;
  }

  report(): WitnessReport {
    const { lines } = this.#served;
    const missing = this.#witnesses.filter((witness) => !lines.has(witness));
    return {
      ...{ configured: this.#witnesses.length, required: this.#options.required, cosigning: lines.size },
      cosignedLeaves: this.#cosigned?.size ?? 0,
      missing: missing.map(({ name, detail }) => ({ name, detail })),
    };
  }

  /** Ends the requests to witnesses; the log stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #coveredReceipt(ledgerReceiptId: string): Promise<LedgerReceipt | undefined> {
    for (const round of [this.#cosigned, this.#served]) {
      const receipt = round && (await this.#log.receipt(ledgerReceiptId, { ...round, note: this.#noteOf(round) }));
      if (receipt) return receipt;
    }
    return undefined;
  }

  /** With its cosignatures in the order of the settings, whichever came first. */
  #noteOf({ note, lines }: Round): string {
    return note + this.#witnesses.map((witness) => (lines.has(witness) ? `${lines.get(witness)}\n` : '')).join('');
  }

  /** Until a round that covers the leaf is over, or the time for it. */
  async #waitFor(index: number): Promise<void> {
    const deadline = performance.now() + this.#timing.waitMs;
    for (let leftMs = this.#timing.waitMs; this.#served.size <= index && leftMs > 0; ) {
      await within(leftMs, this.#roundOver.promise);
      leftMs = this.#closing.signal.aborted ? 0 : deadline - performance.now();
    }
  }

  async #firstRound(): Promise<void> {
    const { waitMs, followMs } = this.#timing;
    const round = this.#served;
    const outcomes: [WitnessClient, CosignOutcome][] = [];
    const asking = this.#witnesses.map(async (witness) => outcomes.push([witness, await this.#ask(witness, round)]));
    await within(waitMs, Promise.all(asking));
    for (const [witness, outcome] of outcomes) {
      const contradiction = await claimedContradiction(witness, outcome, { ...this.#options, followMs });
      if (contradiction) throw contradiction;
    }
    this.#serve(round);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(TICK_MS, undefined, { signal, ref: false }).catch(() => {});
      const isEarly = performance.now() - this.#roundAt < this.#timing.roundMs;
      if (!signal.aborted && !isEarly && this.#isDue()) await this.#round();
    }
  }

  /** A checkpoint that was not shown yet, or one that lacks the cosignature of a witness that can be asked; or a contradiction to judge again. */
  #isDue(): boolean {
    if (this.#contradictions.size > 0) return true;
    return this.#log.checkpoint() !== this.#served.note || this.#toAsk(this.#served).length > 0;
  }

  /** The newest checkpoint. Cosignatures are over the text, under any signature of the log: those of the round served hold for the same text. */
  #newest(): Round {
    const fresh = roundOf(this.#log);
    const isSameText = noteText(fresh.note) === noteText(this.#served.note);
    return isSameText ? { ...this.#served, note: fresh.note } : fresh;
  }

  #toAsk({ lines }: Round): readonly WitnessClient[] {
    return this.#witnesses.filter((witness) => witness.canBeAsked && !lines.has(witness));
  }

  async #round(): Promise<void> {
    this.#roundAt = performance.now();
    await this.#reconsider();
    const round = this.#newest();
    const asking = this.#toAsk(round).map(async (witness) => {
      const { kind } = await this.#ask(witness, round);
      if (kind === 'forked' || witness.aheadMs > this.#timing.aheadMs) await this.#inspect(witness).catch(() => {});
    });
    await within(this.#timing.waitMs, Promise.race([Promise.all(asking), round.enough.promise]));
    this.#serve(round);
  }

  /** Where a witness shows a signed checkpoint that the log does not go on from, even after reading what other nodes appended. */
  async #inspect(witness: WitnessClient): Promise<void> {
    const { followMs } = this.#timing;
    const checkpoint = await signedCheckpoint(witness, this.#options);
    const error = checkpoint && (await provenContradiction(witness, checkpoint, { ...this.#options, followMs }));
    if (error && !this.#contradictions.has(witness)) this.#contradictions.set(witness, { checkpoint, error });
  }

  /** A node that was behind, or whose database was restored, accepts leaves again. */
  async #reconsider(): Promise<void> {
    for (const [witness, { checkpoint, error }] of this.#contradictions) {
      const judged = provenContradiction(witness, checkpoint, { ...this.#options, followMs: 0 });
      // A tree that cannot be read settles nothing.
      if (!(await judged.catch(() => error))) this.#contradictions.delete(witness);
    }
  }

  /** Never an older tree than before. */
  #serve(round: Round): void {
    if (round.size >= this.#served.size) this.#served = round;
    this.#settle(round);
    this.#roundOver.resolve();
    this.#roundOver = Promise.withResolvers();
  }

  /** Takes note of a round that has enough cosignatures, now or late. */
  #settle(round: Round): void {
    if (round.lines.size < this.#options.required) return;
    round.enough.resolve();
    if (round.size >= (this.#cosigned?.size ?? 0)) this.#cosigned = round;
  }

  async #ask(witness: WitnessClient, round: Round): Promise<CosignOutcome> {
    const outcome = await witness.ask(round, round.tiles, this.#closing.signal);
    if (outcome.kind === 'cosigned') {
      round.lines.set(witness, outcome.line);
      this.#settle(round);
    }
    return outcome;
  }
}

/** Waits for work that does not reject, and no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = delay(ms, undefined, { signal: over.signal, ref: false }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
