import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { beforeEach, describe, it } from 'node:test';
import { casesOf, stopTime } from '../../../../tests/support/index.ts';
import { begin, events, HELLO, MODEL, refuses, type Script, says, startScripted, streams } from '../test/scripted.ts';
import {
  asking,
  chat,
  endOf,
  failedAs,
  KEY,
  reading,
  refusedAs,
  request,
  textOf,
  useUpstream,
} from '../test/upstream-harness.ts';
import { Connections, UpstreamResponse } from './connections.ts';
import { AnswerEvents } from './response.ts';

const [nothing, head] = [() => {}, { status: 200, headers: new Map() }];
const newResponse = () => new UpstreamResponse(head, { pause: nothing, resume: nothing, destroy: nothing });

describe('a server that sends nothing', () => {
  const world = useUpstream();
  const waits = { firstTokenMs: 60, idleMs: 60, retries: 0 };

  for (const [name, firstTokenMs, message, script] of [
    ['before its headers', 60, /sent nothing for/, () => {}],
    ['before the first event', 60, /sent nothing for/, (response) => void begin(response).flushHeaders()],
    ['in the middle', 60_000, /for 60 ms/, (response) => void begin(response).write(events(says('half')))],
  ] as [string, number, RegExp, Script][])
    it(`is given up ${name}, and the connection is closed`, async (t) => {
      const pass = stopTime(t);
      world.server.script(script);
      const upstream = await world.open({ ...waits, firstTokenMs });
      let isOver = false;
      const failing = assert.rejects(chat(upstream), failedAs('upstream-failed', message)).finally(() => {
        isOver = true;
      });
      for (; !isOver; pass(5)) await new Promise(setImmediate);
      await failing;
      await world.server.asked[0]?.closed;
    });

  it('is waited for while it sends comments, for at most the time of a first token', async (t) => {
    const pass = stopTime(t);
    const response = newResponse();
    const answer = new AnswerEvents({ response, sentAt: 0 }, { firstMs: 200, idleMs: 60, signal: t.signal });
    response.push(Buffer.from(events(says('x'))));
    await answer.next();
    const failing = assert.rejects(answer.next(), failedAs('upstream-failed'));
    let waitedMs = 0;
    for (; !response.end && waitedMs < 1_000; waitedMs += 40) {
      response.push(Buffer.from(': ping\n\n'));
      await new Promise(setImmediate);
      pass(40);
    }
    assert.equal(waitedMs, 200, 'longer than the silence that is allowed');
    await failing;
  });

  it('may end its response after the last event, which is read to its end for the next request', async ({ signal }) => {
    const response = newResponse();
    const answer = new AnswerEvents({ response, sentAt: performance.now() }, { firstMs: 6e4, idleMs: 6e4, signal });
    response.push(Buffer.from(HELLO));
    while (!(await answer.next()).done);
    await answer.return();
    response.push(Buffer.from(': ping\n\n'));
    response.finish(null);
    assert.equal(response.end, null);
  });

  it('is given up where its connection is not established', async () => {
    const silent = net.createServer((socket) => {
      world.stack.defer(() => void socket.on('error', () => {}).destroy());
    });
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    world.stack.defer(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    // Its TLS handshake never ends.
    const opening = world.open({ baseUrl: `https://127.0.0.1:${port}/v1`, connectMs: 50, retries: 0 });
    await assert.rejects(opening, failedAs('upstream-failed', /no connection within 50 ms/));
  });

  it('is not assumed where the reader is slow', async (t) => {
    world.server.script(streams(HELLO));
    const pass = stopTime(t);
    const texts: string[] = [];
    for await (const each of reading(await world.open({ firstTokenMs: 10_000, idleMs: 500 }))) {
      if (each.kind === 'text') texts.push(each.text);
      pass(600);
    }
    assert.deepEqual(texts, ['Hel', 'lo']);
  });
});

describe('a caller that leaves', { timeout: 60_000 }, () => {
  const world = useUpstream();
  /** Sends texts until the connection is closed. */
  const endless: Script = (response) => {
    begin(response).write(events(says('x')));
    const timer = setInterval(() => response.write(events(says('x'), says('x'))), 5);
    response.once('close', () => clearInterval(timer));
  };
  /** The clock is stopped: the second that a complete answer has to close its connection never ends. */
  const closedAtOnce = () => world.server.asked.at(-1)?.closed ?? assert.fail('nothing was asked');
  const reason = new Error('the caller left');

  it('closes the connection at once, and receives its own reason and nothing more', async (t) => {
    stopTime(t);
    world.server.script(endless);
    const leaving = new AbortController();
    await assert.rejects(async () => {
      const upstream = await world.open();
      for await (const deltas of upstream.chat(request(), asking({ signal: leaving.signal }))) {
        assert.equal(leaving.signal.aborted, false, 'nothing more arrives');
        if (deltas.some(({ kind }) => kind === 'text')) leaving.abort(reason);
      }
    }, reason);
    await closedAtOnce();
  });

  it('closes it also before the first event', async (t) => {
    stopTime(t);
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    world.server.script(() => resolve());
    const leaving = new AbortController();
    const asked = chat(await world.open(), { signal: leaving.signal });
    await isAsked;
    leaving.abort(reason);
    await assert.rejects(asked, reason);
    await closedAtOnce();
  });

  it('closes it also by ending the iteration, and when a stop string is found that the server ignores', async (t) => {
    stopTime(t);
    world.server.script(endless);
    for await (const each of reading(await world.open())) if (each.kind === 'text') break;
    await closedAtOnce();
    const deltas = await chat(await world.open(), {}, { stop: 'xxx' });
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['', 'stop']);
    await closedAtOnce();
  });

  it('sends no request when it left before the call', async () => {
    await assert.rejects(chat(await world.open(), { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(world.server.asked.length, 0);
  });

  it('is removed from the queue, and no other caller is', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    world.server.script((response) => go.then(() => void begin(response).end(HELLO)));
    const upstream = await world.open({ slots: 1 });
    const leaving = new AbortController();
    const [first, second, third] = [{}, { signal: leaving.signal }, {}].map((parts) => chat(upstream, parts));
    leaving.abort(reason);
    await assert.rejects(second ?? assert.fail(), reason);
    resolve();
    assert.deepEqual([textOf((await first) ?? []), textOf((await third) ?? [])], ['Hello', 'Hello']);
    assert.equal(world.server.asked.length, 2);
  });
});

describe('an error status of an upstream', () => {
  const world = useUpstream();
  type Row = [what: string, status: number, body: unknown, name: string, message?: string, param?: string];
  const expectedOf = (name: string, message = '.', param?: string) =>
    name.startsWith('upstream-')
      ? failedAs(name as 'upstream-failed', new RegExp(message))
      : { ...refusedAs(name as 'too_large', new RegExp(message)), ...(param && { param }) };
  for (const [what, status, body, ...expected] of casesOf<Row[]>('engine', 'errors of upstreams'))
    it(`about ${what} (${status}) is reported to the caller or the operator, at once`, async () => {
      world.server.script(refuses(status, body));
      await assert.rejects(chat(await world.open()), expectedOf(...expected));
      assert.equal(world.server.asked.length, 1);
    });

  it('is short, and never holds our key', async () => {
    world.server.script(refuses(400, { error: { message: `${KEY} ${'x\n'.repeat(1_000)}` } }));
    await assert.rejects(chat(await world.open()), (it: Error) => {
      assert.equal(it.message.length, 300);
      for (const text of [it.message, it.stack, JSON.stringify(it), String((it.cause as Error).message)])
        assert.doesNotMatch(text ?? '', new RegExp(KEY));
      return true;
    });
  });
});

describe('a retry', () => {
  const world = useUpstream();
  let waits: number[] = [];
  const onRetry = ({ waitMs }: { waitMs: number }) => void waits.push(waitMs);
  beforeEach(() => {
    waits = [];
  });
  const ask = async (options = {}) => chat(await world.open(options, { onRetry }));

  it('is made while nothing was answered, later each time', async () => {
    const closes = refuses(503, '', { connection: 'close' });
    world.server.script(closes, (response) => void response.destroy(), streams(HELLO));
    assert.equal(textOf(await ask()), 'Hello');
    assert.deepEqual(waits, [125, 250]);
    assert.equal(world.server.asked.length, 3);
  });

  it('waits as long as the server asks for, up to a limit', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '30' }), streams(HELLO));
    await ask();
    assert.deepEqual(waits, [30]);
    world.server.script(refuses(429, '', { 'retry-after': '60' }));
    await assert.rejects(ask(), { ...refusedAs('overloaded'), retryAfterMs: 60_000 });
    world.server.script(refuses(503, '', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }));
    await assert.rejects(ask(), failedAs('upstream-failed', /status 503/));
    assert.equal(waits.length, 1);
  });

  it('is the last one after as many as were configured', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '1' }));
    await assert.rejects(ask({ retries: 1 }), refusedAs('overloaded'));
    assert.equal(world.server.asked.length, 2);
    world.server.script(refuses(502));
    await assert.rejects(ask({ retries: 0 }), failedAs('upstream-failed', /status 502/));
    assert.equal(waits.length, 1);
  });

  it('is not made when the caller leaves', async () => {
    world.server.script(refuses(503, '', { 'retry-after': '5' }));
    const leaving = new AbortController();
    const upstream = await world.open({}, { onRetry: () => leaving.abort(new Error('the caller left')) });
    await assert.rejects(chat(upstream, { signal: leaving.signal }), /^Error: the caller left$/);
    assert.equal(world.server.asked.length, 1);
  });

  it('costs nothing where a server closed an idle connection', async () => {
    const upstream = await world.open({ retries: 0 }, { onRetry });
    const used = new Set<unknown>();
    world.server.script((response) => {
      if (used.has(response.socket)) response.destroy();
      else begin(response).end(HELLO);
      used.add(response.socket);
    });
    for (let i = 0; i < 5; i += 1) assert.equal(textOf(await chat(upstream)), 'Hello');
    assert.ok(world.server.asked.length > 5, 'a connection was used again, in vain');
    assert.deepEqual(waits, []);
  });
});

