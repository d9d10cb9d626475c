// Answers of real llama.cpp, cut at every token and continued: exactly, or at least as a valid answer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GREEDY, type Sampling } from '@strata/inference';
import { tinyChatModel as file } from '@strata/testnet';
import { type Engine, type Job, type JobEvent, startLlamaEngine } from './index.ts';
import { MOST_AHEAD_TOKENS } from './reader-room.ts';

const never = new AbortController().signal;
const WARM: Sampling = { ...GREEDY, temperature: 1.3, seed: 77 };
const END_OF_TURN = 1_023;
const grammar = 'root ::= "{\\"a\\": " string ", \\"b\\": [" string "]}"\nstring ::= "\\"" [a-z }\\]]* "\\""';
const text = /^\{"a": "[a-z }\]]*", "b": \["[a-z }\]]*"\]\}$/;

let engine: Engine;
before(async () => {
  engine = await startLlamaEngine({ file, slots: 2, threads: 1, gpu: false });
});
after(() => engine?.[Symbol.asyncDispose]());

async function job(more: Partial<Job> = {}): Promise<Job> {
  const prompt = await engine.render({ messages: [{ role: 'user', content: 'What does SPF do?' }], tools: [] });
  return { prompt, given: [], replay: 'exact', maxTokens: 60, sampling: GREEDY, ...more };
}

async function run(asked: Job): Promise<{ tokens: number[]; text: string; end: JobEvent | undefined }> {
  const events: JobEvent[] = [];
  for await (const event of engine.generate(asked, never)) events.push(event);
  const chosen = events.filter((event) => event.kind === 'token');
  assert.equal(events[0]?.kind, 'begin');
  return {
    tokens: chosen.map(({ token }) => token),
    text: Buffer.concat(chosen.map(({ bytes }) => bytes)).toString(),
    end: events.at(-1),
  };
}

const asked: Record<string, Partial<Job>> = {
  'the likeliest': {},
  'what a seed drew': { sampling: WARM, maxTokens: 20 },
  'with penalties': { sampling: { ...WARM, presencePenalty: 0.6, frequencyPenalty: 0.5 }, maxTokens: 20 },
  'with a bias and a cut': {
    sampling: { ...WARM, topP: 0.9, topK: 30, logitBias: new Map([[END_OF_TURN, -4]]) },
    maxTokens: 20,
  },
  'with a grammar': { grammar, sampling: WARM, maxTokens: 30 },
  'with a grammar, penalties and a bias': {
    grammar,
    sampling: { ...WARM, frequencyPenalty: 0.4, logitBias: new Map([[300, 2]]) },
    maxTokens: 30,
  },
};

describe('an answer that goes on elsewhere', () => {
  for (const [name, more] of Object.entries(asked)) {
    it(`exactly, is the answer that would have been, cut at any token: ${name}`, async () => {
      const whole = await run(await job(more));
      assert.ok(whole.tokens.length > 10);
      for (let cut = 0; cut <= whole.tokens.length; cut += 1) {
        const rest = await run(await job({ ...more, given: whole.tokens.slice(0, cut) }));
        assert.deepEqual(rest.tokens, whole.tokens.slice(cut), `after ${cut} tokens`);
        assert.deepEqual(rest.end, whole.end, `after ${cut} tokens`);
      }
    });

    it(`fast, is an answer still, cut at any token: ${name}`, async () => {
      const whole = await run(await job(more));
      for (let cut = 0; cut <= whole.tokens.length; cut += 5) {
        const given = whole.tokens.slice(0, cut);
        const rest = await run(await job({ ...more, given, replay: 'fast' }));
        const all = (await engine.detokenize(given)) + rest.text;
        if (more.grammar) assert.match(all, text);
        assert.ok(cut + rest.tokens.length <= 60);
        // Whatever was drawn next was drawn with what was given before it: its margins are those of rounding.
        const { prompt, sampling, maxTokens } = await job(more);
        const answer = [...given, ...rest.tokens];
        const margins = await engine.score(
          { prompt, answer, hasEnd: false, sampling, maxTokens, ...(more.grammar ? { grammar } : {}) },
          never,
        );
        assert.ok(
          margins.every((margin) => margin < 0.1),
          margins.join(),
        );
      }
    });
  }
});

