// The choice of a worker: time to first token with our policy and with known ones in simulated time, and the cost of a choice in real time.
import { Directory, type Offer } from '@strata/inference';
import { randomFrom } from '../../tests/support/random.ts';
import { collectGarbage, type Figure, mib, quantile, rateOf, setting, thousands } from '../measure.ts';
import { POLICIES } from './policies.ts';
import { simulateFleet } from './simulated-fleet.ts';
import { randomKind, SimulatedWorker } from './simulated-worker.ts';

const SIZES = [
  { workers: 10, seconds: setting('SECONDS', 1_200) },
  { workers: 100, seconds: setting('SECONDS', 240) },
  { workers: 1_000, seconds: setting('SECONDS', 60) },
];
const SEEDS = [1, 2, 3];
const LOAD = 0.7;
const MEASURE_MS = 500;
const OFFERS = 2_000;
const MODELS = 10;
const MODEL = 'ab'.repeat(32);

export async function benchRouting(): Promise<Figure[]> {
  return [...SIZES.map(firstTokens), ...SIZES.map(({ workers }) => choiceCost(workers)), directoryMemory()];
}

/** Four gateways, heartbeats of 250 ms to 1 s, each worker replaced after five minutes on average. */
function firstTokens({ workers, seconds }: { readonly workers: number; readonly seconds: number }): Figure {
  const p99s = Object.entries(POLICIES).map(([name, policy]) => {
    const runs = SEEDS.map((seed) => simulateFleet(policy, { workers, seconds, seed }));
    const p99 = quantile(
      runs.flatMap(({ firstTokenMs }) => firstTokenMs),
      0.99,
    );
    return `${name} ${(p99 / 1_000).toFixed(1)} s`;
  });
  const [ours = '', ...peers] = p99s;
  return [`${workers} workers at ${LOAD * 100} % load: p99 of the first token`, ours, peers.join(', ')];
}

/** With a prompt of 1,000 tokens, looked up among what workers have read. */
function choiceCost(workers: number): Figure {
  const random = randomFrom(workers);
  const all = Array.from({ length: workers }, (_, i) => {
    const worker = new SimulatedWorker(`w${i}`, randomKind(random));
    worker.jobs = random() < LOAD ? worker.slots : Math.floor(random() * worker.slots);
    return worker;
  });
  const tokens = Array.from({ length: 1_000 }, (_, i) => i);
  const policy = POLICIES.ours(randomFrom(1));
  const rate = rateOf(() => {
    policy.choose({ tokens, replayTokens: 0 }, all);
    return 1;
  }, MEASURE_MS);
  return [`a choice among ${thousands(workers)} workers`, `${(1e6 / rate).toFixed(1)} µs`, 'goal < 50 µs'];
}

function directoryMemory(): Figure {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const directory = new Directory();
  const nowMs = 1_800_000_000_000;
  for (let i = 0; i < OFFERS; i += 1) directory.take(offerOf(`peer-${i}`, nowMs), { nowMs, isConnected: true });
  if (directory.workers().length !== OFFERS) throw new Error('offers were refused');
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  return [`the directory at ${thousands(OFFERS)} workers of ${MODELS} models`, mib(bytes)];
}

/** With strings of its own, as one that came over the network. */
function offerOf(peer: string, nowMs: number): Offer {
  const digests = { sha256: MODEL, vocabularySha256: MODEL, templateSha256: MODEL };
  const sizes = {
    sizeBytes: 1,
    parameters: 1,
    contextLength: 4_096,
    vocabularySize: 32_000,
    longestToken: 32,
    slots: 4,
  };
  const words = { name: 'bench', architecture: 'llama', quantisation: 'Q8_0', engine: 'llama.cpp' };
  const model = { ...digests, ...sizes, ...words, prefillTokensPerSecond: 500, decodeTokensPerSecond: 50 };
  const times = { issuedAtMs: nowMs, expiresAtMs: nowMs + 120_000 };
  const load = { software: 'bench', models: Array(MODELS).fill(model), running: 0, waiting: 0 };
  return JSON.parse(JSON.stringify({ peer, sequence: 0, ...times, ...load } satisfies Offer));
}
