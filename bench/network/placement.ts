// Where models are loaded, in simulated time: the gateway's own choice, a static placement and the least loaded worker, under
// demand that shifts from model to model.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { randomFrom } from '../../tests/support/random.ts';
import { type Figure, quantile, setting, thousands } from '../measure.ts';
import { MODEL_POLICIES, type ModelPolicyOf } from './model-policies.ts';
import { ModelWorker } from './model-worker.ts';

const WORKERS = 100;
const MODELS = 50;
const SECONDS = setting('SECONDS', 900);
const SEEDS = [1, 2];
/** Ranks move by so many models each time, so that popular models become rare. */
const SHIFT_MS = 300_000;
const SHIFT = 7;
const REQUESTS_PER_SECOND = 50;
/** A worker has this memory; models take 4, 8 or 16 GB. */
const MEMORY_BYTES = 40e9;
/** Offers report a load or an eviction after this time. */
const OFFER_MS = 5_000;

/** p99 of the first token and loads an hour of each policy, in the same worlds. */
export async function benchPlacement(): Promise<Figure[]> {
  const rows: string[] = [];
  for (const [name, policy] of Object.entries(MODEL_POLICIES)) {
    const runs: Awaited<ReturnType<typeof simulate>>[] = [];
    for (const seed of SEEDS) runs.push(await simulate(policy, seed));
    const firstTokenMs = runs.flatMap((run) => run.firstTokenMs);
    const loads = runs.reduce((sum, run) => sum + run.loads, 0) / SEEDS.length / (SECONDS / 3_600);
    const seconds = [0.5, 0.99].map((share) => (quantile(firstTokenMs, share) / 1_000).toFixed(1));
    rows.push(`${name} ${seconds.join(' and ')} s, ${thousands(Math.round(loads))} loads/h`);
  }
  const [ours = '', ...peers] = rows;
  return [
    [
      `${MODELS} models on ${WORKERS} workers, demand shifts every ${SHIFT_MS / 60_000} min: p50 and p99`,
      ours,
      peers.join('; '),
    ],
  ];
}

async function simulate(policyOf: ModelPolicyOf, seed: number) {
  const random = randomFrom(seed);
  const sizes = Array.from({ length: MODELS }, () => [4e9, 8e9, 16e9][Math.floor(random() * 3)] ?? 4e9);
  const time = { nowMs: 0 };
  const workers = Array.from({ length: WORKERS }, (_, i) => new ModelWorker(`w${i}`, sizes, MEMORY_BYTES));
  const policy = policyOf({ workers, sizes, shares: sharesAt(0), random, nowMs: () => time.nowMs });
  const firstTokenMs: number[] = [];
  let loads = 0;
  let publishAtMs = Number.POSITIVE_INFINITY;
  let arrivalMs = 0;
  while (time.nowMs < SECONDS * 1_000) {
    const worker = workers.reduce((first, each) => (each.nextMs < first.nextMs ? each : first));
    time.nowMs = Math.min(arrivalMs, worker.nextMs, publishAtMs);
    if (time.nowMs === publishAtMs) {
      policy.refresh();
      publishAtMs = Number.POSITIVE_INFINITY;
    } else if (time.nowMs === worker.nextMs) {
      const { begun, changed } = worker.advance(time.nowMs);
      for (const askedAtMs of begun) firstTokenMs.push(time.nowMs - askedAtMs);
      loads += changed;
      if (changed > 0) publishAtMs = Math.min(publishAtMs, time.nowMs + OFFER_MS);
    } else {
      const model = drawn(sharesAt(time.nowMs), random());
      const index = policy.choose(model);
      workers[index]?.ask(model, time.nowMs, answerMs(random()));
      // The gateway counts jobs that it has assigned until the next iteration of the event loop.
      await yieldToEventLoop();
      arrivalMs += (-Math.log(1 - random()) / REQUESTS_PER_SECOND) * 1_000;
    }
  }
  return { firstTokenMs, loads };
}

/** Zipf, with the ranks of the time. */
function sharesAt(nowMs: number): readonly number[] {
  const shift = Math.floor(nowMs / SHIFT_MS) * SHIFT;
  return Array.from({ length: MODELS }, (_, model) => 1 / (1 + ((model + shift) % MODELS)));
}

function drawn(shares: readonly number[], random: number): number {
  let left = random * shares.reduce((sum, each) => sum + each, 0);
  return shares.findIndex((share) => {
    left -= share;
    return left <= 0;
  });
}

/** 200 tokens at 50 a second, on average. */
const answerMs = (random: number): number => -Math.log(1 - random) * 4_000;
