// The network as a client sees it: a gateway and workers with hosts of their own on loopback, asked through the real API.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { createSimulatedEngine, simulatedAnswer, simulatedText } from '@strata/testnet';
import { type RunningWorker, readWorkerConfig, startWorker } from '@strata/worker';
import OpenAI from 'openai';
import { until as untilSo } from '../support/until.ts';

const MODEL = 'simulated-8b';
const HOST = { STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off', STRATA_LOG_LEVEL: 'silent' };
const logger = createLogger({ level: 'silent' });
/** What the gateway would open as a GGUF, were the engines real. */
const bytes = Buffer.from('the vocabulary of the simulated model');
const vocabulary = { bytes, sha256: hash('sha256', bytes), templateSha256: '7'.repeat(64) };
const speaker = createSimulatedEngine();

const messages = [{ role: 'user' as const, content: 'Tell me of the network.' }];
const answerOf = async (seed: number, count: number) => {
  const tokens = simulatedAnswer(await speaker.render({ messages }), { seed, count });
  return tokens.map(simulatedText).join('');
};

let directory: string;
let gateway: RunningGateway;
let client: OpenAI;
let base: string;

interface TestWorker {
  readonly worker: RunningWorker;
  /** As a crash would: the engine is gone with its answers. */
  crash(): Promise<void>;
}

async function join(name: string, { tokensPerSecond = 200 } = {}) {
  const engine = createSimulatedEngine({ tokensPerSecond });
  const token = gateway.gateway.network?.joinToken() ?? '';
  const settings = { ...HOST, STRATA_DATA: path.join(directory, name), STRATA_JOIN: token };
  const speed = { prefill: 10_000, decode: 200 };
  const model = { name: MODEL, engine, vocabulary, speed };
  const worker = await startWorker(readWorkerConfig(settings), { logger }, { model });
  return { worker, crash: () => engine[Symbol.asyncDispose]() } satisfies TestWorker;
}

interface Network {
  readonly peers: readonly { readonly peer: string; readonly running: number; readonly role: string }[];
  readonly models: readonly { readonly id: string; readonly workers: number }[];
  readonly totals: { readonly workers: number };
}
const network = async (): Promise<Network> => (await (await fetch(`${base}/network`)).json()) as Network;
const ids = async () => (await client.models.list()).data.map(({ id }) => id).sort();

/** The deadline is for a machine whose cores are busy. */
const until = (holds: () => Promise<boolean>) => untilSo(holds, { limitMs: 60_000, intervalMs: 20 });

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-network-'));
  const settings = { ...HOST, STRATA_DATA: path.join(directory, 'gateway'), STRATA_INFERENCE_PORT: '0' };
  gateway = await startGateway(readGatewayConfig({ ...settings, STRATA_NETWORK: 'on' }), logger, {
    openVocabulary: async () => ({ ...speaker, facts: speaker.info, [Symbol.asyncDispose]: async () => {} }),
  });
  base = `http://127.0.0.1:${gateway.port}`;
  const { key } = await gateway.gateway.keys.create({ tier: 'unlimited' });
  client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
});
after(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

describe('a gateway on the network', () => {
  it('serves a worker that joins with a token, and tells of it', async () => {
    const { worker } = await join('first');
    await using _worker = worker;
    await until(async () => (await ids()).length === 1);
    assert.equal((await fetch(`${base}/ready`)).status, 200);
    const answer = await client.chat.completions.create({ model: MODEL, messages, seed: 5, max_tokens: 20 });
    assert.equal(answer.choices[0]?.message.content, await answerOf(5, 20));
    assert.equal(answer.usage?.completion_tokens, 20);
    const { peers, models, totals } = await network();
    assert.deepEqual([totals.workers, models[0]?.id, models[0]?.workers], [1, MODEL, 1]);
    assert.deepEqual([peers[0]?.peer, peers[0]?.role], [worker.id, 'worker']);
  });

  it('finishes a stream whose worker dies in the middle: nothing lost, nothing repeated, one id', async () => {
    // Longer than the report is kept, which tells who is at work.
    const slow = { tokensPerSecond: 40 };
    const workers = [await join('second', slow), await join('third', slow)];
    await until(async () => (await network()).totals.workers === 2 && (await ids()).includes(MODEL));
    const stream = await client.chat.completions.create({
      ...{ model: MODEL, messages, seed: 11, max_tokens: 120, stream: true },
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    let usage: OpenAI.CompletionUsage | null | undefined;
    const seen = new Set<string>();
    const died: string[] = [];
    for await (const chunk of stream) {
      seen.add(chunk.id);
      usage = chunk.usage;
      text += chunk.choices[0]?.delta.content ?? '';
      tokens += 1;
      if (tokens !== 30) continue;
      const busy = await busyOne(workers);
      died.push(busy.worker.id);
      await busy.crash();
    }
    assert.equal(died.length, 1);
    assert.equal(text, await answerOf(11, 120));
    assert.equal(seen.size, 1);
    assert.equal(usage?.completion_tokens, 120);
    for (const { worker } of workers) await worker[Symbol.asyncDispose]();
  });
});

async function busyOne(workers: readonly TestWorker[]): Promise<TestWorker> {
  let busy: TestWorker | undefined;
  await until(async () => {
    const { peers } = await network();
    busy = workers.find(({ worker }) => peers.some(({ peer, running }) => peer === worker.id && running > 0));
    return busy !== undefined;
  });
  assert.ok(busy);
  return busy;
}