describe('an answer that was given whole already', () => {
  for (const replay of ['exact', 'fast'] as const) {
    it(`ends at once, with no token more: ${replay}`, async () => {
      const endOf = async (more: Partial<Job>) => {
        const { tokens, end } = await run(await job({ ...more, replay }));
        assert.deepEqual(tokens, []);
        return end;
      };
      const natural = await run(await job());
      assert.deepEqual(await endOf({ given: natural.tokens }), { kind: 'end', reason: 'stop' });
      assert.deepEqual(await endOf({ given: natural.tokens.slice(0, 9), maxTokens: 9 }), {
        kind: 'end',
        reason: 'length',
      });
      assert.deepEqual(await endOf({ given: natural.tokens.slice(0, 9), maxTokens: 5 }), {
        kind: 'end',
        reason: 'length',
      });
      const strict = { grammar: 'root ::= "{" [0-9] [0-9] "}"', sampling: WARM };
      const complete = await run(await job(strict));
      assert.deepEqual(await endOf({ ...strict, given: complete.tokens }), complete.end);
      await assert.rejects(run(await job({ ...strict, replay, given: [...complete.tokens, 300] })), {
        code: 'grammar-unusable',
      });
    });
  }

  it('is refused where it does not fit, and ends at the context where it just does', async () => {
    const { prompt } = await job();
    const given = Array.from({ length: engine.info.contextLength - prompt.length }, () => 300);
    const { tokens, end } = await run(await job({ given, maxTokens: 1_000, replay: 'fast' }));
    assert.deepEqual([tokens, end], [[], { kind: 'end', reason: 'length' }]);
    const almost = await run(await job({ given: given.slice(1), maxTokens: 1_000, replay: 'fast' }));
    assert.deepEqual([almost.tokens.length, almost.end], [1, { kind: 'end', reason: 'length' }]);
    await assert.rejects(run(await job({ given: [...given, 300], maxTokens: 1_000 })), { code: 'job-too-long' });
  });
});

describe('a reader who does not read', () => {
  it('makes bounded work, holds up nobody beside him, and gets the same answer', async () => {
    const sampling = { ...WARM, logitBias: new Map([[END_OF_TURN, -100]]) };
    await using large = await startLlamaEngine({ file, slots: 2, threads: 1, gpu: false, contextLength: 640 });
    const slow: Job = { ...(await job({ sampling })), maxTokens: 500 };
    const read = async (asking: Job) => {
      const tokens: number[] = [];
      for await (const event of large.generate(asking, never)) if (event.kind === 'token') tokens.push(event.token);
      return tokens;
    };
    const whole = await read(slow);
    assert.equal(whole.length, 500);
    const reader = large.generate(slow, never)[Symbol.asyncIterator]();
    const tokens: number[] = [];
    while (tokens.length < 10) {
      const { value } = await reader.next();
      if (value?.kind === 'token') tokens.push(value.token);
    }
    // As long as the whole answer takes; and whoever is beside him is answered.
    assert.deepEqual(await read(slow), whole);
    // What is here already comes without a turn of the event loop; the rest must be made first.
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    let buffered = 0;
    for (;;) {
      const { value, done } = await reader.next();
      if (done) break;
      if (value.kind !== 'token') continue;
      tokens.push(value.token);
      if (!hasTurned) buffered += 1;
    }
    assert.ok(buffered >= 100 && buffered <= MOST_AHEAD_TOKENS, `${buffered} tokens were made ahead`);
    assert.deepEqual(tokens, whole);
  });
});
