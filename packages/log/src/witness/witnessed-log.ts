// A log whose checkpoints are cosigned by witnesses (c2sp.org/tlog-witness).
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Checkpoint,
  type LedgerReceipt,
  noteText,
  signNote,
  type WitnessAddress,
  type WitnessReport,
} from '@strata/receipts';
import { type AppendedLeaf, type CheckpointSigner, type Log, type LogStats, noteSigner } from '../log.ts';
import type { LogError } from '../log-error.ts';
import { claimedContradiction, type JudgedLog, provenContradiction, signedCheckpoint } from './contradiction.ts';
import { type Round, roundOf } from './round.ts';
import { type CosignOutcome, WitnessClient, type WitnessFetch } from './witness-client.ts';

/** The witnesses of a log, and how many of them must cosign a checkpoint. */
export interface LogWitnesses {
  readonly addresses: readonly WitnessAddress[];
  readonly required: number;
  readonly fetch: WitnessFetch;
  /** Overrides of the default timing. */
  readonly timing?: Partial<typeof TIMING>;
}

export interface WitnessedLogOptions extends LogWitnesses, JudgedLog {
  readonly log: Log;
}

/** Milliseconds. */
const TIMING = {
  /** Between two checkpoints sent to witnesses; a log signs many more. */
  roundMs: 1_000,
  /** Time limit of a round, and of a request for a receipt: afterwards they continue with the cosignatures received. */
  waitMs: 2_000,
  /** Of a request to a witness; late cosignatures are still used. */
  timeoutMs: 10_000,
  /** How long a witness may be ahead of this node, because of other nodes, before that is a contradiction. */
  aheadMs: 5_000,
  /** In which this node reads what other nodes have appended: well above its refresh interval. */
  followMs: 2_000,
  /** Backoff after a failure of a witness; doubles up to `maxBackoffMs`. */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
};
const TICK_MS = 50;

/**
 * Appends do not wait for witnesses. The published checkpoint is that of the last round: the newest that was sent to the witnesses, with
 * the cosignatures received in time and later. A receipt is proved against the newest checkpoint with the required cosignatures, if
 * that covers its leaf, else against the published one; a receipt of a newer leaf waits for the round that covers it.
 *
 * A witness that has cosigned more leaves than the log has, or another tree, shows that leaves were lost or the log was forked: then
 * the log is not opened. During operation appends stop if the witness serves such a checkpoint with the log's own signature, until the
 * log is consistent with that checkpoint.
 */
export class WitnessedLog implements Log, AsyncDisposable {
  readonly #options: WitnessedLogOptions;
  readonly #log: Log;
  readonly #timing: typeof TIMING;
  readonly #witnesses: readonly WitnessClient[];
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #roundAt = Number.NEGATIVE_INFINITY;
  /** Resolves when the next round ends. */
  #roundOver = Promise.withResolvers<void>();
  #served: Round;
  /** The newest round with the required number of cosignatures. */
  #cosigned: Round | undefined;
  /** Signed checkpoints that the log is inconsistent with, by the witness that serves them. */
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
   * Sends the current checkpoint to the witnesses. Rejects with LogError `lost-leaves` or `forked` if one of them has cosigned more or
   * another tree; a witness that does not respond in time is retried later.
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

  append(leaf: Uint8Array): Promise<AppendedLeaf> {
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
    // Clients remember the tree of a receipt: the published checkpoint must not be older.
    this.#serve(this.#newest());
    return this.#coveredReceipt(ledgerReceiptId);
  }

  /** Signs the published checkpoints with a new key: call it after the log has signed its current tree again. */
  resign(signer: CheckpointSigner): void {
    const named = noteSigner(this.#options.origin, signer);
    // Cosignatures cover only the text, so they are valid with any signature of the log.
    const resigned = (round: Round) => ({ ...round, note: signNote(noteText(round.note), [named]) });
    this.#served = resigned(this.#served);
    this.#cosigned = this.#cosigned && resigned(this.#cosigned);
  }

  /** Why no leaf is accepted. */
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

  /** Cancels requests to witnesses; the log stays open. */
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

  /** With its cosignatures in the order of the settings. */
  #noteOf({ note, lines }: Round): string {
    return note + this.#witnesses.map((witness) => (lines.has(witness) ? `${lines.get(witness)}\n` : '')).join('');
  }

  /** Waits until a round that covers the leaf ends, or the time limit. */
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

  /** True for a new checkpoint, for one that lacks the cosignature of an available witness, and while there is a contradiction. */
  #isDue(): boolean {
    if (this.#contradictions.size > 0) return true;
    return this.#log.checkpoint() !== this.#served.note || this.#toAsk(this.#served).length > 0;
  }

  /** The newest checkpoint, with the cosignatures of the published one if the text is the same. */
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

  /** Records a contradiction if a witness serves a signed checkpoint that the log is inconsistent with, after reading other nodes' leaves. */
  async #inspect(witness: WitnessClient): Promise<void> {
    const { followMs } = this.#timing;
    const checkpoint = await signedCheckpoint(witness, this.#options);
    const error = checkpoint && (await provenContradiction(witness, checkpoint, { ...this.#options, followMs }));
    if (error && !this.#contradictions.has(witness)) this.#contradictions.set(witness, { checkpoint, error });
  }

  /** Removes resolved contradictions: the node has caught up, or its database was restored. */
  async #reconsider(): Promise<void> {
    for (const [witness, { checkpoint, error }] of this.#contradictions) {
      const judged = provenContradiction(witness, checkpoint, { ...this.#options, followMs: 0 });
      // If the tree cannot be read, the contradiction is kept.
      if (!(await judged.catch(() => error))) this.#contradictions.delete(witness);
    }
  }

  /** Publishes a round, unless a larger tree is published. */
  #serve(round: Round): void {
    if (round.size >= this.#served.size) this.#served = round;
    this.#settle(round);
    this.#roundOver.resolve();
    this.#roundOver = Promise.withResolvers();
  }

  /** Records a round that has the required cosignatures. */
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

/** Waits for work that does not reject, for at most `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = delay(ms, undefined, { signal: over.signal, ref: false }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
