// Several processes of the demo's model as one engine.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Engine, startLlamaEngine } from './index.ts';
import { jobFor, oneSlot, run } from './test/tiny-engine.ts';

const questions = ['What is DMARC?', 'What does SPF do?', 'What is an MX record?', 'Who are you?', 'What is a CDN?'];

describe('several processes as one engine', () => {
  let pool: Engine;
  before(async () => {
    pool = await startLlamaEngine({ ...oneSlot, slots: 4, processes: 2 });
  });
  after(() => pool?.[Symbol.asyncDispose]());

  it('have the slots of all, and answer as one process does, also more callers than slots', async () => {
    assert.equal(pool.info.slots, 4);
    const jobs = await Promise.all(questions.map((question) => jobFor(question, { maxTokens: 60 })));
    const texts = async (engine?: Engine) => Promise.all(jobs.map(async (job) => (await run(job, engine)).text));
    const together = await texts(pool);
    // One more than the pool has slots, and three more than the single process has.
    assert.deepEqual(await texts(), together);
    const alone = [];
    for (const job of jobs) alone.push((await run(job)).text);
    assert.deepEqual(together, alone);
    assert.equal(new Set(alone).size, questions.length);
  });

  it('send a prompt to the process that has read it', async () => {
    const jobs = await Promise.all(questions.slice(0, 4).map((question) => jobFor(question, { maxTokens: 60 })));
    for (const job of jobs) await run(job, pool);
    for (const job of jobs) assert.equal((await run(job, pool)).cachedTokens, job.prompt.length - 1);
  });
});
