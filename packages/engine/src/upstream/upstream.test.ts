// Against scripted servers on loopback: answers, and the queue for them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf, freePort } from '../../../../tests/support/index.ts';
import { begin, COMPLETE_HELLO, events, HELLO, MODEL, refuses, says, streams } from '../test/scripted.ts';
import { asking, chat, failedAs, reading, textOf, useUpstream } from '../test/upstream-harness.ts';
import { EventReader, type StreamEvent } from './response.ts';

describe('an answer of an upstream', () => {
  const world = useUpstream();
  it('comes as deltas, with its usage', async () => {
    world.server.script(streams(HELLO));
    const { usage, signal } = asking();
    assert.deepEqual(await chat(await world.open(), { usage, signal }), casesOf('engine', 'answer in deltas'));
    assert.deepEqual(usage, { promptTokens: 7, completionTokens: 2, cachedTokens: 3 });
  });

  it('is emitted before it is complete; where it breaks off, it is an error and is not requested again', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    world.server.script(async (response) => {
      begin(response).write(events(says('first')));
      await isRead;
      response.destroy();
    });
    const kinds: string[] = [];
    const all = async () => {
      for await (const { kind } of reading(await world.open())) {
        kinds.push(kind);
        if (kind === 'text') read();
      }
    };
    await assert.rejects(all, failedAs('upstream-failed', /closed the connection/));
    assert.deepEqual([kinds, world.server.asked.length], [['begin', 'text'], 1]);
  });

  it('that is not a stream, or has too large an event, is an error', async () => {
    world.server.script(refuses(200, { choices: [] }, { 'content-type': 'application/json' }));
    await assert.rejects(chat(await world.open()), failedAs('upstream-failed', /answered with application\/json/));
    world.server.script(streams(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`));
    await assert.rejects(chat(await world.open()), failedAs('upstream-failed', /more than 2097152 characters/));
  });
});

describe('an answer that is not sent before it is complete', () => {
  const world = useUpstream();
  const complete = (body: object) => refuses(200, body, { 'content-type': 'application/json' });
  const asked = () => world.server.asked.map(({ body }) => body.stream);

  it('is not asked for as a stream, except of a server that is not known to be quick', async () => {
    const { message, ...choice } = COMPLETE_HELLO.choices[0] as (typeof COMPLETE_HELLO.choices)[number];
    const calls = [
      { id: 'a', function: { name: 'f', arguments: '{}' } },
      { id: 'b', function: { name: 'g' } },
    ];
    const thinking = { ...message, reasoning_content: 'so', content: null, tool_calls: calls };
    const calling = complete({ choices: [{ ...choice, message: thinking }] });
    const errors = [complete({ error: { message: 'no' } }), refuses(200, 'x', { 'content-type': 'text/html' })];
    world.server.script(streams(HELLO), complete(COMPLETE_HELLO), calling, streams(HELLO), ...errors, streams(HELLO));
    const upstream = await world.open({ retries: 0 });
    const ask = async () => {
      const { usage, signal } = asking();
      return { deltas: await chat(upstream, { usage, signal, isGathered: true }), usage };
    };
    const used = { promptTokens: 7, completionTokens: 2, cachedTokens: 3 };
    assert.deepEqual((await ask()).usage, used);
    const [begins, ends] = [{ kind: 'begin' }, { kind: 'end', reason: 'stop' }];
    assert.deepEqual(await ask(), { deltas: [begins, { kind: 'text', text: 'Hello' }, ends], usage: used });
    const called = await ask();
    const kinds = called.deltas.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['begin', 'reasoning', 'call', 'arguments', 'call', 'end']);
    assert.equal(called.usage.completionTokens, 1, 'an estimate, without usage');
    assert.equal(textOf((await ask()).deltas), 'Hello');
    await assert.rejects(ask());
    await assert.rejects(ask(), failedAs('upstream-failed', /answered with text\/html instead of JSON/));
    await chat(upstream);
    assert.deepEqual(asked(), [true, false, false, false, false, false, true]);
  });

  it('is asked for as a stream after the time in which it should be there, and so are the next ones', async () => {
    world.server.script(streams(HELLO), () => {}, streams(HELLO));
    const upstream = await world.open({ retries: 0, firstTokenMs: 1_000 });
    for (let i = 0; i < 3; i += 1) assert.equal(textOf(await chat(upstream, { isGathered: true })), 'Hello');
    assert.deepEqual(asked(), [true, false, true, true]);
    await world.server.asked[1]?.closed;
  });
});

describe('an upstream', () => {
  const world = useUpstream();
  it('runs as many requests at a time as it has slots', async () => {
    let [inside, max] = [0, 0];
    world.server.script(async (response) => {
      inside += 1;
      max = Math.max(max, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      begin(response).end(HELLO);
    });
    const upstream = await world.open({ slots: 3 });
    await Promise.all(Array.from({ length: 20 }, (_, seed) => chat(upstream, { seed })));
    assert.equal(max, 3);
  });

  it('runs them in their order, on the same connection', async () => {
    world.server.script(streams(HELLO));
    const upstream = await world.open({ slots: 1 });
    const before = world.server.connections();
    const seeds = Array.from({ length: 10 }, (_, seed) => seed);
    await Promise.all(seeds.map((seed) => chat(upstream, { seed })));
    const order = world.server.asked.map(({ body }) => body.seed);
    assert.deepEqual(order, seeds);
    assert.ok(world.server.connections() - before <= 1, `${world.server.connections() - before} connections`);
  });

  it('frees a slot after every kind of end', async () => {
    const upstream = await world.open({ slots: 1, retries: 0 });
    world.server.script(refuses(500), streams(events(says('x'))), streams('data: no\n\n'), streams(HELLO));
    for (let i = 0; i < 3; i += 1) await assert.rejects(chat(upstream));
    for await (const each of reading(upstream)) if (each.kind === 'begin') break;
    assert.equal(textOf(await chat(upstream)), 'Hello');
  });

  it('ends everything when it is closed', async () => {
    world.server.script((response) => void begin(response).write(events(says('half'))));
    const upstream = await world.open({ slots: 1 });
    const { promise: hasText, resolve } = Promise.withResolvers<void>();
    const running = Array.fromAsync(reading(upstream), ({ kind }) => void (kind === 'text' && resolve()));
    const waiting = chat(upstream);
    await hasText;
    const closed = failedAs('upstream-failed', /was closed/);
    const ended = [assert.rejects(running, failedAs('upstream-failed')), assert.rejects(waiting, closed)];
    await upstream[Symbol.asyncDispose]();
    await Promise.all(ended);
    await assert.rejects(chat(upstream), closed);
    assert.equal(world.server.asked.length, 1);
  });

  const models = (model: object) => ({ object: 'list', data: [{ id: 'other' }, { id: MODEL, ...model }] });
  const llama = models({ owned_by: 'llamacpp', meta: { n_ctx_train: 8_192 } });
  const props = { default_generation_settings: { n_ctx: 1_024 }, build_info: 'b7000-abc' };
  const vllm = models({ owned_by: 'vllm', max_model_len: 4_096 });
  const ollama = models({ owned_by: 'library' });
  for (const [pages, kind, engine, contextLength] of [
    [{ '/v1/models': llama, '/props': props }, 'llama.cpp', 'llama.cpp b7000-abc', 1_024],
    [{ '/v1/models': llama }, 'llama.cpp', 'llama.cpp', 8_192],
    [{ '/v1/models': vllm, '/version': { version: '0.12.0' } }, 'vllm', 'vllm 0.12.0', 4_096],
    [{ '/v1/models': ollama, '/api/version': { version: '0.13.1' } }, 'ollama', 'ollama 0.13.1', undefined],
    [{ '/v1/models': models({ owned_by: 'someone' }) }, 'other', 'other', undefined],
  ] as const)
    it(`describes ${engine} and its context`, async () => {
      Object.assign(world.server.pages, pages);
      const { info } = await world.open();
      const { origin } = new URL(world.server.base);
      const expected = { kind, engine, contextLength, slots: 4, name: MODEL, origin };
      assert.deepEqual({ ...info, ...expected }, info);
      assert.equal((await world.open({ contextLength: 512 })).info.contextLength, 512);
    });

  it('is refused where the model is missing, with a list of what there is', async () => {
    const refusal = failedAs('model-unusable', /has no model 'absent': it has 'm'$/);
    await assert.rejects(world.open({ model: 'absent' }), refusal);
    world.server.pages['/v1/models'] = { data: [] };
    await assert.rejects(world.open(), failedAs('model-unusable', /it has none/));
    world.server.pages['/v1/models'] = { data: Array.from({ length: 25 }, (_, at) => ({ id: `m${at}` })) };
    await assert.rejects(world.open(), failedAs('model-unusable', /'m19' and 5 more$/));
  });

  it('finds a model by the names that servers give it', async () => {
    const data = [{ id: 'llama3:latest' }, { id: '/models/tiny.gguf', aliases: ['small'] }];
    world.server.pages['/v1/models'] = { data };
    for (const model of ['llama3', 'llama3:latest', 'tiny.gguf', 'small', '/models/tiny.gguf'])
      assert.equal((await world.open({ model })).info.name, model);
    await assert.rejects(world.open({ model: 'tiny' }), failedAs('model-unusable'));
  });

  it('is refused where there is no such server', async () => {
    world.server.pages['/v1/models'] = { hello: 'world' };
    await assert.rejects(world.open(), failedAs('upstream-failed', /not a list of models/));
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
    const retries: unknown[] = [];
    const opening = world.open({ baseUrl, retries: 1 }, { onRetry: (event) => retries.push(event) });
    await assert.rejects(opening, failedAs('upstream-failed', /is unreachable \(ECONNREFUSED\)/));
    assert.deepEqual(retries, [{ detail: 'the upstream is unreachable (ECONNREFUSED)', waitMs: 125 }]);
  });

  it('needs a valid address and key', async () => {
    for (const baseUrl of ['localhost:8080', 'ftp://a/v1', 'http://me:word@a/v1', 'http://a/v1?key=1', ''])
      await assert.rejects(world.open({ baseUrl }), failedAs('upstream-refused', /the address of an upstream/));
    // Without the key itself.
    await assert.rejects(world.open({ apiKey: 'a\r\nb' }), { message: /^(?!.*a\r)the key of an upstream/s });
    assert.equal((await world.open({ baseUrl: `${world.server.base}/` })).info.name, MODEL);
  });
});

describe('vectors of an upstream', () => {
  const world = useUpstream();
  const { signal } = new AbortController();
  const vector = (index: number, ...embedding: unknown[]) => ({ index, embedding });
  const gives = (data: unknown) =>
    refuses(200, { object: 'list', data, usage: { prompt_tokens: 5 } }, { 'content-type': 'application/json' });

  it('are in the order of their inputs, and of length 1', async () => {
    world.server.script(gives([vector(1, 0, 2), vector(0, 3, 4)]));
    const { vectors, promptTokens } = await (await world.open()).embed(['a', 'b'], signal);
    assert.deepEqual([vectors, promptTokens], [[Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)], 5]);
    assert.deepEqual(world.server.asked[0]?.body, { model: MODEL, input: ['a', 'b'], encoding_format: 'float' });
  });

  it('are requested in batches', async () => {
    world.server.script((response, { body }) => {
      const data = (body.input as number[][]).map(([token = 0], index) => vector(index, 1, token));
      response.end(JSON.stringify({ data, usage: { prompt_tokens: data.length } }));
    });
    const inputs = Array.from({ length: 130 }, (_, at) => [at]);
    const { vectors, promptTokens } = await (await world.open()).embed(inputs, signal);
    assert.deepEqual([vectors.length, promptTokens], [130, 130]);
    for (const [at, [x = 0, y = 0] = []] of vectors.entries()) assert.ok(Math.abs(y / x - at) < 0.01, `${at}`);
    const sizes = world.server.asked.map(({ body }) => body.input.length);
    assert.deepEqual(sizes, [64, 64, 2]);
  });

  it('that are missing or invalid are an error', async () => {
    const upstream = await world.open();
    const valid = vector(1, 1);
    for (const data of [[], [valid], [vector(0), valid], [vector(0, '1'), valid], [vector(0, 1, 2), valid]]) {
      world.server.script(gives(data));
      await assert.rejects(upstream.embed(['a', 'b'], signal), failedAs('upstream-failed', /embeddings/));
    }
    world.server.script(refuses(200, 'nonsense'));
    await assert.rejects(upstream.embed(['a'], signal), failedAs('upstream-failed', /not JSON/));
  });
});

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(...parts: readonly Uint8Array[]): StreamEvent[] {
  const reader = new EventReader();
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
}

const dataOf = (text: string) => read(bytesOf(text)).map(({ data }) => data);

it('events are the same wherever their bytes are cut, lines end in any of three ways, and errors come in a field too', () => {
  const text =
    'data: {"a":"é€😀"}\r\n\r\n: ping\n\ndata:zwei\rdata: drei\r\revent: error\ndata: vier\n\ndata: 5\r\ndata: 6\r\n\r\nerror: 7\n\ndata: [DONE]\n\n';
  const bytes = bytesOf(text);
  const all = read(bytes);
  assert.deepEqual(all, casesOf<object[]>('engine', 'events'));
  for (let at = 0; at <= bytes.length; at += 1)
    assert.deepEqual(read(bytes.subarray(0, at), bytes.subarray(at)), all, `cut at ${at}`);
  assert.deepEqual(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), all);
});

it('events are distinguished from comments, empty events and unknown fields', () => {
  const text = ': a\n\nid: 4\nretry: 1\n\nevent: x\n\ndata\n\ndata:\n\ndata:  two\n\nnothing\n\n';
  assert.deepEqual(dataOf(text), ['', '', ' two']);
});

it('events may begin with a mark of byte order, and end without an empty line', () =>
  assert.deepEqual(dataOf('\ufeffdata: 1\n\ndata: [DONE]'), ['1', '[DONE]']));

it('events are refused above any of their limits', () => {
  const limits = { eventChars: 100, bytes: 1_000, events: 10 };
  for (const [part, message] of casesOf<[string, string][]>('engine', 'limits of events')) {
    const reader = new EventReader(limits);
    const pushAll = () => Array.from({ length: 1_000 }, () => reader.push(bytesOf(part)));
    assert.throws(pushAll, failedAs('upstream-failed', new RegExp(message)));
  }
});
