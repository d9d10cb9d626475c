// Processes of engines that hang, are killed or run into a grammar without end: their own calls fail, all other calls are served.
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { GREEDY } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { oneSlot, restarts, tinyEngine } from '../../../../tests/support/tiny-engine.ts';
import { EndlessGrammarError, EngineError, type Job, openVocabulary, startLlamaEngine } from '../index.ts';
import { ggufWith, written } from '../test/gguf-file.ts';
import { ENDLESS, jobFor, never, run, user } from '../test/tiny-engine.ts';

const pidOf = (engine: unknown) => (engine as { readonly process: { readonly pid: number } }).process.pid;

/** Four alternatives in each of 30 rules, nested in each other. */
const AMBIGUOUS = [
  'root ::= r0 r0',
  ...Array.from({ length: 30 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}? | r${i + 1}? r${i + 1}`),
  'r30 ::= "a"? "b"?',
].join('\n');
const runTokens = async (more: Partial<Job>) => {
  const base = { prompt: [5, 6, 7], given: [], replay: 'exact', maxTokens: 8, sampling: GREEDY } as const;
  return (await run({ ...base, ...more })).tokens.length;
};
const isEndless = (error: unknown): boolean => error instanceof EndlessGrammarError;

it('a grammar without end ends its own call, whose sender is known, and the engine serves again', async () => {
  const engine = await tinyEngine();
  restarts.length = 0;
  // Far below the 30 seconds after which any silent process is ended.
  const late = AbortSignal.timeout(15_000);
  const other = runTokens({ maxTokens: 2_000 });
  const crashed = (error: unknown) => !isEndless(error) && error instanceof EngineError && error.code === 'crashed';
  await Promise.all([assert.rejects(runTokens({ grammar: AMBIGUOUS }), isEndless), assert.rejects(other, crashed)]);
  assert.equal(late.aborted, false);
  assert.match(restarts[0]?.detail ?? '', /^SIGKILL: a grammar step took/);
  assert.equal(restarts[0]?.isByGrammar, true, 'no crash of the model');
  assert.ok((await runTokens({})) > 0);
  const scored = { prompt: [5, 6, 7], answer: [1, 2], hasEnd: false, sampling: GREEDY, grammar: AMBIGUOUS };
  await assert.rejects(engine.score(scored, never), isEndless);
  assert.ok((await runTokens({})) > 0);
});

it('a grammar without end is refused before it is opened where it nests too deep, and no process dies', async () => {
  await tinyEngine();
  restarts.length = 0;
  const deep = `root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`;
  await assert.rejects(runTokens({ grammar: deep }), { code: 'grammar-unusable', message: /nests deeper/ });
  assert.ok((await runTokens({ grammar: 'root ::= "a"' })) > 0);
  assert.deepEqual(restarts, []);
});

it('an engine whose process hangs is ended and started again; a caller that leaves before need not wait', async () => {
  const events: string[] = [];
  const onRestart = ({ kind, detail }: { kind: string; detail: string }) => events.push(`${kind}: ${detail}`);
  await using hung = await startLlamaEngine(oneSlot, { silenceMs: 400, onRestart });
  process.kill(pidOf(hung), 'SIGSTOP');
  await assert.rejects(hung.tokenize('a'), { code: 'crashed' });
  assert.match(events[0] ?? '', /died: SIGKILL: no response for 400 ms/);
  assert.equal(hung.isReady, false);
  const leaving = new AbortController();
  const left = hung.embed([1], leaving.signal);
  leaving.abort(new Error('the caller left'));
  await assert.rejects(left, /the caller left/);
  assert.ok((await hung.tokenize('a')).length > 0);
  assert.equal(hung.isReady, true);
});

it('an engine that is stopped because its process died starts no other one', async () => {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const engine = await startLlamaEngine(oneSlot, { onRestart: () => resolve(engine[Symbol.asyncDispose]()) });
  const timers = mock.method(globalThis, 'setTimeout');
  process.kill(pidOf(engine), 'SIGKILL');
  await stopped.finally(() => timers.mock.restore());
  assert.deepEqual(timers.mock.calls, []);
});

it('several processes of which one dies fail its answers alone, and serve again', async () => {
  const kinds: string[] = [];
  const options = { ...oneSlot, slots: 4, processes: 2 };
  await using pool = await startLlamaEngine(options, { onRestart: ({ kind }) => kinds.push(kind) });
  const questions = ['What is DMARC?', 'What does SPF do?', 'What is an MX record?', 'Who are you?'];
  const jobs = await Promise.all(questions.map((each) => jobFor(each, { sampling: ENDLESS, maxTokens: 240 })));
  const [member] = (pool as unknown as { readonly members: readonly unknown[] }).members;
  let begun = 0;
  const outcomes = jobs.map(async (job) => {
    for await (const { kind } of pool.generate(job, never))
      if (kind === 'begin' && ++begun === jobs.length) process.kill(pidOf(member), 'SIGKILL');
  });
  const ends = (await Promise.allSettled(outcomes)).map(({ status }) => status);
  assert.deepEqual(ends.sort(), ['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  assert.equal(pool.isReady, true);
  for (const question of questions) assert.ok((await run(await jobFor(question), pool)).text.length > 0);
  assert.equal(kinds[0], 'died');
});

const nested = (depth: number): string =>
  depth === 0 ? '' : `{% for i${depth} in range(9000) %}${nested(depth - 1)}{% endfor %}`;
const LOOP = nested(3);

describe('an untrusted vocabulary', () => {
  const read = async (text: string) => (await tinyEngine()).tokenize(text);
  const openWith = async (template: string, options: Parameters<typeof openVocabulary>[1]) =>
    openVocabulary(await written(await ggufWith(file, { 'tokenizer.chat_template': template })), options);

  it('whose template does not terminate delays no other call for long: its process is killed, other calls are served, and it is retried', async () => {
    const template = `{% if messages[0].content == 'loop' %}${LOOP}{% endif %}fine`;
    await using strange = await openWith(template, { callMs: 1_000, restMs: 0 });
    const hung = assert.rejects(strange.render(user('loop')), { code: 'template-failed', message: /too long/ });
    const next = strange.tokenize('hello');
    await hung;
    assert.deepEqual(await next, await read('hello'));
    for (let i = 0; i < 2; i += 1) await assert.rejects(strange.render(user('loop')), { message: /too long/ });
    assert.deepEqual(await strange.render(user('Hi')), await read('fine'));
  });

  it('that fails repeatedly is not tried for a while, and still tokenizes', async () => {
    await using strange = await openWith(LOOP, { callMs: 300 });
    for (let i = 0; i < 3; i += 1) await assert.rejects(strange.render(user('a')), { message: /too long/ });
    // Not tried: the calls take no time, far less than the hundred seconds and more of as many processes.
    const startedAt = performance.now();
    for (let i = 0; i < 100; i += 1)
      await assert.rejects(strange.render(user('a')), { code: 'template-failed', message: /failed repeatedly/ });
    assert.ok(performance.now() - startedAt < 10_000, 'no process is started for it');
    assert.deepEqual(await strange.tokenize('hello'), await read('hello'));
  });

  it('whose template writes without end is ended too', async () => {
    const doubling = `{% set ns = namespace(s='${'x'.repeat(64)}') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}`;
    for (const template of [doubling, '{{ range(1000000000) | length }}']) {
      await using strange = await openWith(template, { callMs: 1_500 });
      await assert.rejects(strange.render(user('a')), { code: 'template-failed' });
      assert.deepEqual(await strange.tokenize('hello'), await read('hello'));
    }
  });
});
