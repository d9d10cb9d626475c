// Against scripted servers on loopback: answers, and the queue for them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatDelta } from '@strata/inference';
import { begin, ends, events, HELLO, refuses, says, streams } from './test/scripted-upstream.ts';
import { asking, chat, failedAs, reading, textOf, useUpstream } from './test/upstream-harness.ts';

describe('an answer of an upstream', () => {
  const world = useUpstream();
  it('comes as deltas, with its usage', async () => {
    world.server.script(streams(HELLO));
    const { usage, signal } = asking();
    assert.deepEqual(await chat(await world.open(), { usage, signal }), [
      { kind: 'begin' },
      { kind: 'text', text: 'Hel' },
      { kind: 'text', text: 'lo' },
      { kind: 'end', reason: 'stop' },
    ]);
    assert.deepEqual(usage, { promptTokens: 7, completionTokens: 2, cachedTokens: 3 });
  });

  it('is the same wherever its bytes are cut', async () => {
    const bytes = Buffer.from(events(says('é😀'), ends('stop'), '[DONE]').replaceAll('\n', '\r\n'));
    world.server.script(async (response) => {
      begin(response).write(': a comment\n\n');
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    assert.equal(textOf(await chat(await world.open())), 'é😀');
  });

  /** Sends a text, and ends as given once the caller has read it. */
  function half(end: Parameters<typeof world.server.script>[0]) {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    world.server.script(async (response, asked) => {
      begin(response).write(events(says('first')));
      await isRead;
      await end(response, asked);
    });
    const deltas: ChatDelta[] = [];
    const all = async () => {
      for await (const each of reading(await world.open())) {
        deltas.push(each);
        if (each.kind === 'text') read();
      }
    };
    return { deltas, all };
  }

  it('is emitted before it is complete', async () => {
    const { deltas, all } = half((response) => void response.end(events(says(' second'), ends('stop'), '[DONE]')));
    await all();
    assert.equal(textOf(deltas), 'first second');
  });

  it('that breaks off is an error, and is not requested again', async () => {
    const { deltas, all } = half((response) => void response.destroy());
    await assert.rejects(all, failedAs('upstream-failed', /broke off/));
    assert.equal(textOf(deltas), 'first');
    assert.equal(world.server.asked.length, 1);
  });

  it('that is not a stream, or has too large an event, is an error', async () => {
    world.server.script(refuses(200, { choices: [] }, { 'content-type': 'application/json' }));
    await assert.rejects(chat(await world.open()), failedAs('upstream-failed', /answered with application\/json/));
    world.server.script(streams(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`));
    await assert.rejects(chat(await world.open()), failedAs('upstream-failed', /an event of more than/));
  });
});

describe('an upstream in use', () => {
  const world = useUpstream();
  it('runs as many requests at a time as it has slots', async () => {
    let inside = 0;
    let max = 0;
    world.server.script(async (response) => {
      inside += 1;
      max = Math.max(max, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      begin(response).end(HELLO);
    });
    const upstream = await world.open({ places: 3 });
    await Promise.all(Array.from({ length: 20 }, (_, seed) => chat(upstream, { seed })));
    assert.equal(max, 3);
  });

  it('runs them in their order, on the same connection', async () => {
    world.server.script(streams(HELLO));
    const upstream = await world.open({ places: 1 });
    const before = world.server.connections();
    const seeds = Array.from({ length: 10 }, (_, seed) => seed);
    await Promise.all(seeds.map((seed) => chat(upstream, { seed })));
    const order = world.server.asked.map(({ body }) => body.seed);
    assert.deepEqual(order, seeds);
    assert.ok(world.server.connections() - before <= 1, `${world.server.connections() - before} connections`);
  });

  it('frees a slot after every kind of end', async () => {
    const upstream = await world.open({ places: 1, retries: 0 });
    world.server.script(refuses(500), streams(events(says('x'))), streams('data: no\n\n'), streams(HELLO));
    for (let i = 0; i < 3; i += 1) await assert.rejects(chat(upstream));
    for await (const each of reading(upstream)) if (each.kind === 'begin') break;
    assert.equal(textOf(await chat(upstream)), 'Hello');
  });

  it('ends everything when it is closed', async () => {
    world.server.script((response) => void begin(response).write(events(says('half'))));
    const upstream = await world.open({ places: 1 });
    const { promise: hasText, resolve } = Promise.withResolvers<void>();
    const running = (async () => {
      for await (const each of reading(upstream)) if (each.kind === 'text') resolve();
    })();
    const waiting = chat(upstream);
    await hasText;
    const closed = failedAs('upstream-failed', /not used any more/);
    const ended = [assert.rejects(running, failedAs('upstream-failed')), assert.rejects(waiting, closed)];
    await upstream[Symbol.asyncDispose]();
    await Promise.all(ended);
    await assert.rejects(chat(upstream), closed);
    assert.equal(world.server.asked.length, 1);
  });
});
