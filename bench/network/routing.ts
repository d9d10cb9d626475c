// The choice of a worker: time to first token with our policy and with known ones in simulated time, and the cost of a choice in real time.
import { Directory, type Offer, type OfferedModel, PrefixMap } from '@strata/inference';
import { randomFrom } from '../../tests/support/random.ts';
import { type Figure, perSecond, quantile, rateOf } from '../measure.ts';
import { POLICIES } from './policies.ts';
import { simulateFleet } from './simulated-fleet.ts';
import { randomKind, SimulatedWorker } from './simulated-worker.ts';

const SIZES = [
  { workers: 10, seconds: 1_200 },
  { workers: 100, seconds: 240 },
  { workers: 1_000, seconds: 60 },
];
const SEEDS = [1, 2, 3];
const MEASURE_MS = 500;
const MODEL = 'ab'.repeat(32);

export async function benchRouting(): Promise<Figure[]> {
  return [...SIZES.flatMap(firstTokens), ...SIZES.flatMap(({ workers }) => choiceCost(workers)), ...knowledgeCost()];
}

/** Load 0.7, four gateways, heartbeats of 250 ms to 1 s, each worker replaced after five minutes on average. */
function firstTokens({ workers, seconds }: { readonly workers: number; readonly seconds: number }): Figure[] {
  const outcomes = Object.entries(POLICIES).map(([name, policy]) => {
    const runs = SEEDS.map((seed) => simulateFleet(policy, { workers, seconds, seed }));
    const all = runs.flatMap(({ firstTokenMs }) => firstTokenMs);
    const cached = runs.reduce((sum, { cachedShare }) => sum + cachedShare, 0) / runs.length;
    return { name, cached, p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
  });
  const [ours] = outcomes;
  return outcomes.map(({ name, p50, p99, cached }) => ({
    what: `${workers} workers, ${name}: first token p50, p99; prompt tokens read before`,
    value: `${asSeconds(p50)}, ${asSeconds(p99)}; ${Math.round(cached * 100)} %`,
    against: name === 'ours' ? '' : `p99 ${(p99 / (ours?.p99 ?? Number.NaN)).toFixed(1)} × ours`,
  }));
}

/** With a prompt of 1,000 tokens, looked up among what workers have read. */
function choiceCost(workers: number): Figure[] {
  const views = (load: number) => {
    const random = randomFrom(workers);
    return Array.from({ length: workers }, (_, i) => {
      const worker = new SimulatedWorker(`w${i}`, randomKind(random));
      worker.jobs = random() < load ? worker.slots : Math.floor(random() * worker.slots);
      return worker;
    });
  };
  const tokens = Array.from({ length: 1_000 }, (_, i) => i);
  return [
    { load: 0.7, what: 'seven of ten full' },
    { load: 1, what: 'all full' },
  ].map(({ load, what }) => {
    const all = views(load);
    const policy = POLICIES.ours(randomFrom(1));
    const rate = rateOf(() => {
      policy.choose({ tokens, replayTokens: 0 }, all);
      return 1;
    }, MEASURE_MS);
    return {
      what: `a choice among ${workers} workers, ${what}`,
      value: `${(1e6 / rate).toFixed(1)} µs`,
      against: load < 1 ? 'goal < 50 µs' : '',
    };
  });
}

/** Costs of what the choice needs: offers accepted, and cached prefixes found. */
function knowledgeCost(): Figure[] {
  const directory = new Directory();
  let sequence = 0;
  const nowMs = 1_800_000_000_000;
  const offers = Array.from({ length: 1_000 }, (_, i) => offerOf(`peer-${i}`, nowMs));
  const take = rateOf(() => {
    sequence += 1;
    // A minute each, so that no offer is refused for coming too soon.
    const atMs = nowMs + sequence * 60_000;
    for (const offer of offers)
      directory.take(
        { ...offer, sequence, issuedAtMs: atMs, expiresAtMs: atMs + 120_000 },
        { nowMs: atMs, isConnected: true },
      );
    return offers.length;
  }, MEASURE_MS);
  const prefixes = new PrefixMap();
  const prompt = Array.from({ length: 8_000 }, (_, i) => i);
  for (let i = 0; i < 8; i++) prefixes.note(`peer-${i}`, MODEL, prompt);
  const found = rateOf(() => {
    prefixes.cachedTokens(MODEL, prompt);
    return 1;
  }, MEASURE_MS);
  return [
    { what: 'directory of 1,000 peers, offers taken', value: perSecond(take), against: '33/s at an offer each 30 s' },
    { what: 'beginning of 8,000 tokens found', value: `${(1e6 / found).toFixed(0)} µs`, against: 'goal < 1,000 µs' },
  ];
}

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
  const model: OfferedModel = {
    ...{ ...digests, ...sizes, ...words },
    ...{ prefillTokensPerSecond: 500, decodeTokensPerSecond: 50 },
  };
  return {
    ...{ peer, sequence: 0, issuedAtMs: nowMs, expiresAtMs: nowMs + 120_000 },
    ...{ software: 'bench', models: [model], running: 0, waiting: 0 },
  };
}

const asSeconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
