// Servers without token ids: text that is exactly that of tokens, and what is refused; embeddings of all kinds of servers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { abilitiesIn, GREEDY } from '@strata/inference';
import { createSimulatedEngine, type InferenceServerOptions, startInferenceServer } from '@strata/testnet';
import { failedAs } from '../test/upstream-harness.ts';
import { UpstreamHttp } from '../upstream/http.ts';
import { lacksByTrial, probe } from './probe.ts';
import { RemoteEngine } from './remote-engine.ts';
import { checkText, tokensOf } from './text-server.ts';

const UNWRITABLE = failedAs('unsupported', /cannot be written as text/);
const ONLY_EMBEDDINGS = abilitiesIn(-1).filter((each) => each !== 'embeddings');
const never = new AbortController().signal;
const TIMING = { connectMs: 1_000, firstTokenMs: 300, idleMs: 300, retries: 0, random: () => 0, onRetry: () => {} };
/** Words are tokens in order of their appearance; the first one is control. */
const BOS = 0;
const words = ['<s>'];
const numberOf = (word: string) => (words.includes(word) ? words.indexOf(word) : words.push(word) - 1);
const textOf = (tokens: readonly number[]) => tokens.map((token) => words[token] ?? '?').join('');
const simulated = createSimulatedEngine();
const vocabulary = {
  ...simulated,
  ...{ facts: simulated.info, ends: async () => [], spell: async (tokens: readonly number[]) => textOf(tokens) },
  tokenize: async (text: string, { hasControl = false } = {}) =>
    (text.match(hasControl ? /<s>| ?[^\s<]+|./gsu : / ?[^\s<]+|./gsu) ?? []).map(numberOf),
  detokenize: async (tokens: readonly number[]) => textOf(tokens.filter((token) => token !== BOS)),
  bytes: async (tokens: readonly number[]) => tokens.map((token) => Buffer.from(words[token] ?? '?')),
  render: async () => [BOS, numberOf('What'), numberOf(' is'), numberOf(' it?')],
};
const tokenize = (text: string) => vocabulary.tokenize(text, { hasControl: true });

async function opened(options: Partial<InferenceServerOptions> = {}, bos?: number) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startInferenceServer({ kind: 'openai', tokenize, ...options }));
  const http = stack.use(new UpstreamHttp({ ...TIMING, base: server.url, apiKey: undefined }));
  const probed = await probe(http, undefined, never);
  const { dialect, model, engine: name } = probed;
  const lacks = await lacksByTrial(http, probed, { prompt: [1], plain: 1, signal: never });
  const isChecked = dialect.kind === 'openai' && !lacks.includes('answers');
  const checked = isChecked && (await checkText(http, { model, vocabulary, bos, signal: never }));
  const text = checked ? { vocabulary, ...checked } : undefined;
  const info = { ...simulated.info, contextLength: 4_096, lacks };
  const engine = stack.use(
    new RemoteEngine({ http, dialect, model, info, vocabulary, ends: [], plain: 1, text, firstMs: 300, idleMs: 300 }),
  );
  const owned = stack.move();
  return { server, name, lacks, engine, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function run(engine: RemoteEngine, prompt: readonly number[], maxTokens = 12) {
  const job = { prompt, given: [], replay: 'exact', maxTokens, sampling: GREEDY } as const;
  const events = await Array.fromAsync(engine.generate(job, never));
  const tokens = events.flatMap((event) => (event.kind === 'token' ? [event.token] : []));
  return [textOf(tokens), tokens.length, events.at(-1)] as const;
}

it('a server without token ids answers with tokens of exactly its text, up to the limit', async () => {
  await using all = await opened({ answerTokens: 5 });
  const lacking = 'grammar logprobs scores draws replay continuation embeddings';
  assert.deepEqual([all.name, all.lacks.join(' ')], ['openai', lacking]);
  const prompt = await tokenize('<s> say it');
  const [text, count, end] = await run(all.engine, prompt);
  assert.match(text, /^( w\d+){5} w0$/);
  assert.deepEqual([count, end], [6, { kind: 'end', reason: 'stop' }]);
  assert.equal(all.server.asked.at(-1).prompt, '<s> say it');
  assert.deepEqual((await run(all.engine, prompt, 3)).slice(1), [3, { kind: 'end', reason: 'length' }]);
  await assert.rejects(run(all.engine, [numberOf('a'), numberOf('b')]), UNWRITABLE);
});

it('text that ends before the limit by the count of the worker is continued', async () => {
  await using first = await opened();
  const prompt = await tokenize('go on');
  const [text] = await run(first.engine, prompt);
  const silent = Number(/w(\d+)/.exec(text)?.[1]);
  await using all = await opened({ silentTokens: [silent] });
  const [shorter, count] = await run(all.engine, prompt);
  assert.equal(count, 12);
  const asked = all.server.asked.slice(-2).map(({ prompt: sent, max_tokens }) => `${sent} ${max_tokens}`);
  assert.deepEqual(asked, ['go on 12', `go on${shorter.split(' ').slice(0, -1).join(' ')} 1`]);
});

it('a token that the server adds is left to it, and a server that changes prompts does not join', async () => {
  await using all = await opened({ tokenize: async (text) => [...(await tokenize(text)), 9] }, BOS);
  await run(all.engine, await tokenize('<s>go'));
  assert.equal(all.server.asked.at(-1).prompt, 'go');
  await assert.rejects(run(all.engine, await tokenize('go')), UNWRITABLE);
  const refused = failedAs('model-unusable', /counts \d+ tokens .* has \d+ here: .*TEMPLATE|exact usage.prompt_tokens/);
  for (const change of [{ added: 1 }, { added: 7 }, { added: Number.NaN }, { tokenize: async () => [1] }])
    await assert.rejects(opened(change), refused);
});

it('text in the middle of an answer is made of tokens also where a vocabulary begins texts with a space', async () => {
  const spaced = { ...vocabulary, tokenize: (text: string) => vocabulary.tokenize(` ${text}`) };
  assert.equal(textOf(await tokensOf('lo world', spaced)), 'lo world');
  const mute = { ...vocabulary, bytes: async () => [] };
  await assert.rejects(tokensOf('lo', mute), failedAs('upstream-failed', /not in the vocabulary/));
});

for (const kind of ['llama-server', 'vllm', 'sglang', 'openai'] as const)
  it(`${kind} embeds where its server does, also where that generates nothing`, async () => {
    await using all = await opened({ kind, embeddings: 'also' });
    assert.ok(!all.lacks.includes('embeddings') && !all.lacks.includes('answers'));
    const [x = 0, , z = 0] = await all.engine.embed(await tokenize('a word'), never);
    assert.deepEqual([(x / z).toFixed(4), Math.hypot(x, z).toFixed(4)], ['6.0000', '1.0000']);
    await assert.rejects(all.engine.embed([BOS], never), failedAs('unsupported', /embeds texts/));
    await using only = await opened({ kind, embeddings: 'only' });
    assert.deepEqual(only.lacks, ONLY_EMBEDDINGS);
    await assert.rejects(run(only.engine, [1]), failedAs('unsupported', /lacks answers/));
  });
