// Several processes of the demo's model as one engine.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { type Engine, type Job, startLlamaEngine } from './index.ts';

const never = new AbortController().signal;
const restarts: string[] = [];
let pool: Engine;
before(async () => {
  pool = await startLlamaEngine(
    { file, slots: 4, threads: 1, gpu: false, processes: 2 },
    { onRestart: ({ kind }) => restarts.push(kind) },
  );
});
after(() => pool?.[Symbol.asyncDispose]());

async function job(question: string, more: Partial<Job> = {}): Promise<Job> {
  const prompt = await pool.render({ messages: [{ role: 'user', content: question }], tools: [] });
  return { prompt, given: [], replay: 'exact', maxTokens: 60, sampling: GREEDY, ...more };
}

async function run(asked: Job): Promise<{ text: string; cached: number }> {
  let text = '';
  let cached = 0;
  for await (const event of pool.generate(asked, never)) {
    if (event.kind === 'begin') cached = event.cachedTokens;
    if (event.kind === 'token') text += Buffer.from(event.bytes).toString();
  }
  return { text, cached };
}

const questions = ['What is DMARC?', 'What does SPF do?', 'What is an MX record?', 'Who are you?', 'What is a CDN?'];

describe('several processes as one engine', () => {
  it('have the slots of all, and answer as one process does', async () => {
    assert.equal(pool.info.slots, 4);
    const alone = [];
    for (const question of questions) alone.push((await run(await job(question))).text);
    const jobs = await Promise.all(questions.map((question) => job(question)));
    // One more than there are slots.
    const together = await Promise.all(jobs.map(async (each) => (await run(each)).text));
    assert.deepEqual(together, alone);
    assert.equal(new Set(alone).size, questions.length);
  });

  it('send a prompt to the process that has read it', async () => {
    for (const question of questions.slice(0, 4)) await run(await job(question));
    for (const question of questions.slice(0, 4)) {
      const asked = await job(question);
      const { cached } = await run(asked);
      assert.equal(cached, asked.prompt.length - 1, question);
    }
  });

  it('go on where one of them dies: its answers fail, the others do not', async () => {
    const sampling = { ...GREEDY, logitBias: new Map([[1023, -100]]) };
    const long = await Promise.all(
      questions.slice(0, 4).map((question) => job(question, { sampling, maxTokens: 240 })),
    );
    const [member] = (pool as unknown as { members: readonly { process: { pid: number } }[] }).members;
    assert.ok(member);
    const ends = long.map((each) =>
      run(each).then(
        () => 'whole',
        () => 'failed',
      ),
    );
    setTimeout(() => process.kill(member.process.pid, 'SIGKILL'), 50);
    assert.deepEqual((await Promise.all(ends)).sort(), ['failed', 'failed', 'whole', 'whole']);
    assert.equal(pool.isReady, true);
    for (const question of questions) assert.ok((await run(await job(question))).text.length > 0);
    assert.equal(restarts[0], 'died');
  });
});
