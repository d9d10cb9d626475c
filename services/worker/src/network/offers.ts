// What this worker tells of itself: a signed offer that is good for two minutes, renewed before, and when its load has changed.
import { encodeFrame, encodeOffer, OFFERS_TOPIC, type Offer, offerSignedBytes } from '@strata/inference';
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import { type LentModel, offeredModel } from '../contributed-model.ts';
import type { EngineSlots } from '../serve/engine-slots.ts';
import { SOFTWARE } from '../version.ts';

/** As it stands in the frame `offer`. */
export interface SignedOffer {
  readonly offer: Uint8Array;
  readonly signature: Uint8Array;
}

export interface OfferDeps {
  readonly node: Pick<PeerNode, 'id' | 'sign' | 'gossip'>;
  readonly model: LentModel;
  readonly places: Pick<EngineSlots, 'running' | 'waiting'>;
  /** Whether there is anything to offer just now. */
  readonly isFit: () => boolean;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const RENEW_MS = 30_000;
/** Two renewals may be lost. */
const LIFE_MS = 120_000;
/** Directories take 30 offers of a peer in a minute; with the renewals these are 14. Connected gateways hear the load by pulses. */
const BETWEEN_MS = 5_000;
/** Nobody tells that an engine does not come back: it is looked at. */
const LOOK_MS = 1_000;

export class Offers implements AsyncDisposable {
  readonly #deps: OfferDeps;
  readonly #listeners = new Set<(signed: SignedOffer) => void>();
  #current: SignedOffer;
  #sequence = 0;
  #toldLoad = '';
  #isWithdrawn = false;
  #renewal: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #change: NodeJS.Timeout | undefined;
  #issuing: Promise<void> = Promise.resolve();

  private constructor(deps: OfferDeps) {
    this.#deps = deps;
    this.#current = { offer: new Uint8Array(), signature: new Uint8Array() };
  }

  /** Resolves with the first offer signed; gossip goes on beside. */
  static async start(deps: OfferDeps): Promise<Offers> {
    const offers = new Offers(deps);
    await offers.#issue();
    offers.#renewal = setInterval(() => offers.#renew(), RENEW_MS);
    offers.#look = setInterval(() => offers.noteLoad(), LOOK_MS);
    return offers;
  }

  get current(): SignedOffer {
    return this.#current;
  }

  /** Hears each new offer, until the signal is aborted. */
  watch(listener: (signed: SignedOffer) => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** The load may have changed: told soon if it matters to who looks for a worker. */
  noteLoad(): void {
    if (this.#isWithdrawn || this.#change !== undefined || this.#load() === this.#toldLoad) return;
    this.#change = setTimeout(() => {
      this.#change = undefined;
      if (this.#load() !== this.#toldLoad) this.#renew();
    }, BETWEEN_MS);
  }

  /** Tells everybody that there is nothing here any more. */
  async withdraw(): Promise<void> {
    this.#isWithdrawn = true;
    this.#stop();
    await this.#issuing;
    await this.#issue([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    this.#listeners.clear();
    await this.#issuing;
  }

  #stop(): void {
    clearInterval(this.#renewal);
    clearInterval(this.#look);
    clearTimeout(this.#change);
    this.#change = undefined;
  }

  #renew(): void {
    this.#issuing = this.#issuing
      .then(() => this.#issue())
      .catch((error: unknown) => this.#deps.logger.error({ err: error }, 'renewing the offer failed'));
  }

  async #issue(models = this.#deps.isFit() ? [offeredModel(this.#deps.model)] : []): Promise<void> {
    const { node, places, nowMs, logger } = this.#deps;
    const issuedAtMs = nowMs();
    // The clock's time: it goes on growing after a restart.
    this.#sequence = Math.max(this.#sequence + 1, issuedAtMs);
    this.#toldLoad = this.#load();
    const offer: Offer = {
      peer: node.id,
      sequence: this.#sequence,
      issuedAtMs,
      expiresAtMs: issuedAtMs + LIFE_MS,
      software: SOFTWARE,
      models,
      running: places.running,
      waiting: places.waiting,
    };
    const bytes = encodeOffer(offer);
    const signed = { offer: bytes, signature: await node.sign(offerSignedBytes(bytes)) };
    this.#current = signed;
    for (const listener of this.#listeners) listener(signed);
    await node.gossip
      .publish(OFFERS_TOPIC, encodeFrame({ kind: 'offer', ...signed }))
      .catch((error: unknown) => logger.debug({ err: error }, 'the offer was not told by gossip'));
  }

  /** As coarse as a choice from afar needs it. */
  #load(): string {
    const { running, waiting } = this.#deps.places;
    const { slots } = this.#deps.model.engine.info;
    if (!this.#deps.isFit()) return 'unfit';
    if (waiting > 0) return waiting > slots ? 'long line' : 'line';
    if (running >= slots) return 'full';
    return running === 0 ? 'idle' : 'some';
  }
}
