// Publishes the worker's offer: signed, valid for two minutes, and renewed periodically and when the load changes, or which
// models are loaded.
import type { ModelMemoryStats } from '@strata/engine';
import { encodeFrame, encodeOffer, OFFERS_TOPIC, type Offer, offerSignedBytes } from '@strata/inference';
import type { FairSlots } from '@strata/limits';
import type { PeerNode } from '@strata/p2p';
import type { Logger } from 'pino';
import { type ContributedModel, offeredModel } from '../contributed-model.ts';
import { SOFTWARE } from '../version.ts';

/** The content of an `offer` frame. */
export interface SignedOffer {
  readonly offer: Uint8Array;
  readonly signature: Uint8Array;
}

export interface OfferDeps {
  readonly node: Pick<PeerNode, 'id' | 'sign' | 'gossip'>;
  readonly models: readonly ContributedModel[];
  readonly slots: Pick<FairSlots, 'running' | 'waiting' | 'slots'>;
  /** Undefined: all models are always loaded. */
  readonly memory?: (() => Pick<ModelMemoryStats, 'budgetBytes' | 'heldBytes'>) | undefined;
  /** Whether the worker can serve requests at present. */
  readonly isFit: () => boolean;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const RENEW_MS = 30_000;
/** Two renewals may be lost. */
const LIFE_MS = 120_000;
/**
 * Directories accept 30 offers of a peer per minute; including renewals these are 14. Connected gateways get the load
 * from heartbeats.
 */
const BETWEEN_MS = 5_000;
/** Polling interval of the engine's state, which has no notification. */
const POLL_MS = 1_000;

export class Offers implements AsyncDisposable {
  readonly #deps: OfferDeps;
  readonly #listeners = new Set<(signed: SignedOffer) => void>();
  #current: SignedOffer;
  #sequence = 0;
  #publishedLoad = '';
  #isWithdrawn = false;
  #renewal: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #change: NodeJS.Timeout | undefined;
  #issuing: Promise<void> = Promise.resolve();

  private constructor(deps: OfferDeps) {
    this.#deps = deps;
    this.#current = { offer: new Uint8Array(), signature: new Uint8Array() };
  }

  /** Resolves when the first offer is signed; gossip continues in the background. */
  static async start(deps: OfferDeps): Promise<Offers> {
    const offers = new Offers(deps);
    await offers.#issue();
    offers.#renewal = setInterval(() => offers.#renew(), RENEW_MS);
    offers.#poll = setInterval(() => offers.noteLoad(), POLL_MS);
    return offers;
  }

  get current(): SignedOffer {
    return this.#current;
  }

  /** Calls the listener with each new offer until the signal is aborted. */
  watch(listener: (signed: SignedOffer) => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Must be called when the load may have changed; a significant change is published soon. */
  noteLoad(): void {
    if (this.#isWithdrawn || this.#change !== undefined || this.#load() === this.#publishedLoad) return;
    this.#change = setTimeout(() => {
      this.#change = undefined;
      if (this.#load() !== this.#publishedLoad) this.#renew();
    }, BETWEEN_MS);
  }

  /** Publishes an offer without models. */
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
    clearInterval(this.#poll);
    clearTimeout(this.#change);
    this.#change = undefined;
  }

  #renew(): void {
    this.#issuing = this.#issuing
      .then(() => this.#issue())
      .catch((error: unknown) => this.#deps.logger.error({ err: error }, 'renewing the offer failed'));
  }

  async #issue(models = this.#deps.isFit() ? this.#usable().map(offeredModel) : []): Promise<void> {
    const { node, slots, nowMs, logger, memory } = this.#deps;
    const held = memory?.();
    const issuedAtMs = nowMs();
    // Derived from the clock, so that it increases across restarts.
    this.#sequence = Math.max(this.#sequence + 1, issuedAtMs);
    this.#publishedLoad = this.#load();
    const offer: Offer = {
      peer: node.id,
      sequence: this.#sequence,
      issuedAtMs,
      expiresAtMs: issuedAtMs + LIFE_MS,
      software: SOFTWARE,
      models,
      running: slots.running,
      waiting: slots.waiting,
      ...(held ? { memoryBudgetBytes: Math.floor(held.budgetBytes), memoryHeldBytes: Math.floor(held.heldBytes) } : {}),
    };
    const bytes = encodeOffer(offer);
    const signed = { offer: bytes, signature: await node.sign(offerSignedBytes(bytes)) };
    this.#current = signed;
    for (const listener of this.#listeners) listener(signed);
    await node.gossip
      .publish(OFFERS_TOPIC, encodeFrame({ kind: 'offer', ...signed }))
      .catch((error: unknown) => logger.debug({ err: error }, 'publishing the offer by gossip failed'));
  }

  /** Without models that cannot be loaded at present. */
  #usable(): readonly ContributedModel[] {
    return this.#deps.models.filter(({ engine }) => engine.isReady || engine.isLoaded !== false);
  }

  /** The load in coarse steps, sufficient for remote placement, and the loaded models. */
  #load(): string {
    if (!this.#deps.isFit()) return 'unfit';
    const loaded = this.#usable().map(
      ({ name, engine }) => `${name} ${engine.isLoaded ?? true} ${engine.isLoading ?? false}`,
    );
    return [stepOf(this.#deps.slots), ...loaded].join();
  }
}

function stepOf({ running, waiting, slots }: OfferDeps['slots']): string {
  if (waiting > 0) return waiting > slots ? 'long queue' : 'queue';
  if (running >= slots) return 'full';
  return running === 0 ? 'idle' : 'some';
}
