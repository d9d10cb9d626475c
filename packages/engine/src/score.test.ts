// Answers of real llama.cpp, scored by it: its own answers have margins of rounding, changed ones do not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREEDY, MOST_MARGIN_NATS, type Sampling } from '@strata/inference';
import type { Job, ScoreJob } from './index.ts';
import { GRAMMAR, jobFor, never, run, tinyEngine } from './test/tiny-engine.ts';

/** Batches round otherwise than single tokens; on one build and processor class all but a few margins are exactly 0. */
const ROUNDING_NATS = 0.1;
const WARM: Sampling = { ...GREEDY, temperature: 1, seed: 11 };
const END_OF_TURN = 1_023;

async function answered(question: string, more: Partial<Job> = {}): Promise<ScoreJob> {
  const job = await jobFor(question, { maxTokens: 100, ...more });
  const { tokens, end } = await run(job);
  const { prompt, sampling, grammar, maxTokens } = job;
  const hasEnd = end?.kind === 'end' && end.reason === 'stop';
  return { prompt, answer: tokens, hasEnd, sampling, maxTokens, ...(grammar === undefined ? {} : { grammar }) };
}

const worst = (margins: readonly number[]) => Math.max(...margins);

describe('the score of an answer', () => {
  const score = async (job: ScoreJob, more: Partial<ScoreJob> = {}, signal = never) =>
    (await tinyEngine()).score({ ...job, ...more }, signal);

  const bias = new Map([
    [70, 3],
    [END_OF_TURN, -2],
  ]);
  const requests: Record<string, Partial<Job>> = {
    'the likeliest': {},
    sampled: { sampling: WARM },
    'top k': { sampling: { ...WARM, topK: 5 } },
    'top p': { sampling: { ...WARM, topP: 0.7 } },
    'min p': { sampling: { ...WARM, minP: 0.1, temperature: 1.5 } },
    'penalties and bias': { sampling: { ...WARM, presencePenalty: 0.5, frequencyPenalty: 0.4, logitBias: bias } },
    'a grammar': { grammar: GRAMMAR, sampling: WARM },
    'a grammar that is closed early': { grammar: GRAMMAR, sampling: { ...WARM, temperature: 1.5 }, maxTokens: 60 },
    'a grammar of unlikely words': { grammar: 'root ::= "zq~X#" [0-9] "zq~X#"', sampling: { ...WARM, topK: 3 } },
  };
  for (const [name, more] of Object.entries(requests))
    it(`of its own answer is that of rounding alone: ${name}`, async () => {
      const job = await answered('What does SPF do?', more);
      const margins = await score(job);
      assert.equal(margins.length, job.answer.length + (job.hasEnd ? 1 : 0));
      assert.ok(job.answer.length > 5 && worst(margins) <= ROUNDING_NATS, margins.join());
      assert.ok(margins.filter((margin) => margin === 0).length > margins.length * 0.8);
    });

  it('shows a token that the model would not have drawn', async () => {
    for (const more of [{}, { sampling: WARM }, { sampling: { ...WARM, topP: 0.9 } }]) {
      const job = await answered('What is DMARC?', more);
      const margins = await score(job, { answer: job.answer.with(4, ((job.answer[4] as number) + 7) % 1_000) });
      assert.ok(worst(margins.slice(0, 4)) <= ROUNDING_NATS && (margins[4] as number) > 1, margins.join());
    }
  });

  it('shows another seed, another temperature and another prompt', async () => {
    const job = await answered('Who are you?', { sampling: { ...WARM, temperature: 2 } });
    for (const other of [
      { sampling: { ...job.sampling, seed: 12 } },
      { sampling: { ...job.sampling, temperature: 0.2 } },
      { prompt: (await jobFor('What is a CDN?')).prompt },
    ]) {
      const margins = await score(job, other);
      assert.ok(margins.filter((margin) => margin > 1).length >= 3, margins.join());
    }
  });

  it('shows an end that comes too early, and tokens after the end', async () => {
    const job = await answered('What is DMARC?');
    assert.ok(job.hasEnd);
    const early = await score(job, { answer: job.answer.slice(0, 5) });
    assert.ok((early.at(-1) as number) > 1, early.join());
    const late = await score(job, { answer: [...job.answer, 300, 301] });
    assert.ok((late.at(-3) as number) > 1, late.join());
    const withEnd = await score(job, { answer: [...job.answer, END_OF_TURN], hasEnd: false });
    assert.equal(withEnd.at(-1), MOST_MARGIN_NATS);
    assert.deepEqual(await score(job, { answer: [] }), await score(job, { answer: [] }));
  });

  it('is the largest margin from where the answer violates the grammar', async () => {
    const job = await answered('Count.', { grammar: 'root ::= "{" [0-9] [0-9] [0-9] "}"', sampling: WARM });
    const at = job.answer.length - 2;
    const margins = await score(job, { answer: job.answer.with(at, 300) });
    assert.ok(worst(margins.slice(0, at)) <= ROUNDING_NATS);
    assert.deepEqual(margins.slice(at), Array(3).fill(MOST_MARGIN_NATS));
  });

  it('keeps the slot that was used last', async () => {
    const [first, second] = [await answered('What is DMARC?'), await answered('What does SPF do?')];
    for (let i = 0; i < 5; i += 1) await score(first, { prompt: [300 + i, ...first.prompt] });
    const { cachedTokens } = await run(await jobFor('What does SPF do?', { maxTokens: 1 }));
    assert.equal(cachedTokens, second.prompt.length - 1);
  });

  it('is bounded by the context, and ends for callers that leave', async () => {
    const job = await answered('What is DMARC?');
    await assert.rejects(score(job, { answer: Array(260).fill(300) }), { code: 'job-too-long' });
    await assert.rejects(score(job, { prompt: [] }), { code: 'prompt-empty' });
    await assert.rejects(score(job, { grammar: 'root ::= nothing' }), { code: 'grammar-unusable' });
    const leaving = new AbortController();
    const scores = Array.from({ length: 6 }, () => assert.rejects(score(job, {}, leaving.signal), /gone/));
    leaving.abort(new Error('gone'));
    await Promise.all(scores);
    assert.ok(worst(await score(job)) <= ROUNDING_NATS, 'slots are free again');
  });
});
