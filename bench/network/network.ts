// The network between gateway and engines: what it costs beside an engine of the gateway's own, how it grows with workers, and how long a
// killed or frozen worker holds a stream up. Every process is its own; clients are real ones.
import { setTimeout as sleep } from 'node:timers/promises';
import { type SimulatedEngineOptions, tinyChatModel } from '@strata/testnet';
import {
  busyWorker,
  Cluster,
  type GatewayProcess,
  type WorkerProcess,
  workersServing,
} from '../../tests/support/network/cluster.ts';
import { clientOf, faultsOf, type StreamAsk, streamOf } from '../../tests/support/network/streams.ts';
import { type Figure, median, quantile } from '../measure.ts';

const ROUNDS = 60;
const SCALES = [1, 2, 4, 8];
const LOAD_ROUNDS = 5;
const WORKER: SimulatedEngineOptions = { tokensPerSecond: 50, slots: 4 };
const KILLS = 24;
const STALLS = 9;
const SPEED = 100;
/** Little to read again; as much as is read token by token; more. */
const POSITIONS = [2, 70, 140];

export async function benchNetwork(): Promise<Figure[]> {
  return [...(await overhead()), ...(await scaling()), ...(await recovery()), ...(await joining())];
}

/** The same engine in the gateway's own process and in a worker's, alternately. */
async function overhead(): Promise<Figure[]> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway({
    simulated: { name: 'own', slots: 4 },
    settings: { STRATA_MODEL: tinyChatModel },
  });
  await cluster.startWorker({ simulated: { slots: 4 } });
  await cluster.startWorker({ settings: { STRATA_MODEL: tinyChatModel, STRATA_WORKER_NAME: 'contributed' } });
  await workersServing(gateway, 2);
  const client = clientOf(gateway);
  const measure = async (model: string, tokens: number, prompt: readonly number[]) => {
    const ask = { prompt, seed: 1, tokens, model };
    const { firstTokenMs, totalMs, completionTokens = 0 } = await streamOf(client, ask);
    return { firstTokenMs, tokensPerSecond: ((completionTokens - 1) * 1_000) / (totalMs - firstTokenMs) };
  };
  const alternately = async (models: readonly string[], tokens: number, prompt: readonly number[]) => {
    const measured = models.map((): Awaited<ReturnType<typeof measure>>[] => []);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [i, model] of models.entries()) measured[i]?.push(await measure(model, tokens, prompt));
    return measured.map((all) => ({
      first: all.map(({ firstTokenMs }) => firstTokenMs).slice(ROUNDS / 6),
      speed: median(all.map(({ tokensPerSecond }) => tokensPerSecond).slice(ROUNDS / 6)),
    }));
  };
  const figures: Figure[] = [];
  for (const { what, models, tokens, prompt } of [
    { what: 'an engine that answers at once', models: ['own', 'simulated'], tokens: 500, prompt: [300, 301] },
    {
      what: 'llama.cpp, 2.4 M parameters',
      models: ['strata-tiny-chat', 'contributed'],
      tokens: 100,
      prompt: [5, 6, 7, 8],
    },
  ]) {
    const [own, network] = await alternately(models, tokens, prompt);
    if (!own || !network) continue;
    const p50 = (values: readonly number[]) => median(values).toFixed(1);
    const p99 = (values: readonly number[]) => quantile(values, 0.99).toFixed(1);
    figures.push(
      {
        what: `${what}: first token over the network, p50 (p99)`,
        value: `${p50(network.first)} ms (${p99(network.first)})`,
        against: `in the gateway's process ${p50(own.first)} ms (${p99(own.first)})`,
      },
      {
        what: `${what}: tokens/s of one stream over the network`,
        value: Math.round(network.speed).toLocaleString('en-US'),
        against: `in the gateway's process ${Math.round(own.speed).toLocaleString('en-US')}: ${(network.speed / own.speed).toFixed(2)} ×`,
      },
    );
  }
  return figures;
}

