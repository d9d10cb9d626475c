// One witness as a log asks it (c2sp.org/tlog-witness): what it has cosigned last is learned from its answers.
import {
  consistencyProof,
  formatAddCheckpoint,
  noteText,
  readCosignatures,
  type WitnessAddress,
} from '@strata/receipts';
import type { PublishedCheckpoint } from '../log.ts';
import type { ServedTiles } from '../publication/served-tiles.ts';
import { originHashOf } from './witness.ts';

/** Sends one request and follows no redirect; bounded in size and time, and never rejects. */
export type WitnessFetch = (
  url: string,
  request: {
    readonly method: 'GET' | 'POST';
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly maxBytes: number;
    readonly timeoutMs: number;
    readonly maxRedirects: 0;
    readonly signal?: AbortSignal;
  },
) => Promise<
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'failed'; readonly detail: string }
>;

export type CosignOutcome =
  /** `line` is the signature line, without its newline. */
  | { readonly kind: 'cosigned'; readonly line: string }
  /** It has cosigned more leaves than the checkpoint has. */
  | { readonly kind: 'ahead'; readonly size: number }
  /** It has cosigned another tree of so many leaves. */
  | { readonly kind: 'forked'; readonly size: number }
  | { readonly kind: 'failed'; readonly detail: string };

/** A witness may have seen checkpoints of other nodes between two requests. */
const MAX_TRIES = 3;
const MAX_ANSWER_BYTES = 65_536;

/** What the statuses of c2sp.org/tlog-witness mean to an operator. */
const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'it cannot read the request',
  403: "it does not accept the log's key: give it the newest verifier key",
  404: 'it does not know the log: give it origin and verifier key',
  429: 'it is asked too often',
};

export interface WitnessClientOptions {
  readonly fetch: WitnessFetch;
  readonly timeoutMs: number;
  /** Backoff after a failure; doubles up to `maxBackoffMs`. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

export class WitnessClient {
  readonly #address: WitnessAddress;
  readonly #options: WitnessClientOptions;
  /** Leaves of the latest checkpoint that it has cosigned, as last reported by it. */
  #size = 0;
  #isBusy = false;
  /** In a row. */
  #failures = 0;
  #askAt = Number.NEGATIVE_INFINITY;
  #aheadSince = Number.POSITIVE_INFINITY;
  #detail = 'it has not answered yet';

  constructor(address: WitnessAddress, options: WitnessClientOptions) {
    this.#address = address;
    this.#options = options;
  }

  get name(): string {
    return this.#address.verifier.name;
  }

  /** False while it is asked, and for a while after it failed. */
  get canBeAsked(): boolean {
    return !this.#isBusy && performance.now() >= this.#askAt;
  }

  /** Why it has not cosigned what it was shown last. */
  get detail(): string {
    return this.#detail;
  }

  /** How long it has cosigned more than the log has. */
  get aheadMs(): number {
    return Math.max(0, performance.now() - this.#aheadSince);
  }

  /** Shows the witness a checkpoint; `tiles` are those of its tree. */
  async ask(head: PublishedCheckpoint, tiles: ServedTiles, signal: AbortSignal): Promise<CosignOutcome> {
    this.#isBusy = true;
    const outcome = await this.#cosign(head, tiles, signal).catch(
      (error: Error): CosignOutcome => ({ kind: 'failed', detail: error.message }),
    );
    this.#isBusy = false;
    const isAhead = outcome.kind === 'ahead';
    this.#aheadSince = isAhead ? Math.min(this.#aheadSince, performance.now()) : Number.POSITIVE_INFINITY;
    if (outcome.kind === 'cosigned') {
      this.#failures = 0;
      return outcome;
    }
    const { backoffMs, maxBackoffMs } = this.#options;
    this.#askAt = performance.now() + Math.min(maxBackoffMs, backoffMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#detail =
      outcome.kind === 'failed'
        ? outcome.detail
        : `it has cosigned ${isAhead ? `${outcome.size} leaves, more than there are` : 'another tree than this'}`;
    return outcome;
  }

  /** Rejects where the tiles do not lead to the checkpoint: a proof from them would look like a fork. */
  async #cosign(head: PublishedCheckpoint, tiles: ServedTiles, signal: AbortSignal): Promise<CosignOutcome> {
    await tiles.checkRoot(head.root);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const oldSize = Math.min(this.#size, head.size);
      const proof = await consistencyProof(tiles.hashes, oldSize, head.size);
      const answer = await this.#send('POST', 'add-checkpoint', {
        body: formatAddCheckpoint({ oldSize, proof, checkpoint: head.note }),
        signal,
      });
      if (answer.kind === 'failed') return answer;
      const { status, text } = answer;
      if (status === 200) {
        const outcome = await this.#accept(head, text);
        if (outcome.kind === 'cosigned') this.#size = head.size;
        return outcome;
      }
      if (status === 422) return { kind: 'forked', size: oldSize };
      const known = status === 409 ? sizeIn(text) : undefined;
      if (known === undefined)
        return { kind: 'failed', detail: PROBLEMS[status] ?? `it answers with status ${status}` };
      if (known > head.size) return { kind: 'ahead', size: known };
      this.#size = known;
    }
    return { kind: 'failed', detail: 'it names another size each time' };
  }

  /** The latest checkpoint that it has cosigned, if it shows one: a note, unchecked. */
  async latest(origin: string): Promise<string | undefined> {
    const answer = await this.#send('GET', `${originHashOf(origin)}/checkpoint`, {});
    return answer.kind === 'answered' && answer.status === 200 ? answer.text : undefined;
  }

  /** Its cosignature among the lines of its answer, which may hold others. */
  async #accept(head: PublishedCheckpoint, lines: string): Promise<CosignOutcome> {
    const { verifier } = this.#address;
    const read = await readCosignatures(`${noteText(head.note)}\n${lines}`, [verifier]);
    const [cosignature] = 'cosignatures' in read ? read.cosignatures : [];
    if (cosignature) return { kind: 'cosigned', line: cosignature.line };
    return { kind: 'failed', detail: 'problem' in read ? read.problem : 'it answers without a cosignature of its key' };
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    more: { readonly body?: string; readonly signal?: AbortSignal },
  ): Promise<{ kind: 'answered'; status: number; text: string } | { kind: 'failed'; detail: string }> {
    const answer = await this.#options.fetch(`${this.#address.url}/${path}`, {
      ...{ method, maxBytes: MAX_ANSWER_BYTES, timeoutMs: this.#options.timeoutMs, maxRedirects: 0, ...more },
      ...(method === 'POST' && { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
    });
    if (answer.kind === 'failed') return answer;
    return { kind: 'answered', status: answer.status, text: new TextDecoder().decode(answer.body) };
  }
}

function sizeIn(text: string): number | undefined {
  const size = Number(/^(0|[1-9]\d{0,15})\n$/.exec(text)?.[1]);
  return Number.isSafeInteger(size) ? size : undefined;
}
