// Engines in front of scripted inference servers of each kind: what they find out, answer, continue, score and refuse.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { GREEDY } from '@strata/inference';
import {
  createSimulatedEngine,
  type InferenceFault,
  type InferenceServerKind,
  type InferenceServerOptions,
  PROMPT_END,
  simulatedAnswer,
  startInferenceServer,
} from '@strata/testnet';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { Job } from '../engine.ts';
import { failedAs } from '../test/upstream-harness.ts';
import { UpstreamHttp } from '../upstream/http.ts';
import { checkTokens, lacksByTrial, probe } from './probe.ts';
import { RemoteEngine, type RemoteEngineDeps } from './remote-engine.ts';

const KINDS = ['llama-server', 'vllm', 'sglang', 'tensorrt-llm'] as const;
const never = new AbortController().signal;
const PROMPT = [700, 800, PROMPT_END];
const END = 1;
const JOB: Job = { prompt: PROMPT, given: [], replay: 'exact', maxTokens: 20, sampling: GREEDY };
const TIMING = { connectMs: 1_000, firstTokenMs: 300, idleMs: 300, retries: 0, random: () => 0, onRetry: () => {} };
const truth = (count: number) => simulatedAnswer(PROMPT, { seed: 0, count });

async function opened(
  kind: InferenceServerKind,
  options: Partial<InferenceServerOptions> = {},
  more: Pick<RemoteEngineDeps, 'wait'> = {},
) {
  await using stack = new AsyncDisposableStack();
  const simulated = createSimulatedEngine();
  const { info: facts, detokenize: spell } = simulated;
  const vocabulary = { ...simulated, facts, spell, ends: async () => [END], isReady: true };
  const tokenize = (text: string) => simulated.tokenize(text);
  const server = stack.use(await startInferenceServer({ kind, endToken: END, tokenize, ...options }));
  const http = stack.use(new UpstreamHttp({ ...TIMING, base: server.url, apiKey: 'sk-1' }));
  const probed = await probe(http, undefined, never);
  const areTokensChecked = await checkTokens(http, probed, { vocabulary, signal: never });
  const lacks = await lacksByTrial(http, probed, { prompt: [700], plain: 700, signal: never });
  const { dialect, model } = probed;
  const info = { ...simulated.info, contextLength: probed.contextLength ?? 4_096, lacks };
  const deps = { http, dialect, model, info, vocabulary, ends: [END], plain: 700, firstMs: 300, idleMs: 300, ...more };
  const engine = stack.use(new RemoteEngine(deps));
  const owned = stack.move();
  return { server, probed, areTokensChecked, lacks, engine, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function run(engine: RemoteEngine, change: Partial<Job> = {}) {
  const events = await Array.fromAsync(engine.generate({ ...JOB, ...change }, never));
  const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
  return { tokens: tokens.map(({ token }) => token), chosen: tokens, end: events.at(-1) };
}

const ALWAYS = ['draws', 'replay', 'embeddings'];
const FACTS = {
  'llama-server': ['llama-server b9999', 4_096, 2, true, ['penalties']],
  vllm: ['vllm 9.9', 4_096, undefined, true, []],
  sglang: ['sglang 9.9', 4_096, 2, true, []],
  'tensorrt-llm': ['tensorrt-llm 9.9', undefined, undefined, undefined, ['logprobs', 'scores']],
} as const;

for (const kind of KINDS) {
  it(`${kind} is asked what it is and what it can do`, async () => {
    await using all = await opened(kind);
    const [engine, contextLength, slots, areTokensChecked, lacks] = FACTS[kind];
    assert.partialDeepStrictEqual(
      { ...all.probed, areTokensChecked: all.areTokensChecked },
      { engine, contextLength, slots, areTokensChecked },
    );
    assert.deepEqual(new Set(all.lacks), new Set([...ALWAYS, ...lacks]));
    await using less = await opened(kind, { refuses: ['grammar', 'logprobs', 'scores'] });
    assert.deepEqual(new Set(less.lacks), new Set([...ALWAYS, ...lacks, 'grammar', 'logprobs', 'scores']));
    if (!areTokensChecked) return;
    await assert.rejects(opened(kind, { tokenize: async () => [5] }), failedAs('model-unusable', /another vocabulary/));
  });

  it(`${kind} continues an answer after any of its tokens, and ends it`, async () => {
    await using all = await opened(kind, { answerTokens: 12 });
    const { engine } = all;
    assert.deepEqual(await run(engine, { maxTokens: 9 }).then(({ tokens }) => tokens), truth(9));
    for (const at of [0, 5, 12]) {
      const { tokens, end } = await run(engine, { given: truth(at) });
      assert.deepEqual([tokens, end], [truth(12).slice(at), { kind: 'end', reason: 'stop' }], `after ${at}`);
    }
    assert.equal((await run(engine, { given: truth(7), maxTokens: 7 })).tokens.length, 0);
    const toContext = { maxTokens: 4_096 - PROMPT.length };
    assert.deepEqual((await run(engine, toContext)).tokens, truth(12), 'an answer may fill the context');
  });

  if (kind !== 'tensorrt-llm')
    it(`${kind} reports log-probabilities, and scores an answer that it did not make`, async () => {
      await using all = await opened(kind, { answerTokens: 12 });
      const { tokens, chosen } = await run(all.engine, { topLogprobs: 2 });
      assert.deepEqual(tokens, truth(12));
      const [first] = chosen;
      const [token = 0] = truth(1);
      assert.deepEqual([first?.token, first?.logprob], [token, -0.5]);
      assert.deepEqual(
        first?.top?.map((each) => [each.token, each.logprob]),
        [
          [token, -0.5],
          [token + 1, -2],
        ],
      );
      const job = { prompt: PROMPT, hasEnd: false, sampling: GREEDY };
      assert.deepEqual(await all.engine.score({ ...job, answer: truth(6) }, never), [0, 0, 0, 0, 0, 0]);
      const wrong = await all.engine.score({ ...job, answer: [...truth(3), 500] }, never);
      assert.ok(wrong.slice(0, 3).every((margin) => margin === 0) && (wrong[3] ?? 0) > 1, `${wrong}`);
    });

  it(`${kind} that breaks is an error, and no token of it counts`, async () => {
    await using all = await opened(kind);
    for (const [fault, message] of casesOf<[InferenceFault, string][]>('engine', 'faults of a server')) {
      all.server.fault = fault;
      await assert.rejects(run(all.engine), failedAs('upstream-failed', new RegExp(message)), fault);
    }
    all.server.fault = undefined;
    assert.deepEqual((await run(all.engine)).tokens, truth(20), 'it is asked again');
    await all.server.kill();
    await assert.rejects(run(all.engine), failedAs('upstream-failed', /unreachable/));
    assert.deepEqual([all.engine.isReady, all.engine.unavailable], [false, 'its server does not answer']);
  });
}

it('an engine is not ready while idle once its server fails two checks, until its server is back', async () => {
  const all = Promise.withResolvers<Awaited<ReturnType<typeof opened>>>();
  const over = Promise.withResolvers<void>();
  const waits: (readonly [ms: number, isReady: boolean])[] = [];
  await using again = createServer((_, response) => response.end());
  const wait = async (ms: number, signal: AbortSignal) => {
    const { engine, server } = await all.promise;
    waits.push([ms, engine.isReady]);
    if (waits.length === 2) await server.kill();
    if (waits.length === 5) await once(again.listen(Number(new URL(server.url).port), '127.0.0.1'), 'listening');
    if (waits.length < 6) return;
    over.resolve();
    await once(signal, 'abort');
  };
  await using engine = await opened('llama-server', {}, { wait });
  all.resolve(engine);
  await over.promise;
  const [idle, second, down] = [[5_000, true] as const, [1_000, true] as const, [1_000, false] as const];
  assert.deepEqual(waits, [idle, idle, second, down, down, idle]);
});

it('an answer that does not begin ends once the health page of its server does not answer', async () => {
  const wait = async (ms: number, signal: AbortSignal) => void (ms === 500 || (await once(signal, 'abort')));
  await using all = await opened('llama-server', { tokensPerSecond: 200 }, { wait });
  assert.deepEqual((await run(all.engine)).tokens, truth(20), 'a slow one goes on');
  all.server.fault = 'hang';
  await assert.rejects(run(all.engine), failedAs('upstream-failed', /does not answer/));
});

it('tokens that llama-server leaves out of its stream are asked for', async () => {
  const silentTokens = [3, 4, 5, 9, 17].flatMap((at) => truth(20)[at] ?? []);
  await using all = await opened('llama-server', { silentTokens });
  assert.deepEqual((await run(all.engine, { maxTokens: 40 })).tokens, truth(40));
  all.server.fault = 'none';
  await assert.rejects(
    run(all.engine),
    failedAs('upstream-failed', /sent no token/),
    'it is not asked again and again',
  );
});

it('what an engine lacks is refused before its server is asked', async () => {
  await using all = await opened('llama-server', { refuses: ['grammar', 'logprobs'] });
  const before = all.server.asked.length;
  const penalised = { sampling: { ...GREEDY, presencePenalty: 1 } };
  for (const change of [{ grammar: 'root ::= "a"' }, { topLogprobs: 0 }, penalised, { ...penalised, given: [400] }])
    await assert.rejects(run(all.engine, change), failedAs('unsupported'));
  await assert.rejects(all.engine.embed([400], never), failedAs('unsupported', /no embeddings/));
  assert.equal(all.server.asked.length, before);
});
