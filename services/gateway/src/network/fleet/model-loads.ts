// The use of models by worker, and the loads that this gateway has begun: what it costs to load another one there. Shared
// by the fleets of all models.
import { evictionMs, type Offer, type OfferedModel } from '@strata/inference';
import { LRUCache } from 'lru-cache';

export interface ExpectedLoad {
  /** 0: it is loaded. */
  readonly loadMs: number;
  /** A load was begun: a request sent there waits for it. */
  readonly isLoading: boolean;
  readonly evictionMs: number;
}

/** Of 2,000 workers with ten models each. */
const MAX_USES = 20_000;
/** Of a model whose last use is not known: another gateway may use it. */
const UNKNOWN_IDLE_MS = 600_000;
/** A load that has not become visible after twice its time and this is given up. */
const GRACE_MS = 10_000;
const LOADED: ExpectedLoad = { loadMs: 0, isLoading: false, evictionMs: 0 };

const keyOf = (peer: string, { sha256 }: Pick<OfferedModel, 'sha256'>) => `${peer} ${sha256}`;
/** Offers have no load time of a loaded model: a process starts in about a second, and reads the file at 1 GB/s. */
const reloadMsOf = ({ sizeBytes }: OfferedModel) => 1_000 + sizeBytes / 1e6;

export class ModelLoads {
  readonly #nowMs: () => number;
  readonly #usedAtMs = new LRUCache<string, number>({ max: MAX_USES });
  readonly #begunAtMs = new LRUCache<string, number>({ max: MAX_USES });

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A request is sent there; it begins the load of a model that is not loaded. */
  noteAsked(peer: string, model: OfferedModel): void {
    const key = keyOf(peer, model);
    this.#usedAtMs.set(key, this.#nowMs());
    if (model.loadMs !== undefined && !this.#isBegun(peer, model)) this.#begunAtMs.set(key, this.#nowMs());
  }

  /** The load has ended, or failed. */
  noteEnded(peer: string, model: OfferedModel): void {
    this.#begunAtMs.delete(keyOf(peer, model));
  }

  /** For a model of the offer. Workers of earlier versions report no memory: nothing is known of what they would close. */
  expected(offer: Offer, model: OfferedModel): ExpectedLoad {
    if (model.loadMs === undefined) return LOADED;
    const { peer } = offer;
    if (this.#isBegun(peer, model)) {
      const begunAtMs = this.#begunAtMs.get(keyOf(peer, model)) ?? this.#nowMs();
      return { loadMs: Math.max(1, model.loadMs - (this.#nowMs() - begunAtMs)), isLoading: true, evictionMs: 0 };
    }
    const { memoryBudgetBytes: budget, memoryHeldBytes: held } = offer;
    if (budget === undefined || held === undefined || model.memoryBytes === undefined)
      return { loadMs: model.loadMs, isLoading: false, evictionMs: 0 };
    const rivals = offer.models.filter(({ sha256 }) => sha256 !== model.sha256);
    // Loads that were begun since the offer hold memory too.
    const begun = rivals.filter((each) => each.loadMs !== undefined && !each.isLoading && this.#isBegun(peer, each));
    const begunBytes = begun.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0);
    const loaded = rivals
      .filter((each) => each.loadMs === undefined)
      .map((each) => ({
        memoryBytes: each.memoryBytes ?? 0,
        loadMs: reloadMsOf(each),
        idleMs: this.#idleMs(peer, each),
      }));
    return {
      loadMs: model.loadMs,
      isLoading: false,
      evictionMs: evictionMs(model.memoryBytes, budget - held - begunBytes, loaded),
    };
  }

  #isBegun(peer: string, model: OfferedModel): boolean {
    if (model.isLoading) return true;
    const begunAtMs = this.#begunAtMs.get(keyOf(peer, model));
    return begunAtMs !== undefined && this.#nowMs() - begunAtMs < 2 * (model.loadMs ?? 0) + GRACE_MS;
  }

  #idleMs(peer: string, model: OfferedModel): number {
    const usedAtMs = this.#usedAtMs.get(keyOf(peer, model));
    return usedAtMs === undefined ? UNKNOWN_IDLE_MS : this.#nowMs() - usedAtMs;
  }
}
