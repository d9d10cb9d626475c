// The network as a client sees it: a gateway and workers with hosts of their own on loopback, asked through the real API.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { openFileTree } from '@strata/engine';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { createSimulatedEngine, simulatedAnswer, simulatedText } from '@strata/testnet';
import { readWorkerConfig, startWorker } from '@strata/worker';
import OpenAI from 'openai';
import { temporaryDirectory, untilAnswer } from '../support/index.ts';

const MODEL = 'simulated-8b';
const HOST = { STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_LOG_LEVEL: 'silent' };
const logger = createLogger({ level: 'silent' });
/** What the gateway would open as a GGUF, were the engines real. */
const bytes = Buffer.from('the vocabulary of the simulated model');
const vocabulary = { bytes, sha256: hash('sha256', bytes), templateSha256: '7'.repeat(64) };
const speaker = createSimulatedEngine();

const messages = [{ role: 'user' as const, content: 'Describe the network.' }];
const answerOf = async (seed: number, count: number) => {
  const tokens = simulatedAnswer(await speaker.render({ messages }), { seed, count });
  return tokens.map(simulatedText).join('');
};

interface Network {
  readonly peers: readonly {
    readonly peer: string;
    readonly running: number;
    readonly models: readonly { readonly verified: { readonly level: string } }[];
  }[];
  readonly models: readonly { readonly id: string; readonly workers: number }[];
  readonly totals: { readonly workers: number };
}

it('a gateway serves workers that join with a token and prove a pinned model, and completes a stream whose worker dies', async () => {
  await using directory = await temporaryDirectory();
  const settingsOf = (name: string) => ({ ...HOST, STRATA_DATA: path.join(directory.path, name) });
  const settings = { ...settingsOf('gateway'), STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on' };
  const pins = { STRATA_PIN_MODELS: `${MODEL}=${speaker.info.sha256}` };
  await using running = await startGateway(readGatewayConfig({ ...settings, ...pins }), logger, {
    openVocabulary: async () => ({ ...speaker, facts: speaker.info, [Symbol.asyncDispose]: async () => {} }),
  });
  const { gateway, port } = running;
  const base = `http://127.0.0.1:${port}`;
  const { key } = await gateway.keys.create({ tier: 'unlimited' });
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
  const network = async () => (await (await fetch(`${base}/network`)).json()) as Network;
  await using workers = new AsyncDisposableStack();
  const file = path.join(directory.path, 'model');
  await writeFile(file, Buffer.alloc(100_000, 'weights'));
  const tree = await openFileTree(file);
  /** A worker's id and its crash: the engine is lost with its answers. A patched one sends false text. */
  const join = async (name: string, { modelSeed = 1, text }: { modelSeed?: number; text?: string } = {}) => {
    // An answer takes longer than the report is kept, which names the workers that are busy.
    const runs = createSimulatedEngine({ tokensPerSecond: 40, modelSeed });
    const generate: typeof runs.generate = async function* (job, signal) {
      for await (const event of runs.generate(job, signal))
        yield event.kind === 'token' && text !== undefined ? { ...event, bytes: Buffer.from(text) } : event;
    };
    const engine = { ...runs, generate, info: { ...speaker.info, sizeBytes: 100_000 }, isReady: true };
    const model = { name: MODEL, engine, vocabulary, tree, speed: { prefill: 10_000, decode: 200 } };
    const joining = { ...settingsOf(name), STRATA_JOIN: gateway.network?.joinToken() ?? '' };
    const { id } = workers.use(await startWorker(readWorkerConfig(joining), { logger }, { models: [model] }));
    return { id, crash: () => runs[Symbol.asyncDispose]() };
  };

  // It has the file of the pin, and runs another model.
  await join('eve', { modelSeed: 2, text: 'EVIL' });
  const first = await join('first', { text: 'EVIL' });
  /** Resolves when the model has that level, with the reason. */
  const isVerified = (expected: RegExp) =>
    untilAnswer(`${expected}`, async () => {
      const [model] = (await client.models.list()).data as { verified?: { level: string; reason: string } }[];
      return expected.test(`${model?.verified?.level}: ${model?.verified?.reason}`);
    });
  await isVerified(/^claimed: .* does not answer by it$/);
  const asked = client.chat.completions.create({ model: MODEL, messages });
  const message = /pinned, and no worker has proved it: .* does not answer by it/;
  await assert.rejects(asked, { status: 503, message });
  const second = await join('second', { text: 'EVIL' });
  await isVerified(/^pinned: .*3 workers agree on its tree/);
  assert.equal((await fetch(`${base}/ready`)).status, 200);
  const { data, response } = await client.chat.completions
    .create({ model: MODEL, messages, seed: 5, max_tokens: 20 })
    .withResponse();
  const { choices, usage } = data;
  assert.match(response.headers.get('x-model-verified') ?? '', /^pinned;reason=/);
  assert.deepEqual([choices[0]?.message.content, usage?.completion_tokens], [await answerOf(5, 20), 20]);
  assert.partialDeepStrictEqual(await network(), { models: [{ id: MODEL, workers: 3 }], totals: { workers: 3 } });
  const both = [first, second];
  // Either of them can continue an answer of the other.
  await untilAnswer('both are pinned', async () => {
    const { peers } = await network();
    const pinned = peers.filter(({ models }) => models.some((each) => each.verified.level === 'pinned'));
    return both.every(({ id }) => pinned.some(({ peer }) => peer === id));
  });
  const asking = { model: MODEL, messages, seed: 11, max_tokens: 400 };
  const stream = await client.chat.completions.create({
    ...asking,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) {
    if (chunks.push(chunk) !== 30) continue;
    const busy = await untilAnswer('one worker is busy', async () => {
      const { peers } = await network();
      return both.find(({ id }) => peers.some(({ peer, running }) => peer === id && running > 0));
    });
    await busy?.crash();
  }
  assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), await answerOf(11, 400));
  assert.ok(chunks.length >= 30);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 400);
});
