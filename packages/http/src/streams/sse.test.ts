import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import * as http from '../index.ts';
import { nothing, plain, rawClient, serverOf, until } from '../test/test-server.ts';

const { formatSse, Metrics, route } = http;

const events = [{ name: 'x', description: 'One.', schema: z.object({}) }];
const output = { kind: 'events', description: 'Events.', events } as const;
const slow = route({ ...plain, path: '/slow', output: nothing }, async (_app: object) => sleep(50, {}));
const SLOW = 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n';

/** Headers, method, and what is written on the connection before and after the request. */
type Sent = Partial<Record<'headers' | 'method' | 'before' | 'after', string>>;

describe('an event stream', () => {
  let server: http.SignedServer | undefined;
  let metrics = new Metrics();
  let port = 0;
  let clients: http.SseClient[] = [];
  let openClients = 0;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server?.[Symbol.asyncDispose]();
  });

  async function serve(
    subscribe: (client: http.SseClient) => void | Promise<void>,
    sse: http.SseOptions = {},
    limits: Partial<http.ConnectionLimits> = {},
  ): Promise<void> {
    clients = [];
    openClients = 0;
    const subscribed = (client: http.SseClient) => {
      clients.push(client);
      openClients += 1;
      client.onClose(() => void openClients--);
      return subscribe(client);
    };
    const stream = route({ ...plain, path: '/stream', output }, (_app: object) => subscribed);
    metrics = new Metrics();
    server = serverOf([stream, slow], { metrics, sse, limits });
    port = await server.listen({ host: '127.0.0.1', port: 0 });
  }

  async function open({ headers = '', method = 'GET', before = '', after = '' }: Sent = {}) {
    const sent = `${before}${method} /stream HTTP/1.1\r\nhost: x\r\n${headers}\r\n${after}`;
    const client = await rawClient({ port }, sent);
    sockets.push(client.socket);
    return client;
  }

  it('has headers of a stream, a time to reconnect, and hands over the id to resume from', async () => {
    await serve((client) => void client.write(formatSse({ id: '7', event: 'x', data: 'hello' })));
    const { text } = await open({ headers: 'last-event-id:  6 \r\n' });
    await until(() => text().includes('hello'), 'the event came');
    const [head = '', body] = text().split('\r\n\r\n');
    assert.match(head, /^HTTP\/1.1 200 /);
    const types = ['content-type: text/event-stream; charset=utf-8', 'cache-control: no-store, no-transform'];
    for (const header of [...types, 'x-accel-buffering: no', 'x-content-type-options: nosniff'])
      assert.ok(head.toLowerCase().includes(header), header);
    assert.ok(!/content-length|transfer-encoding/i.test(head));
    assert.deepEqual([body, clients[0]?.lastEventId], ['retry: 3000\n\nid: 7\nevent: x\ndata: hello\n\n', '6']);
  });

  it('sends a heartbeat to a client that has received the last one', async () => {
    await serve(() => {}, { heartbeatMs: 20 });
    const { text } = await open();
    await until(() => text().split(': heartbeat\n\n').length > 3, 'three heartbeats came');
  });

  it('drops a client that does not read, with a comment, and buffers little for it', async () => {
    await serve(() => {}, { maxBufferedBytes: 64 * 1024 });
    const { socket } = await open();
    await until(() => clients.length === 1, 'the stream is open');
    socket.pause();
    const [client = assert.fail()] = clients;
    const event = formatSse({ data: 'x'.repeat(16_000) });
    let max = 0;
    for (let i = 0; i < 10_000 && openClients > 0; i += 1) {
      client.write(event);
      max = Math.max(max, client.bufferedBytes);
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(openClients, 0, 'it was dropped');
    assert.ok(max < 64 * 1024 + 2 * event.length, `${max} bytes were buffered`);
    assert.equal(client.write('more'), false);
    await until(() => client.bufferedBytes === 0, 'nothing is buffered any more');
  });

  it('waits for the client where the subscription asks for it', async () => {
    let written = 0;
    const chunk = formatSse({ data: 'y'.repeat(8_000) });
    const subscribe = async (client: http.SseClient) => {
      for (; written < 500 && !client.isClosed; written += 1) if (!client.write(chunk)) await client.drained();
      client.close('the end');
    };
    await serve(subscribe, { maxBufferedBytes: 128 * 1024 });
    const { text, socket } = await open();
    await once(socket, 'end');
    assert.equal(written, 500);
    assert.equal(text().split('data: y').length - 1, 500, 'nothing was lost');
    assert.ok(text().endsWith(': the end\n\n'));
  });

  it('releases clients that leave, or close their own side, and refuses one above the limit', async () => {
    await serve(() => {}, {}, { freeStreamsPerAddress: 2 });
    const [first, second] = [await open(), await open()];
    await until(() => openClients === 2, 'both are open');
    const third = await open();
    await until(() => third.text().includes('quota_exceeded'), 'the third was refused');
    assert.match(third.text(), /^HTTP\/1.1 429 /);
    const counts = () => metrics.registry.metrics();
    await until(async () => /requests.*\/stream.*429.* 1$/m.test(await counts()), 'the refusal was counted');
    assert.match(await counts(), /requests.*\/stream.*200.* 2$/m);
    first.socket.resetAndDestroy();
    await until(() => openClients === 1, 'the first was removed');
    await open();
    await until(() => openClients === 2, 'another one was accepted');
    second.socket.end();
    await until(() => openClients === 1, 'the second was removed');
  });

  it('answers HEAD with headers alone', async () => {
    await serve(() => assert.fail('there is no subscription'));
    const { text } = await open({ headers: 'connection: close\r\n', method: 'HEAD' });
    await until(() => text().includes('\r\n\r\n'), 'the headers came');
    assert.match(text(), /^HTTP\/1.1 200 [\s\S]*text\/event-stream[\s\S]*\r\n\r\n$/i);
  });

  // What is not HTTP is refused when it arrives together with the request.
  for (const [bytes, isAtOnce] of [
    [SLOW, true],
    [SLOW, false],
    [SLOW.replace('/slow', '/stream'), true],
    [SLOW.replace('/slow', '/stream'), false],
    ['\0no HTTP\r\n\r\n', false],
  ] as const)
    it(`stays a stream when its client sends ${JSON.stringify(bytes.slice(0, 11))} ${isAtOnce ? 'with' : 'after'} the request`, async () => {
      await serve(() => {});
      const { socket, text } = await open({ after: isAtOnce ? bytes : '' });
      await until(() => clients.length === 1 && text().includes('retry'), 'the stream is open');
      if (!isAtOnce) socket.write(bytes);
      // Twice as long as an answer of the other route takes.
      await sleep(100);
      clients[0]?.write(formatSse({ data: 'still' }));
      await until(() => text().includes('still'), 'the event came');
      assert.equal(text().split('\r\n\r\n')[1], 'retry: 3000\n\ndata: still\n\n');
    });

  it('does not wait for another answer on its connection', async () => {
    await serve(() => assert.fail('there is no subscription'));
    const { socket, text } = await open({ before: SLOW });
    await until(() => text().includes('unavailable'), 'it was refused');
    assert.deepEqual(text().match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 503']);
    socket.write(SLOW);
    await until(() => text().match(/HTTP\/1.1 200/g)?.length === 2, 'the connection is used on');
  });

  const secret = new Error('a secret');
  for (const subscribe of [() => Promise.reject(secret), () => assert.fail(secret)])
    it(`ends when its subscription fails, without the reason: ${subscribe}`, async () => {
      await serve(subscribe);
      const { text, socket } = await open();
      await once(socket, 'end');
      assert.match(text(), /^HTTP\/1.1 200 [\s\S]*: the stream failed/);
      assert.ok(!text().includes('secret'));
    });

  it('ends when its key is revoked, also while it is opened, and no other stream does; a gate that fails is queried again', async () => {
    const valid = new Set(['k1', 'k2']);
    let [revision, isAway, count] = [0, false, async () => {}];
    const keys = {
      find: async (id: string) => (valid.has(id) ? { id, tier: 'free', dailyLimit: 50 } : undefined),
      take: async () => count().then(() => ({ isAllowed: true, used: 1 })),
      used: async () => 1,
      revision: () => revision,
      async stillValid() {
        if (isAway) throw new Error('the database is offline');
        return valid;
      },
    };
    const revoke = (id: string) => {
      valid.delete(id);
      revision += 1;
    };
    const stream = route({ ...plain, access: 'key', path: '/stream', output }, (_app: object) => () => {});
    server = serverOf([stream], { keys });
    port = await server.listen({ host: '127.0.0.1', port: 0 });
    const openWith = (key: string) => open({ headers: `x-stack-key: ${key}\r\n` });
    const [first, second] = [await openWith('k1'), await openWith('k2')];
    for (const { text } of [first, second]) await until(() => text().includes('retry'), 'it is open');
    isAway = true;
    revoke('k1');
    await assert.rejects(server.endRevokedStreams(), /offline/);
    isAway = false;
    await server.endRevokedStreams();
    await until(() => first.text().endsWith('\n\n: the API key was revoked\n\n'), 'the first ended');
    assert.doesNotMatch(second.text(), /revoked/);
    const [counting, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    count = () => {
      counting.resolve();
      return held.promise;
    };
    const late = await openWith('k2');
    await counting.promise;
    revoke('k2');
    await server.endRevokedStreams();
    await until(() => second.text().includes('revoked'), 'the second ended');
    held.resolve();
    await until(() => late.text().includes('invalid_key'), 'the stream was refused');
  });

  it('ends at once when the server stops', async () => {
    await serve(() => {});
    const { text, socket } = await open();
    await until(() => clients.length === 1, 'it is open');
    const startedAt = performance.now();
    const ended = once(socket, 'end');
    await server?.[Symbol.asyncDispose]();
    await ended;
    assert.ok(performance.now() - startedAt < 8_000, 'a server waits for 10 s for other connections');
    assert.match(text(), /: the server is stopping/);
  });
});

it('the format of an event keeps any data line by line, and each field in its line', () => {
  const anyText = fc.string({ unit: codePoint });
  holds(100, [anyText, anyText], (data, id) => {
    const [first = '', ...lines] = formatSse({ id, data }).slice(0, -2).split('\n');
    assert.ok(first.startsWith('id: ') && !/[\r\0]/.test(first));
    assert.ok(lines.every((line) => line.startsWith('data: ')));
    const read = lines.map((line) => line.slice('data: '.length));
    assert.equal(read.join('\n'), data.replaceAll(/\r\n|\r/g, '\n'));
  });
});
