// The client of one witness (c2sp.org/tlog-witness); it learns the size that the witness has last cosigned from its responses.
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

/** Sends one request, without redirects, limited in size and time; never rejects. */
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
  /** The witness has cosigned more leaves than the checkpoint has. */
  | { readonly kind: 'ahead'; readonly size: number }
  /** The witness has cosigned another tree of this size. */
  | { readonly kind: 'forked'; readonly size: number }
  | { readonly kind: 'failed'; readonly detail: string };

/** The witness may have received checkpoints of other nodes between two requests. */
const MAX_TRIES = 3;
const MAX_ANSWER_BYTES = 65_536;

/** The statuses of c2sp.org/tlog-witness, as messages for operators. */
const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'it cannot read the request',
  403: "it does not accept the log's key: give it the newest verifier key",
  404: 'it does not know the log: give it origin and verifier key',
  429: 'its rate limit is exceeded',
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
  /** Size of the latest checkpoint that the witness has cosigned, as last reported by it. */
  #size = 0;
  #isBusy = false;
  /** Consecutive failures. */
  #failures = 0;
  #askAt = Number.NEGATIVE_INFINITY;
  #aheadSince = Number.POSITIVE_INFINITY;
  #detail = 'it has not responded yet';

  constructor(address: WitnessAddress, options: WitnessClientOptions) {
    this.#address = address;
    this.#options = options;
  }

  get name(): string {
    return this.#address.verifier.name;
  }

  /** False during a request, and during the backoff after a failure. */
  get canBeAsked(): boolean {
    return !this.#isBusy && performance.now() >= this.#askAt;
  }

  /** Why it has not cosigned the last checkpoint. */
  get detail(): string {
    return this.#detail;
  }

  /** How long the witness has been ahead of the log. */
  get aheadMs(): number {
    return Math.max(0, performance.now() - this.#aheadSince);
  }

  /** Requests a cosignature of a checkpoint; `tiles` are those of its tree. */
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
        : `it has cosigned ${isAhead ? `${outcome.size} leaves, more than the log has` : 'another tree'}`;
    return outcome;
  }

  /** Rejects if the tiles do not match the checkpoint: a proof from them would appear as a fork. */
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
        return { kind: 'failed', detail: PROBLEMS[status] ?? `it responds with status ${status}` };
      if (known > head.size) return { kind: 'ahead', size: known };
      this.#size = known;
    }
    return { kind: 'failed', detail: 'it reports another size each time' };
  }

  /** The latest checkpoint that the witness has cosigned, if it serves one: an unverified note. */
  async latest(origin: string): Promise<string | undefined> {
    const answer = await this.#send('GET', `${originHashOf(origin)}/checkpoint`, {});
    return answer.kind === 'answered' && answer.status === 200 ? answer.text : undefined;
  }

  /** Finds its cosignature in the response, which may contain other lines. */
  async #accept(head: PublishedCheckpoint, lines: string): Promise<CosignOutcome> {
    const { verifier } = this.#address;
    const read = await readCosignatures(`${noteText(head.note)}\n${lines}`, [verifier]);
    const [cosignature] = 'cosignatures' in read ? read.cosignatures : [];
    if (cosignature) return { kind: 'cosigned', line: cosignature.line };
    return { kind: 'failed', detail: 'problem' in read ? read.problem : 'its response has no cosignature of its key' };
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
