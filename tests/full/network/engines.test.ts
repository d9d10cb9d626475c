// Workers in front of other inference servers, joined to a gateway: scripted servers over real sockets, and the real
// vocabulary of their model.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { openVocabulary } from '@strata/engine';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import {
  pieceVocabulary,
  simulatedAnswer,
  simulatedText,
  simulatedVocabulary,
  startInferenceServer,
} from '@strata/testnet';
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

for (const [spelling, bytes, added] of [
  ['bytes', simulatedVocabulary().bytes, 0],
  ['SentencePiece, whose texts begin with a token that the server adds,', pieceVocabulary(), 1],
] as const)
  it(`a server without token ids answers by its vocabulary of ${spelling} is only claimed, and embeds`, async () => {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await temporaryDirectory());
    const file = path.join(directory.path, 'vocabulary.gguf');
    await writeFile(file, bytes);
    const vocabulary = stack.use(await openVocabulary(file));
    const tokenize = (text: string) => vocabulary.tokenize(text, { hasControl: true });
    const server = stack.use(await startInferenceServer({ kind: 'openai', tokenize, added, embeddings: 'also' }));
    const settings = { ...HOST, STRATA_DATA: directory.path, STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on' };
    const { gateway, port } = stack.use(await startGateway(readGatewayConfig(settings), logger));
    const joining = { ...HOST, STRATA_DATA: directory.path, STRATA_JOIN: gateway.network?.joinToken() ?? '' };
    const serving = { ...joining, STRATA_ENGINE: server.url, STRATA_MODEL_OPTIONS: 'context=4096' };
    await assert.rejects(startWorker(readWorkerConfig(serving), { logger }), /--vocab-only/);
    stack.use(await startWorker(readWorkerConfig({ ...serving, STRATA_MODEL: file }), { logger }));
    const { key } = await gateway.keys.create({ tier: 'unlimited' });
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key, maxRetries: 0 });
    await untilAnswer('the worker serves', async () => (await client.models.list()).data.length === 1);
    const [model] = (await client.models.list()).data;
    assert.match(JSON.stringify(model), /"level":"claimed","reason":"[^"]*no token ids/);
    const messages = [{ role: 'user' as const, content: 'Describe the network.' }];
    const asking = client.chat.completions.create({ model: 'vocabulary', messages, temperature: 0, max_tokens: 40 });
    const { data, response } = await asking.withResponse();
    assert.match(response.headers.get('x-model-verified') ?? '', /^claimed/);
    const sent = server.asked.at(-1).prompt;
    assert.equal(sent, '<|im_start|>user\nDescribe the network.<|im_end|>\n<|im_start|>assistant\n');
    const words = simulatedAnswer(
      Array.from(sent as string, (each) => 10 + each.charCodeAt(0)),
      { seed: 0, count: 40 },
    );
    // Its words are several tokens each in this vocabulary.
    assert.ok(
      words
        .map(simulatedText)
        .join('')
        .startsWith(data.choices[0]?.message.content ?? '-'),
    );
    assert.deepEqual([data.usage?.completion_tokens, data.choices[0]?.finish_reason], [40, 'length']);
    const { data: vectors } = await client.embeddings.create({ model: 'vocabulary', input: 'network' });
    assert.ok(vectors[0] && (vectors[0].embedding[0] ?? 0) > 0.9, 'seven letters');
  });
