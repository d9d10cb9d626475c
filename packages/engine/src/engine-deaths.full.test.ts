// Processes of engines that hang, are killed or run into a grammar without end: their own calls fail, others are served.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { EndlessGrammarError, EngineError, type Job, startLlamaEngine } from './index.ts';
import { ENDLESS, jobFor, never, oneSlot, restarts, run, tinyEngine } from './test/tiny-engine.ts';

const pidOf = (engine: unknown) => (engine as { readonly process: { readonly pid: number } }).process.pid;

describe('a grammar without end', () => {
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

  it('ends its own call, whose sender is known, and the engine serves again', async () => {
    const engine = await tinyEngine();
    restarts.length = 0;
    // Far below the 30 seconds after which any silent process is ended.
    const late = AbortSignal.timeout(15_000);
    const other = runTokens({ maxTokens: 2_000 });
    const crashed = (error: unknown) => !isEndless(error) && error instanceof EngineError && error.code === 'crashed';
    await Promise.all([assert.rejects(runTokens({ grammar: AMBIGUOUS }), isEndless), assert.rejects(other, crashed)]);
    assert.equal(late.aborted, false);
    assert.match(restarts[0]?.detail ?? '', /^SIGKILL: a grammar ran on/);
    assert.ok((await runTokens({})) > 0);
    const scored = { prompt: [5, 6, 7], answer: [1, 2], hasEnd: false, sampling: GREEDY, grammar: AMBIGUOUS };
    await assert.rejects(engine.score(scored, never), isEndless);
    assert.ok((await runTokens({})) > 0);
  });

  it('is refused before it is opened where it nests too deep, and no process dies', async () => {
    await tinyEngine();
    restarts.length = 0;
    const deep = `root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`;
    await assert.rejects(runTokens({ grammar: deep }), { code: 'grammar-unusable', message: /nests deeper/ });
    assert.ok((await runTokens({ grammar: 'root ::= "a"' })) > 0);
    assert.deepEqual(restarts, []);
  });
});

describe('an engine whose process hangs', () => {
  it('is ended and started again; a caller that leaves before need not wait', async () => {
    const events: string[] = [];
    const onRestart = ({ kind, detail }: { kind: string; detail: string }) => events.push(`${kind}: ${detail}`);
    await using hung = await startLlamaEngine(oneSlot, { silenceMs: 400, onRestart });
    process.kill(pidOf(hung), 'SIGSTOP');
    await assert.rejects(hung.tokenize('a'), { code: 'crashed' });
    assert.match(events[0] ?? '', /died: SIGKILL: silent for 400 ms/);
    assert.equal(hung.isReady, false);
    const leaving = new AbortController();
    const left = hung.embed([1], leaving.signal);
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    assert.ok((await hung.tokenize('a')).length > 0);
    assert.equal(hung.isReady, true);
  });
});

describe('several processes of which one dies', () => {
  it('fail its answers alone, and serve again', async () => {
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
});