/** Workers of fixed speed, as many streams as they have slots. */
async function scaling(): Promise<Figure[]> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  const figures: Figure[] = [];
  const { tokensPerSecond = 0, slots = 0 } = WORKER;
  let alone = 0;
  for (const workers of SCALES) {
    while (cluster.workers.length < workers) await cluster.startWorker({ simulated: WORKER });
    await workersServing(gateway, workers);
    // One after another without a rest: what a gateway knows of its workers is then as old as it gets.
    const rounds: number[] = [];
    for (let i = 0; i < LOAD_ROUNDS; i += 1)
      rounds.push(await load(gateway, { streams: workers * slots, tokens: 250 }));
    const made = median(rounds);
    if (workers === 1) alone = made;
    figures.push({
      what: `${workers} ${workers === 1 ? 'worker' : 'workers'} of ${slots} × ${tokensPerSecond} tokens/s, ${workers * slots} streams, ${LOAD_ROUNDS} times`,
      value: `${Math.round(made).toLocaleString('en-US')} tokens/s, worst ${Math.round(Math.min(...rounds)).toLocaleString('en-US')}`,
      against: `${(made / (workers * slots * tokensPerSecond)).toFixed(2)} of what they can make; ${(made / alone / workers).toFixed(2)} of one alone, for each; goal 0.9`,
    });
  }
  return figures;
}

/** Tokens a second of concurrent streams that start together. */
async function load(
  gateway: GatewayProcess,
  { streams, tokens }: { streams: number; tokens: number },
): Promise<number> {
  const client = clientOf(gateway);
  const asks = Array.from({ length: streams }, (_, i): StreamAsk => ({ prompt: [300 + i, 400], seed: i, tokens }));
  const startedAt = performance.now();
  const outcomes = await Promise.all(asks.map((ask) => streamOf(client, ask)));
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const [i, outcome] of outcomes.entries()) assertComplete(outcome, asks[i] as StreamAsk);
  return (streams * tokens) / seconds;
}

function assertComplete(outcome: Awaited<ReturnType<typeof streamOf>>, ask: StreamAsk): void {
  const faults = faultsOf(outcome, ask);
  if (faults.length > 0) throw new Error(`a stream is not what an undisturbed one is: ${faults.join('; ')}`);
}

/** One stream at a time; its worker is killed or stopped at a varying token. */
async function recovery(): Promise<Figure[]> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  const simulated = { tokensPerSecond: SPEED, slots: 4 };
  for (let i = 0; i < 3; i += 1) await cluster.startWorker({ simulated });
  const killed = await gaps(cluster, gateway, KILLS, async (worker) => {
    await worker.kill();
    await cluster.startWorker({ simulated });
  });
  const frozen = await gaps(cluster, gateway, STALLS, async (worker) => {
    worker.freeze();
    await sleep(4_000);
    worker.thaw();
  });
  return [
    figure(`${KILLS} × SIGKILL`, killed, 'goal: a killed worker costs less than 1 s'),
    figure(`${STALLS} × SIGSTOP`, frozen, 'goal: a stall is detected in less than 1.5 s; mesh-llm 41 s (as published)'),
  ];
}

async function gaps(
  cluster: Cluster,
  gateway: GatewayProcess,
  times: number,
  harm: (worker: WorkerProcess) => Promise<void>,
): Promise<readonly (readonly number[])[]> {
  const measured = POSITIONS.map((): number[] => []);
  const client = clientOf(gateway);
  for (let i = 0; i < times; i += 1) {
    await workersServing(gateway, 3);
    const group = i % POSITIONS.length;
    const at = (POSITIONS[group] ?? 0) + (i % 8);
    const ask: StreamAsk = { prompt: [300 + i], seed: i, tokens: at + 60 };
    let harmed: Promise<void> | undefined;
    const outcome = await streamOf(client, {
      ...ask,
      onPiece: (count) => {
        if (count >= at) harmed ??= busyWorker(cluster).then(harm);
      },
    });
    assertComplete(outcome, ask);
    measured[group]?.push(outcome.longestGapMs);
    await harmed;
  }
  return measured;
}

/** From the moment when a worker's host is there to its first answer. */
async function joining(): Promise<Figure[]> {
  const times: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    await using cluster = await Cluster.open();
    const gateway = await cluster.startGateway();
    const client = clientOf(gateway);
    await cluster.startWorker({ simulated: { slots: 1 } });
    const startedAt = performance.now();
    await workersServing(gateway, 1);
    await streamOf(client, { prompt: [300], seed: 1, tokens: 1 });
    times.push(performance.now() - startedAt);
  }
  return [
    {
      what: 'a worker with a model that is new to the gateway: from joining to its first token',
      value: `p50 ${Math.round(median(times))} ms, worst ${Math.round(Math.max(...times))} ms`,
      against: 'goal 2 s on a LAN',
    },
  ];
}
const figure = (what: string, groups: readonly (readonly number[])[], goal: string) => ({
  what: `${what}: longest gap of a stream of ${SPEED} tokens/s, from token ${POSITIONS.join(', ')} on`,
  value: groups
    .map((gaps) => `p50 ${Math.round(median(gaps))} ms, worst ${Math.round(Math.max(...gaps))} ms`)
    .join('; '),
  against: goal,
});
