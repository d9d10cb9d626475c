// Faults of a gateway with workers while it streams answers: what a client got to its end is signed, in the ledger, and counted once.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom, untilAnswer } from '../support/index.ts';
import { busyWorker, Cluster, type GatewayProcess, workersServing } from '../support/network/cluster.ts';
import { clientOf, faultsOf, type StreamAsk, streamOf } from '../support/network/streams.ts';
import { Checker } from './checker/check.ts';
import type { Finding } from './checker/store-checks.ts';
import type { Group } from './scenario.ts';

const simulated = { tokensPerSecond: 200, slots: 8 };
const WORKERS = 3;
const STREAMS = 6;
const NAME = 'gateway';
const random = randomFrom(4);
const KEY_SET = '/.well-known/inference-keys.json';

class Network implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly checker = new Checker();
  gateway: GatewayProcess;
  /** From before the kill until the workers are back: streams break, and are refused. */
  isRestarting = false;

  constructor(cluster: Cluster, gateway: GatewayProcess) {
    this.cluster = cluster;
    this.gateway = gateway;
  }

  static async open(): Promise<Network> {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await Cluster.open());
    const network = new Network(cluster, await cluster.startGateway({ name: NAME }));
    for (let i = 0; i < WORKERS; i += 1) await cluster.startWorker({ simulated });
    await workersServing(network.gateway, WORKERS);
    stack.move();
    return network;
  }

  /** The gateway killed, and started with its data at the port to which its workers come back. */
  async restart(): Promise<void> {
    const port = /\/tcp\/(\d+)/.exec(this.gateway.ready.addresses[0] ?? '')?.[1];
    this.isRestarting = true;
    await this.gateway.kill();
    const settings = { STRATA_P2P: `listen=/ip4/127.0.0.1/tcp/${port},mdns=off` };
    this.gateway = await this.cluster.startGateway({ name: NAME, settings });
    await workersServing(this.gateway, WORKERS);
    this.isRestarting = false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cluster[Symbol.asyncDispose]();
  }
}

type StreamLoad = Awaited<ReturnType<typeof startStreams>>;

async function startStreams(network: Network) {
  const answered = { answers: new Map<string, string>(), checkpoints: new Set<string>(), keySets: new Set<string>() };
  /** Keys by the receipts of the answers that came to their end. */
  const receipts = new Map<string, string>();
  const wrong: string[] = [];
  let isOver = false;
  const stream = async () => {
    const { gateway } = network;
    const prompt = [300 + Math.floor(random() * 500), 301];
    const ask: StreamAsk = { prompt, seed: Math.floor(random() * 1e6), tokens: 60 };
    try {
      const outcome = await streamOf(clientOf(gateway), ask);
      wrong.push(...faultsOf(outcome, ask));
      receipts.set(outcome.receiptId ?? '', gateway.ready.key);
      answered.checkpoints.add(await (await fetch(`${gateway.ready.base}/ledger/checkpoint`)).text());
      answered.keySets.add(await (await fetch(`${gateway.ready.base}${KEY_SET}`)).text());
    } catch (error) {
      // Whatever happens to workers, no stream may break.
      if (!network.isRestarting && gateway === network.gateway) wrong.push(String(error));
      await delay(50);
    }
  };
  const streams = Array.from({ length: STREAMS }, async () => {
    while (!isOver) await stream();
  });
  return {
    answered: () => receipts.size,
    async goesOn(answers = STREAMS): Promise<void> {
      const before = receipts.size;
      await untilAnswer('streams come to their end', () => receipts.size >= before + answers);
    },
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(streams);
    },
    async findings(): Promise<readonly Finding[]> {
      const { base } = network.gateway.ready;
      const findings = wrong.map((what): Finding => ({ kind: 'wrong', what }));
      for (const [id, key] of receipts) {
        const response = await fetch(`${base}/v1/receipts/${id}`, { headers: { authorization: `Bearer ${key}` } });
        const text = await response.text();
        if (response.status !== 200) findings.push({ kind: 'lost', what: `the receipt ${id}: ${response.status}` });
        else answered.answers.set(JSON.parse(text).provenance.ledger_receipt_id, text);
      }
      const data = path.join(network.cluster.directory, NAME);
      const databaseUrl = `sqlite:${path.join(data, 'inference.db')}`;
      const service = {
        databaseUrl,
        ledgerUrl: `sqlite:${data}/inference/ledger/ledger.db`,
        base,
        keySetPath: KEY_SET,
      };
      const receiptIds = new Set(receipts.keys());
      return [...findings, ...(await network.checker.check({ ...answered, receiptIds }, service))];
    },
  };
}

export const networkGroup: Group<Network, StreamLoad> = {
  name: 'gateway and three workers',
  open: Network.open,
  load: startStreams,
  faults: {
    'a worker killed while it streams': async ({ cluster, gateway }, load) => {
      await (await busyWorker(cluster)).kill();
      await cluster.startWorker({ simulated });
      await workersServing(gateway, WORKERS);
      await load.goesOn();
    },
    'the gateway killed while it streams': async (network, load) => {
      await delay(random() * 300);
      await network.restart();
      await load.goesOn();
    },
  },
};
