import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { begin, events, HELLO, type Script, says, streams } from './test/scripted-upstream.ts';
import { chat, endOf, failedAs, reading, textOf, useUpstream } from './test/upstream-harness.ts';

/** Sends a text again and again, until the connection is closed. */
const repeats =
  (text: string, everyMs: number): Script =>
  (response) => {
    begin(response).write(events(says('x')));
    const timer = setInterval(() => response.write(text), everyMs);
    response.once('close', () => clearInterval(timer));
  };

describe('a server that sends nothing', () => {
  const world = useUpstream();
  const waits = { firstTokenMs: 60, idleMs: 60, retries: 0 };

  for (const [name, script] of [
    ['before its headers', () => {}],
    ['before the first event', (response) => void begin(response).flushHeaders()],
  ] as [string, Script][])
    it(`is given up ${name}`, async () => {
      world.server.script(script);
      await assert.rejects(chat(await world.open(waits)), failedAs('upstream-failed', /said nothing for/));
    });

  it('is given up in the middle, and the connection is closed', async () => {
    world.server.script((response) => void begin(response).write(events(says('half'))));
    const upstream = await world.open({ ...waits, firstTokenMs: 60_000 });
    await assert.rejects(chat(upstream), failedAs('upstream-failed', /said nothing for 60 ms/));
    await world.server.asked[0]?.closed;
  });

  it('is waited for while it sends comments, as long as for a first token', async () => {
    world.server.script(repeats(': ping\n\n', 15));
    const from = performance.now();
    await assert.rejects(chat(await world.open({ ...waits, firstTokenMs: 200 })), failedAs('upstream-failed'));
    assert.ok(performance.now() - from > 190, 'longer than the silence that is allowed');
  });

  it('is given up where it does not even connect', async () => {
    const sockets = new Set<net.Socket>();
    const silent = net.createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    world.stack.defer(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    // Its TLS handshake never ends.
    const opening = world.open({ baseUrl: `https://127.0.0.1:${port}/v1`, connectMs: 50, retries: 0 });
    await assert.rejects(opening, failedAs('upstream-failed', /no connection within 50 ms/));
    for (const socket of sockets) socket.destroy();
  });

  it('is not one whose reader is slow', async () => {
    world.server.script(streams(HELLO));
    const texts: string[] = [];
    for await (const each of reading(await world.open({ firstTokenMs: 10_000, idleMs: 500 }))) {
      if (each.kind === 'text') texts.push(each.text);
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    assert.deepEqual(texts, ['Hel', 'lo']);
  });
});

describe('a caller that leaves', () => {
  const world = useUpstream();
  const endless = repeats(events(says('x'), says('x')), 5);
  /** Well before the second that an answer which is complete gets to close its connection. */
  const closedSoon = async (leftAt: number) => {
    const closedAt = await world.server.asked.at(-1)?.closed;
    assert.ok(closedAt !== undefined && closedAt - leftAt < 900, `${closedAt} after ${leftAt}`);
  };
  const gone = new Error('gone');

  it('closes the connection at once, and receives its own reason and nothing more', async () => {
    world.server.script(endless);
    const leaving = new AbortController();
    let leftAt = 0;
    let after = 0;
    await assert.rejects(async () => {
      for await (const each of reading(await world.open(), { signal: leaving.signal })) {
        if (leftAt > 0) after += 1;
        if (each.kind !== 'text' || leftAt > 0) continue;
        leftAt = performance.now();
        leaving.abort(gone);
      }
    }, gone);
    assert.equal(after, 0);
    await closedSoon(leftAt);
  });

  it('closes it before anything was answered too', async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    world.server.script(() => resolve());
    const leaving = new AbortController();
    const asked = chat(await world.open(), { signal: leaving.signal });
    await isAsked;
    const leftAt = performance.now();
    leaving.abort(gone);
    await assert.rejects(asked, gone);
    await closedSoon(leftAt);
  });

  it('closes it by reading no more', async () => {
    world.server.script(endless);
    for await (const each of reading(await world.open())) if (each.kind === 'text') break;
    await closedSoon(performance.now());
  });

  it('closes it where a stop string was found that the server ignores', async () => {
    world.server.script(endless);
    const deltas = await chat(await world.open(), {}, { stop: 'xxx' });
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['', 'stop']);
    await closedSoon(performance.now());
  });

  it('sends no request when it left before', async () => {
    await assert.rejects(chat(await world.open(), { signal: AbortSignal.abort(gone) }), gone);
    assert.equal(world.server.asked.length, 0);
  });

  it('leaves the queue, and no other caller does', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    world.server.script((response) => go.then(() => void begin(response).end(HELLO)));
    const upstream = await world.open({ places: 1 });
    const leaving = new AbortController();
    const [first, second, third] = [{}, { signal: leaving.signal }, {}].map((parts) => chat(upstream, parts));
    leaving.abort(gone);
    await assert.rejects(second ?? assert.fail(), gone);
    resolve();
    assert.deepEqual([textOf((await first) ?? []), textOf((await third) ?? [])], ['Hello', 'Hello']);
    assert.equal(world.server.asked.length, 2);
  });
});
