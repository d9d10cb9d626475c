// The network between gateway and engines: what it costs beside an engine of the gateway's own, how it grows with workers, and how long a
// killed or frozen worker holds a stream up. Every process is its own; clients are real ones.
import { setTimeout as sleep } from 'node:timers/promises';
import { tinyChatModel } from '@strata/testnet';
import { busyWorker, Cluster, type WorkerProcess, workersServing } from '../../tests/support/network/cluster.ts';
import { assertComplete, clientOf, type StreamAsk, streamOf } from '../../tests/support/network/streams.ts';
import { type Figure, median, quantile, setting, thousands, timed, timesOf } from '../measure.ts';

const ROUNDS = 60;
const WARM_UP = 10;
const SCALES = [1, 2, 4, 8];
const LOAD_ROUNDS = 5;
const LOAD_TOKENS = 250;
const WORKER = { tokensPerSecond: 50, slots: 4 };
const KILLS = setting('KILLS', 24);
const STALLS = 9;
const STALL_MS = 4_000;
const SPEED = 100;
/** Little to read again; as much as is read token by token; more. */
const POSITIONS = [2, 70, 140];
const JOINS = 5;

export async function benchNetwork(): Promise<Figure[]> {
  return [...(await overhead()), await scaling(), ...(await recovery()), await joining()];
}

/** llama.cpp in the gateway's own process and in a worker's, alternately. */
async function overhead(): Promise<Figure[]> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway({ settings: { STRATA_MODEL: tinyChatModel } });
  await cluster.startWorker({ settings: { STRATA_MODEL: tinyChatModel, STRATA_WORKER_NAME: 'contributed' } });
  await workersServing(gateway, 1);
  const client = clientOf(gateway);
  const measured = { 'strata-tiny-chat': [] as number[][], contributed: [] as number[][] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [model, rounds] of Object.entries(measured)) {
      const ask = { prompt: [5, 6, 7, 8], seed: 1, tokens: 100, model };
      const { firstTokenMs, totalMs, completionTokens = 0 } = await streamOf(client, ask);
      if (round >= WARM_UP) rounds.push([firstTokenMs, ((completionTokens - 1) * 1_000) / (totalMs - firstTokenMs)]);
    }
  const textsOf = (rounds: readonly (readonly number[])[]) => {
    const [firsts, speeds] = [0, 1].map((of) => rounds.map((round) => round[of] ?? Number.NaN));
    const first = `${median(firsts ?? []).toFixed(1)} ms (${quantile(firsts ?? [], 0.99).toFixed(1)})`;
    return { first, speed: median(speeds ?? []) };
  };
  const [own, network] = [textsOf(measured['strata-tiny-chat']), textsOf(measured.contributed)];
  const ratio = (network.speed / own.speed).toFixed(2);
  return [
    ['first token over the network, llama.cpp 2.4 M, p50 (p99)', network.first, `in process ${own.first}`],
    [
      'tokens/s of one stream, the same model',
      thousands(network.speed),
      `in process ${thousands(own.speed)}: ${ratio}`,
    ],
  ];
}

/** Workers of fixed speed, as many streams as they have slots. */
async function scaling(): Promise<Figure> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  const client = clientOf(gateway);
  const { tokensPerSecond, slots } = WORKER;
  const rates: number[] = [];
  for (const workers of SCALES) {
    while (cluster.workers.length < workers) await cluster.startWorker({ simulated: WORKER });
    await workersServing(gateway, workers);
    const asks = Array.from({ length: workers * slots }, (_, i) => {
      return { prompt: [300 + i, 400], seed: i, tokens: LOAD_TOKENS };
    });
    // One after another without a rest: what a gateway knows of its workers is then as old as it gets.
    const times = await timesOf(LOAD_ROUNDS, () => assertComplete(client, asks));
    rates.push((asks.length * LOAD_TOKENS * 1_000) / median(times));
  }
  const shares = rates.map((rate, i) => rate / ((SCALES[i] ?? 0) * slots * tokensPerSecond));
  return [
    `${SCALES.join('; ')} workers of ${slots} × ${tokensPerSecond} tokens/s`,
    `${rates.map(thousands).join('; ')} tokens/s`,
    `${shares.map((share) => share.toFixed(2)).join('; ')} of what they can make; goal 0.9`,
  ];
}

/** One stream at a time; its worker is killed or stopped at a varying token. */
async function recovery(): Promise<Figure[]> {
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  const client = clientOf(gateway);
  const simulated = { tokensPerSecond: SPEED, slots: 4 };
  for (let i = 0; i < 3; i += 1) await cluster.startWorker({ simulated });
  const gapsAfter = async (times: number, harm: (worker: WorkerProcess) => Promise<unknown>) => {
    const measured = POSITIONS.map((): number[] => []);
    for (let i = 0; i < times; i += 1) {
      await workersServing(gateway, 3);
      const group = i % POSITIONS.length;
      const at = (POSITIONS[group] ?? 0) + (i % 8);
      let harmed: Promise<unknown> | undefined;
      const onPiece = (count: number) => {
        if (count >= at) harmed ??= busyWorker(cluster).then(harm);
      };
      const ask: StreamAsk = { prompt: [300 + i], seed: i, tokens: at + 60, onPiece };
      for (const { longestGapMs } of await assertComplete(client, [ask])) measured[group]?.push(longestGapMs);
      await harmed;
    }
    return `${measured.map((gaps) => thousands(median(gaps))).join('; ')} ms`;
  };
  const killed = await gapsAfter(KILLS, async (worker) => {
    await worker.kill();
    await cluster.startWorker({ simulated });
  });
  const frozen = await gapsAfter(STALLS, async (worker) => {
    worker.freeze();
    await sleep(STALL_MS);
    worker.thaw();
  });
  const positions = `at token ${POSITIONS.join('; ')}: longest gap, p50`;
  return [
    [`SIGKILL ${positions}`, killed, 'goal < 1 s'],
    [`SIGSTOP ${positions}`, frozen, 'goal: detected in less than 1.5 s; mesh-llm 41 s (published)'],
  ];
}

/** From the moment when a worker's host is there to its first answer. */
async function joining(): Promise<Figure> {
  const times: number[] = [];
  for (let i = 0; i < JOINS; i += 1) {
    await using cluster = await Cluster.open();
    const gateway = await cluster.startGateway();
    await cluster.startWorker({ simulated: { slots: 1 } });
    const { seconds } = await timed(async () => {
      await workersServing(gateway, 1);
      await streamOf(clientOf(gateway), { prompt: [300], seed: 1, tokens: 1 });
    });
    times.push(seconds * 1_000);
  }
  return ['a worker with a new model, join to first token', `${thousands(median(times))} ms`, 'goal 2 s'];
}