for (const end of ['end', 'resetAndDestroy'] as const)
  it(`a body that ends with its connection is complete only where the server ends it: ${end}`, async () => {
    const server = net.createServer((socket) => void socket.on('error', nothing).write('HTTP/1.1 413 X\r\n\r\nhalf'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    using connections = new Connections(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    const { promise, resolve: opened, reject: failed } = Promise.withResolvers<UpstreamResponse>();
    connections.open().send('x'.repeat(3e7), { connected: nothing, opened, failed, over: nothing });
    const [[socket], response] = await Promise.all([once(server, 'connection'), promise]);
    server.close();
    socket[end]();
    while (response.end === undefined) await new Promise(setImmediate);
    assert.equal(response.end === null, end === 'end');
  });

describe('a redirect', () => {
  const world = useUpstream();

  it('to another origin is refused, and that origin receives no request', async () => {
    const elsewhere = world.stack.use(await startScripted());
    world.server.script(refuses(307, '', { location: `${elsewhere.base}/chat/completions` }));
    const message = /another origin \(http:\/\/127\.0\.0\.1:\d+\)/;
    await assert.rejects(chat(await world.open()), failedAs('upstream-refused', message));
    assert.equal(elsewhere.connections(), 0);
  });

  it('within the origin that keeps the body is followed, up to a limit', async () => {
    world.server.script(refuses(308, '', { location: '/v2/chat' }), streams(HELLO));
    const upstream = await world.open();
    assert.equal(textOf(await chat(upstream)), 'Hello');
    const asked = world.server.asked.map(({ path, body }) => `${path} ${body.model}`);
    assert.deepEqual(asked, [`/v1/chat/completions ${MODEL}`, `/v2/chat ${MODEL}`]);
    world.server.script(refuses(302, '', { location: '/login' }));
    await assert.rejects(chat(upstream), failedAs('upstream-refused', /without its body/));
    world.server.script(refuses(307, '', { location: '/again' }));
    await assert.rejects(chat(upstream), failedAs('upstream-refused', /too many times/));
  });
});
