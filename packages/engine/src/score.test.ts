// Answers of real llama.cpp, scored by it: what it gave itself stands, what was changed does not.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GREEDY, MOST_MARGIN_NATS, type Sampling } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { type Engine, type Job, type ScoreJob, startLlamaEngine } from './index.ts';

const never = new AbortController().signal;
/** Batches round otherwise than single tokens; on one build and processor class all but a few margins are exactly 0. */
const ROUNDING_NATS = 0.1;
const WARM: Sampling = { ...GREEDY, temperature: 1, seed: 11 };
const END_OF_TURN = 1_023;

let engine: Engine;
before(async () => {
  engine = await startLlamaEngine({ file, slots: 2, threads: 1, gpu: false });
});
after(() => engine?.[Symbol.asyncDispose]());

async function answered(question: string, more: Partial<Job> = {}): Promise<ScoreJob> {
  const prompt = await engine.render({ messages: [{ role: 'user', content: question }], tools: [] });
  const job: Job = { prompt, given: [], replay: 'exact', maxTokens: 100, sampling: GREEDY, ...more };
  const answer: number[] = [];
  let hasEnd = false;
  for await (const event of engine.generate(job, never)) {
    if (event.kind === 'token') answer.push(event.token);
    if (event.kind === 'end') hasEnd = event.reason === 'stop';
  }
  const { sampling, grammar, maxTokens } = job;
  return { prompt, answer, hasEnd, sampling, maxTokens, ...(grammar === undefined ? {} : { grammar }) };
}

const worst = (margins: readonly number[]) => Math.max(...margins);

describe('the score of an answer', () => {
  const grammar = 'root ::= "{\\"a\\": " string ", \\"b\\": [" string "]}"\nstring ::= "\\"" [a-z }\\]]* "\\""';
  const bias = new Map([
    [70, 3],
    [END_OF_TURN, -2],
  ]);
  const asked: Record<string, Partial<Job>> = {
    'the likeliest': {},
    'what a seed drew': { sampling: WARM },
    'top k': { sampling: { ...WARM, topK: 5 } },
    'top p': { sampling: { ...WARM, topP: 0.7 } },
    'min p': { sampling: { ...WARM, minP: 0.1, temperature: 1.5 } },
    'penalties and bias': {
      sampling: { ...WARM, presencePenalty: 0.5, frequencyPenalty: 0.4, logitBias: bias },
    },
    'a grammar': { grammar, sampling: WARM },
    'a grammar that is brought to a close': { grammar, sampling: { ...WARM, temperature: 1.5 }, maxTokens: 60 },
    'a grammar of unlikely words': { grammar: 'root ::= "zq~X#" [0-9] "zq~X#"', sampling: { ...WARM, topK: 3 } },
  };
  for (const [name, more] of Object.entries(asked)) {
    it(`of its own is that of rounding alone: ${name}`, async () => {
      const job = await answered('What does SPF do?', more);
      const margins = await engine.score(job, never);
      assert.equal(margins.length, job.answer.length + (job.hasEnd ? 1 : 0));
      assert.ok(job.answer.length > 5 && worst(margins) <= ROUNDING_NATS, margins.join());
      assert.ok(margins.filter((margin) => margin === 0).length > margins.length * 0.8);
    });
  }

  it('tells a token that the model would not have drawn, and only doubts what follows where that differs', async () => {
    for (const more of [{}, { sampling: WARM }, { sampling: { ...WARM, topP: 0.9 } }]) {
      const job = await answered('What is DMARC?', more);
      const changed = job.answer.with(4, ((job.answer[4] as number) + 7) % 1_000);
      const margins = await engine.score({ ...job, answer: changed }, never);
      assert.ok(worst(margins.slice(0, 4)) <= ROUNDING_NATS && (margins[4] as number) > 1, margins.join());
    }
  });

  it('tells another seed, a colder draw, and another prompt', async () => {
    const job = await answered('Who are you?', { sampling: { ...WARM, temperature: 2 } });
    const others: Partial<ScoreJob>[] = [
      { sampling: { ...job.sampling, seed: 12 } },
      { sampling: { ...job.sampling, temperature: 0.2 } },
      { prompt: (await answered('What is a CDN?')).prompt },
    ];
    for (const other of others) {
      const margins = await engine.score({ ...job, ...other }, never);
      assert.ok(margins.filter((margin) => margin > 1).length >= 3, margins.join());
    }
  });

  it('tells an end that came too early, and tokens after the end', async () => {
    const job = await answered('What is DMARC?');
    assert.ok(job.hasEnd);
    const early = await engine.score({ ...job, answer: job.answer.slice(0, 5) }, never);
    assert.ok((early.at(-1) as number) > 1, early.join());
    const late = await engine.score({ ...job, answer: [...job.answer, 300, 301] }, never);
    assert.ok((late.at(-3) as number) > 1, late.join());
    const withEnd = await engine.score({ ...job, answer: [...job.answer, END_OF_TURN], hasEnd: false }, never);
    assert.equal(withEnd.at(-1), MOST_MARGIN_NATS);
    assert.deepEqual(
      await engine.score({ ...job, answer: [] }, never),
      await engine.score({ ...job, answer: [] }, never),
    );
  });

  it('is the most from where the grammar is broken on', async () => {
    const job = await answered('Count.', { grammar: 'root ::= "{" [0-9] [0-9] [0-9] "}"', sampling: WARM });
    const at = job.answer.length - 2;
    const margins = await engine.score({ ...job, answer: job.answer.with(at, 300) }, never);
    assert.ok(worst(margins.slice(0, at)) <= ROUNDING_NATS);
    assert.deepEqual(margins.slice(at), [MOST_MARGIN_NATS, MOST_MARGIN_NATS, MOST_MARGIN_NATS]);
  });

  it('leaves what others have read where it was', async () => {
    const [first, second] = [await answered('What is DMARC?'), await answered('What does SPF do?')];
    const cached = async ({ prompt }: ScoreJob) => {
      const job: Job = { prompt, given: [], replay: 'exact', maxTokens: 1, sampling: GREEDY };
      for await (const event of engine.generate(job, never)) if (event.kind === 'begin') return event.cachedTokens;
      return 0;
    };
    for (let i = 0; i < 5; i += 1) await engine.score({ ...first, prompt: [300 + i, ...first.prompt] }, never);
    assert.equal(await cached(second), second.prompt.length - 1, 'the one used last is still there');
  });

  it('is bounded by the context, and ends for whoever leaves', async () => {
    const job = await answered('What is DMARC?');
    const long = { ...job, answer: Array.from({ length: 260 }, () => 300) };
    await assert.rejects(engine.score(long, never), { code: 'job-too-long' });
    await assert.rejects(engine.score({ ...job, prompt: [] }, never), { code: 'prompt-empty' });
    await assert.rejects(engine.score({ ...job, grammar: 'root ::= nothing' }, never), { code: 'grammar-unusable' });
    const leaving = new AbortController();
    const scores = Array.from({ length: 6 }, () => assert.rejects(engine.score(job, leaving.signal), /gone/));
    leaving.abort(new Error('gone'));
    await Promise.all(scores);
    assert.ok(worst(await engine.score(job, never)) <= ROUNDING_NATS, 'slots are free again');
  });
});
