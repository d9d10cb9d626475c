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

/** What is known of a worker, by SHA-256 of its models. */
interface WorkerModels {
  readonly usedAtMs: LRUCache<string, number>;
  readonly begun: LRUCache<string, { readonly atMs: number; readonly model: OfferedModel }>;
}

const MAX_WORKERS = 4_096;
/** An offer has at most 64. */
const MAX_MODELS = 64;
/** Of a model whose last use is not known: another gateway may use it. */
const UNKNOWN_IDLE_MS = 600_000;
/** A begun load that no offer shows within twice its load time and this is forgotten. */
const GRACE_MS = 10_000;
const LOADED: ExpectedLoad = { loadMs: 0, isLoading: false, evictionMs: 0 };

/** Offers have no load time of a loaded model: a process starts in about a second, and reads the file at 1 GB/s. */
const reloadMsOf = ({ sizeBytes }: OfferedModel) => 1_000 + sizeBytes / 1e6;

export class ModelLoads {
  readonly #nowMs: () => number;
  readonly #workers = new LRUCache<string, WorkerModels>({ max: MAX_WORKERS });
  /** Each offer is read once: a choice inspects many. */
  readonly #holders = new WeakMap<Offer, readonly OfferedModel[]>();

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A request is sent there; it begins the load of a model that is not loaded. */
  noteAsked(peer: string, model: OfferedModel): void {
    const known = this.#workers.get(peer) ?? {
      usedAtMs: new LRUCache({ max: MAX_MODELS }),
      begun: new LRUCache({ max: MAX_MODELS }),
    };
    this.#workers.set(peer, known);
    known.usedAtMs.set(model.sha256, this.#nowMs());
    if (model.loadMs !== undefined && this.#begunAtMs(known, model) === undefined)
      known.begun.set(model.sha256, { atMs: this.#nowMs(), model });
  }

  /** The load has ended, or failed. */
  noteEnded(peer: string, { sha256 }: OfferedModel): void {
    this.#workers.get(peer)?.begun.delete(sha256);
  }

  /** For a model of the offer. Workers of earlier versions report no memory: nothing is known of what they would close. */
  expected(offer: Offer, model: OfferedModel): ExpectedLoad {
    const { loadMs, memoryBytes, isLoading = false } = model;
    if (loadMs === undefined) return LOADED;
    const nowMs = this.#nowMs();
    const known = this.#workers.get(offer.peer);
    const begunAtMs = known && this.#begunAtMs(known, model);
    if (begunAtMs !== undefined || isLoading)
      return { loadMs: Math.max(1, loadMs - (nowMs - (begunAtMs ?? nowMs))), isLoading: true, evictionMs: 0 };
    const { memoryBudgetBytes: budget, memoryHeldBytes: held } = offer;
    if (budget === undefined || held === undefined || memoryBytes === undefined)
      return { loadMs, isLoading, evictionMs: 0 };
    const shown = this.#holdersOf(offer);
    const begun = known ? this.#begunSince(known, shown) : [];
    const freeBytes = budget - held - bytesOf(begun);
    if (freeBytes >= memoryBytes) return { loadMs, isLoading, evictionMs: 0 };
    const holders = [...shown, ...begun].map((each) => {
      const usedAtMs = known?.usedAtMs.get(each.sha256) ?? nowMs - UNKNOWN_IDLE_MS;
      // A model that is being loaded is closed when it has served the requests that wait for it.
      const idleMs = each.loadMs === undefined ? nowMs - usedAtMs : 0;
      return { memoryBytes: each.memoryBytes ?? 0, loadMs: reloadMsOf(each), idleMs };
    });
    // All that is held becomes free, also what no offered model explains.
    const canFreeBytes = Math.min(memoryBytes, budget) - bytesOf([...shown, ...begun]);
    return { loadMs, isLoading, evictionMs: evictionMs(memoryBytes, Math.max(freeBytes, canFreeBytes), holders) };
  }

  /** Undefined: no load was begun, or it was given up. */
  #begunAtMs({ begun }: WorkerModels, { sha256, loadMs = 0 }: OfferedModel): number | undefined {
    const atMs = begun.peek(sha256)?.atMs;
    return atMs !== undefined && this.#nowMs() - atMs < 2 * loadMs + GRACE_MS ? atMs : undefined;
  }

  /** The models whose loads were begun since the offer: they will hold memory too. */
  #begunSince(known: WorkerModels, shown: readonly OfferedModel[]): readonly OfferedModel[] {
    const begun = Array.from(known.begun.values(), ({ model }) => model);
    return begun.filter(
      (model) => this.#begunAtMs(known, model) !== undefined && !shown.some(({ sha256 }) => sha256 === model.sha256),
    );
  }

  /** The models of an offer that hold memory: those that are loaded or being loaded. */
  #holdersOf(offer: Offer): readonly OfferedModel[] {
    const known = this.#holders.get(offer);
    if (known) return known;
    const holders = offer.models.filter(({ loadMs, isLoading }) => loadMs === undefined || isLoading);
    this.#holders.set(offer, holders);
    return holders;
  }
}

const bytesOf = (models: readonly OfferedModel[]) => models.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0);
