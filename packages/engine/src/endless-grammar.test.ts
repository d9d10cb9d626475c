// Grammars on which llama.cpp never comes back: their own call is over soon and told apart, and others are served again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { EndlessGrammarError, type Engine, EngineError, type Job, startLlamaEngine } from './index.ts';

const never = new AbortController().signal;
/** 4 ways in each of 30 rules, in each other. */
const AMBIGUOUS = [
  'root ::= r0 r0',
  ...Array.from({ length: 30 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}? | r${i + 1}? r${i + 1}`),
  'r30 ::= "a"? "b"?',
].join('\n');

describe('a grammar without end', () => {
  let engine: Engine;
  const deaths: string[] = [];
  before(async () => {
    engine = await startLlamaEngine(
      { file, slots: 2, threads: 1, gpu: false },
      { onRestart: ({ kind, detail }) => kind === 'died' && deaths.push(detail) },
    );
  });
  after(() => engine?.[Symbol.asyncDispose]());

  async function run(more: Partial<Job>): Promise<number> {
    const job: Job = { prompt: [5, 6, 7], given: [], replay: 'exact', maxTokens: 8, sampling: GREEDY, ...more };
    let tokens = 0;
    for await (const { kind } of engine.generate(job, never)) if (kind === 'token') tokens += 1;
    return tokens;
  }

  it('ends its own call, whose sender is known then, and the engine serves again', async () => {
    // Far below the 30 seconds after which any silent process is ended.
    const late = AbortSignal.timeout(15_000);
    const ended = assert.rejects(run({ grammar: AMBIGUOUS }), (error) => error instanceof EndlessGrammarError);
    const other = assert.rejects(
      run({ maxTokens: 2_000 }),
      (error) => error instanceof EngineError && !(error instanceof EndlessGrammarError) && error.code === 'crashed',
    );
    await Promise.all([ended, other]);
    assert.equal(late.aborted, false);
    assert.match(deaths.join(), /^SIGKILL: a grammar ran on/);
    assert.ok((await run({})) > 0);
    const job = { prompt: [5, 6, 7], answer: [1, 2], hasEnd: false, sampling: GREEDY, grammar: AMBIGUOUS };
    await assert.rejects(engine.score(job, never), (error) => error instanceof EndlessGrammarError);
    assert.ok((await run({})) > 0);
  });

  it('is refused before it is opened where its text tells, and nothing dies', async () => {
    const before = deaths.length;
    const deep = `root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`;
    await assert.rejects(run({ grammar: deep }), { code: 'grammar-unusable', message: /nests deeper/ });
    assert.ok((await run({ grammar: 'root ::= "a"' })) > 0);
    assert.equal(deaths.length, before);
  });
});
