// Ways to choose the worker, and so where models are loaded.
import { Directory, type OfferedModel, PrefixMap } from '@strata/inference';
import { LiveFleet } from '../../services/gateway/src/network/fleet/fleet.ts';
import { ModelLoads } from '../../services/gateway/src/network/fleet/model-loads.ts';
import type { WorkerSession } from '../../services/gateway/src/network/session/worker-session.ts';
import { offeredModel } from '../../services/gateway/src/test/network/answers.ts';
import { loadMsOf, type ModelWorker, SLOTS } from './model-worker.ts';

export interface ModelWorld {
  readonly workers: readonly ModelWorker[];
  /** In bytes, by model. */
  readonly sizes: readonly number[];
  /** Of demand at the start. */
  readonly shares: readonly number[];
  readonly random: () => number;
  readonly nowMs: () => number;
}

export interface ModelPolicy {
  /** The index of the worker. */
  choose(model: number): number;
  /** Workers have published new offers. */
  refresh(): void;
}

export type ModelPolicyOf = (world: ModelWorld) => ModelPolicy;

const LIFE_MS = 600_000;
const PROMPT = Array.from({ length: 300 }, (_, i) => i);

export const MODEL_POLICIES: Readonly<Record<string, ModelPolicyOf>> = {
  ours: (world) => gatewayPolicy(world),
  static: (world) => {
    fillMemory(world);
    return { choose: (model) => fewestJobs(world, (worker) => worker.isLoaded(model)), refresh: () => {} };
  },
  'least-loaded': (world) => ({ choose: () => fewestJobs(world, () => true), refresh: () => {} }),
};

function fewestJobs({ workers, random }: ModelWorld, isHolder: (worker: ModelWorker) => boolean): number {
  const fewest = Math.min(...workers.filter(isHolder).map(({ jobs }) => jobs));
  const indexes = workers.flatMap((worker, i) => (isHolder(worker) && worker.jobs === fewest ? [i] : []));
  return indexes[Math.floor(random() * indexes.length)] ?? -1;
}

/** Each model once, then further ones where demand for each copy is highest, until no memory is left. */
function fillMemory({ workers, sizes, shares }: ModelWorld): void {
  const copies = sizes.map(() => 0);
  const order = () => sizes.map((_, model) => model).toSorted((a, b) => perCopy(b) - perCopy(a));
  const perCopy = (model: number) =>
    (copies[model] === 0 ? 1e9 : 1) * ((shares[model] ?? 0) / Math.max(1, copies[model] ?? 0));
  for (;;) {
    const placed = order().find((model) => {
      const bytes = sizes[model] ?? 0;
      const fitting = workers.filter(
        (worker) => !worker.held.has(model) && worker.heldBytes + bytes <= worker.budgetBytes,
      );
      const [emptiest] = fitting.toSorted((a, b) => a.heldBytes - b.heldBytes);
      emptiest?.hold(model);
      return emptiest !== undefined;
    });
    if (placed === undefined) return;
    copies[placed] = (copies[placed] ?? 0) + 1;
  }
}

function gatewayPolicy({ workers, sizes, random, nowMs }: ModelWorld): ModelPolicy {
  const [directory, loads, prefixes] = [
    new Directory({ offersPerMinute: 1e9 }),
    new ModelLoads(nowMs),
    new PrefixMap(),
  ];
  const sessions = new Map(
    workers.map((worker) => {
      const load = {
        running: 0,
        waiting: 0,
        otherGateways: 0,
        writing: 0,
        calls: 0,
        get own() {
          return worker.jobs;
        },
      };
      // What the fleet reads of a session.
      return [
        worker.peer,
        { peer: worker.peer, load, rttMs: 10, isAlive: true } as Partial<WorkerSession> as WorkerSession,
      ];
    }),
  );
  const files = sizes.map(
    (sizeBytes, i): OfferedModel =>
      offeredModel({ sha256: i.toString(16).padStart(64, '0'), sizeBytes, memoryBytes: sizeBytes, slots: SLOTS }),
  );
  const trust = { of: () => 1 };
  const indexes = new Map(workers.map(({ peer }, i) => [peer, i]));
  let sequence = 0;
  const publish = () => {
    for (const worker of workers) {
      const models = files.map((file, i) => ({
        ...file,
        ...(worker.isLoaded(i) ? {} : { loadMs: Math.ceil(loadMsOf(file.sizeBytes)), isLoading: worker.isLoading(i) }),
      }));
      sequence += 1;
      const times = { sequence, issuedAtMs: nowMs(), expiresAtMs: nowMs() + LIFE_MS };
      const memory = { memoryBudgetBytes: worker.budgetBytes, memoryHeldBytes: worker.heldBytes };
      const offer = { peer: worker.peer, software: 's', running: 0, waiting: 0, models, ...times, ...memory };
      directory.take(offer, { nowMs: nowMs(), isConnected: true });
    }
  };
  publish();
  const fleets = files.map(
    (file) => new LiveFleet(file, { directory, sessions, loads, prefixes, trust, random, nowMs }),
  );
  return {
    choose: (model) =>
      indexes.get(fleets[model]?.choose({ prompt: PROMPT, given: [] }, { except: new Set() })?.session.peer ?? '') ??
      -1,
    refresh: () => {
      publish();
      for (const fleet of fleets) fleet.refresh();
    },
  };
}
