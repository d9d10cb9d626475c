// Workers in front of other inference servers, joined to a gateway: scripted servers over real sockets, and the real
// vocabulary of their model.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { simulatedAnswer, simulatedText, simulatedVocabulary, startInferenceServer } from '@strata/testnet';
import { readWorkerConfig, startWorker } from '@strata/worker';
import OpenAI from 'openai';
import { temporaryDirectory, untilAnswer } from '../../support/index.ts';

const HOST = { STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_LOG_LEVEL: 'silent' };
const logger = createLogger({ level: 'silent' });

it('a stream of vLLM goes on at SGLang with the same tokens, and what neither can do is refused', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const settingsOf = (name: string) => ({ ...HOST, STRATA_DATA: path.join(directory.path, name) });
  const file = path.join(directory.path, 'vocabulary.gguf');
  await writeFile(file, simulatedVocabulary().bytes);
  const settings = { ...settingsOf('gateway'), STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on' };
  const { gateway, port } = stack.use(await startGateway(readGatewayConfig(settings), logger));
  const { key } = await gateway.keys.create({ tier: 'unlimited' });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key, maxRetries: 0 });
  const servers = [];
  for (const kind of ['vllm', 'sglang'] as const) {
    const server = stack.use(await startInferenceServer({ kind, tokensPerSecond: 40 }));
    const joining = { STRATA_ENGINE: server.url, STRATA_MODEL: file, STRATA_JOIN: gateway.network?.joinToken() ?? '' };
    const config = readWorkerConfig({ ...settingsOf(kind), ...joining, STRATA_WORKER_NAME: 'simulated' });
    stack.use(await startWorker(config, { logger }));
    servers.push(server);
  }
  await untilAnswer('both workers serve', async () => {
    const { models } = (await (await fetch(`http://127.0.0.1:${port}/network`)).json()) as {
      models: { workers: number }[];
    };
    return models[0]?.workers === 2;
  });
  const messages = [{ role: 'user' as const, content: 'Describe the network.' }];
  const asking = { model: 'simulated', messages, temperature: 0 };
  const counts = servers.map(({ asked }) => asked.length);
  const stream = await client.chat.completions.create({ ...asking, max_tokens: 100, stream: true });
  const chunks: string[] = [];
  let prompt: number[] = [];
  for await (const { choices } of stream) {
    if (chunks.push(choices[0]?.delta.content ?? '') !== 30) continue;
    const [busy] = servers.filter(({ asked }, i) => asked.length > (counts[i] ?? 0));
    prompt = busy?.asked.at(-1).prompt ?? busy?.asked.at(-1).input_ids;
    await busy?.kill();
  }
  const truth = simulatedAnswer(prompt, { seed: 0, count: 100 });
  assert.equal(chunks.join(''), truth.map(simulatedText).join(''));
  const asked = servers
    .flatMap((server, i) => server.asked.slice(counts[i]))
    .map((body) => body.prompt ?? body.input_ids);
  const given = asked.map((tokens) => tokens.length - prompt.length).sort((a, b) => a - b);
  // On a busy machine a further worker may be asked: for the beginning, or again.
  assert.equal(given[0], 0);
  assert.ok((given.at(-1) ?? 0) >= 25, `continued after ${given.at(-1)} tokens`);
  const embedding = client.embeddings.create({ model: 'simulated', input: 'network' });
  await assert.rejects(embedding, { status: 400, message: /no worker of this model can do .*: embeddings/ });
});
