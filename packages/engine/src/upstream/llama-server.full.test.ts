// Against a real llama-server: STRATA_TEST_LLAMA_SERVER is the path of one, without which this is skipped.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { readCompletionRequest } from '@strata/inference';
import { tinyChatModel } from '@strata/testnet';
import { freePort } from '../../../../tests/support/free-port.ts';
import { asking, chat, endOf, failedAs, refusedAs, textOf } from '../test/upstream-harness.ts';
import { openUpstream, type Upstream } from './upstream.ts';

const program = process.env.STRATA_TEST_LLAMA_SERVER;
const KEY = 'sk-for-this-test';

describe('a real llama-server', { skip: program ? false : 'STRATA_TEST_LLAMA_SERVER is not set' }, () => {
  let child: ChildProcess;
  let baseUrl: string;
  let upstream: Upstream;
  before(async () => {
    const port = await freePort();
    const model = `-m ${tinyChatModel} -a tiny -c 512 -np 2 -t 1 --jinja --embeddings --pooling mean`;
    const args = `${model} --host 127.0.0.1 --port ${port} --api-key ${KEY}`.split(' ');
    child = spawn(program ?? '', args, { stdio: 'ignore' });
    baseUrl = `http://127.0.0.1:${port}/v1`;
    // It takes its time to listen, then answers 503 until its model is loaded.
    upstream = await openUpstream({ baseUrl, apiKey: KEY, model: 'tiny', slots: 2, retries: 8 });
  });
  after(async () => {
    await upstream?.[Symbol.asyncDispose]();
    if (child?.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });

  const question = { messages: [{ role: 'user', content: 'What is DMARC?' }], temperature: 0 };
  /** Never ends by itself: the model's last token is forbidden. */
  const endless = { ...question, logit_bias: { 1023: -100 } };

  it('reports what it is', async () => {
    const { kind, engine, contextLength } = upstream.info;
    assert.deepEqual([kind, contextLength], ['llama.cpp', 256]);
    assert.match(engine, /^llama\.cpp b\d+/);
    const other = openUpstream({ baseUrl, apiKey: KEY, model: 'other', slots: 1 });
    await assert.rejects(other, failedAs('model-unusable', /it has 'tiny'/));
    await assert.rejects(openUpstream({ baseUrl, model: 'tiny', slots: 1 }), failedAs('upstream-refused', /key/));
  });

  it('answers with text and usage, and has read the beginning the next time', async () => {
    const [first, second] = [asking(), asking()];
    assert.match(textOf(await chat(upstream, first, question)), /^DMARC tells receivers/);
    assert.ok(first.usage.promptTokens > 8 && first.usage.completionTokens > 20);
    await chat(upstream, second, question);
    assert.ok(second.usage.cachedTokens > 8);
  });

  it('ends by itself, at stop strings and at lengths', async () => {
    const ended = async (more: object) => chat(upstream, {}, { ...question, ...more });
    assert.equal(endOf(await ended({})), 'stop');
    const stopped = await ended({ stop: ['receivers'] });
    assert.deepEqual([textOf(stopped), endOf(stopped)], ['DMARC tells ', 'stop']);
    for (const more of [{ max_tokens: 3 }, endless]) assert.equal(endOf(await ended(more)), 'length');
  });

  it('gives log-probabilities, with as many alternatives as were asked for', async () => {
    for (const top_logprobs of [0, 2]) {
      const [, text] = await chat(upstream, {}, { ...question, max_tokens: 2, logprobs: true, top_logprobs });
      const [chosen] = (text?.kind === 'text' && text.logprobs) || [];
      assert.ok(chosen && chosen.logprob <= 0 && chosen.logprob > -0.1);
      assert.deepEqual([chosen.token, chosen.bytes, chosen.top_logprobs.length], ['D', [68], top_logprobs]);
    }
  });

  it('holds to a schema', async () => {
    const schema = { type: 'object', properties: { policy: { enum: ['none', 'reject'] } }, required: ['policy'] };
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    const { policy } = JSON.parse(textOf(await chat(upstream, {}, { ...question, response_format })));
    assert.ok(['none', 'reject'].includes(policy));
  });

  it('refuses a prompt that is too long, in its own text', async () => {
    const messages = [{ role: 'user', content: 'What is DMARC? '.repeat(500) }];
    await assert.rejects(chat(upstream, {}, { messages }), refusedAs('context_length', /context size \(256 tokens\)/));
  });

  it('completes plain text', async () => {
    const prompt = 'DMARC is';
    const request = readCompletionRequest({ model: 'x', prompt, max_tokens: 2, temperature: 0, logprobs: 1 });
    const deltas = (await Array.fromAsync(upstream.complete(request, { ...asking(), prompt }))).flat();
    assert.equal(endOf(deltas), 'length');
    const chosen = deltas.flatMap((each) => (each.kind === 'text' ? (each.logprobs ?? []) : []));
    assert.equal(chosen.map(({ token }) => token).join(''), textOf(deltas));
  });

  it('gives vectors', async () => {
    const { signal } = asking();
    const { vectors, promptTokens } = await upstream.embed(['What is SPF?', 'What is DMARC?'], signal);
    for (const vector of vectors) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
    assert.ok(promptTokens > 4);
    assert.equal((await upstream.embed([[1, 2, 3]], signal)).promptTokens, 3);
  });

  it('stops when the caller leaves, and serves more callers than it has slots', async () => {
    for (let i = 0; i < 4; i += 1) {
      const leaving = new AbortController();
      const asked = chat(upstream, { signal: leaving.signal }, endless);
      setTimeout(() => leaving.abort(new Error('the caller left')), 20);
      await assert.rejects(asked, /^Error: the caller left$/);
    }
    const all = await Promise.all(Array.from({ length: 12 }, (_, seed) => chat(upstream, { seed }, question)));
    for (const deltas of all) assert.match(textOf(deltas), /^DMARC tells receivers/);
  });
});
