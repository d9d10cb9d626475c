import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import {
  AnswerCache,
  createHttpServer,
  createLogger,
  formatSse,
  type HttpServer,
  Metrics,
  route,
  type SseClient,
  type SseOptions,
} from './index.ts';

let server: HttpServer | undefined;
let metrics = new Metrics();
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

async function serve(subscribe: (client: SseClient) => void | Promise<void>, sse: SseOptions = {}): Promise<number> {
  const stream = route(
    {
      method: 'GET',
      path: '/stream',
      tag: 'Streams',
      summary: 'A stream',
      output: {
        kind: 'events',
        description: 'Events.',
        events: [{ name: 'x', description: 'One.', schema: z.object({}) }],
      },
      errors: [],
      access: 'open',
    },
    (_app: object) => subscribe,
  );
  const slow = route(
    {
      method: 'GET',
      path: '/slow',
      tag: 'Streams',
      summary: 'Takes its time',
      output: { kind: 'json', schema: z.object({}), description: 'Nothing.' },
      errors: [],
      access: 'open',
    },
    async (_app: object) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return {};
    },
  );
  metrics = new Metrics();
  server = createHttpServer({
    app: {},
    routes: [stream, slow],
    notary: { sign: async (body) => body, signBytes: async () => ({}) },
    keys: { find: async () => undefined, take: async () => ({ isAllowed: true, used: 0 }) },
    answers: new AnswerCache(),
    logger: createLogger({ level: 'silent' }),
    metrics,
    sse,
  });
  return await server.listen({ host: '127.0.0.1', port: 0 });
}

/** A raw client, which may write more before and after its request: what it has been sent, as text. */
async function open(
  port: number,
  headers = '',
  method = 'GET',
  after = '',
  before = '',
): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(`${before}${method} /stream HTTP/1.1\r\nhost: x\r\n${headers}\r\n${after}`);
  return { socket, text: () => text };
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + 5_000; !(await isSo()); ) {
    assert.ok(Date.now() < deadline, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('an event stream', () => {
  it('says what it is, how soon to come back, and hands over the id to resume from', async () => {
    let asked: string | undefined;
    const port = await serve((client) => {
      asked = client.lastEventId;
      client.write(formatSse({ id: '7', event: 'x', data: 'hello' }));
    });
    const { text } = await open(port, 'last-event-id:  6 \r\n');
    await until(() => text().includes('hello'), 'the event came');
    const [head = '', body] = text().split('\r\n\r\n');
    assert.match(head, /^HTTP\/1.1 200 /);
    for (const header of [
      'content-type: text/event-stream; charset=utf-8',
      'cache-control: no-store, no-transform',
      'x-accel-buffering: no',
    ]) {
      assert.ok(head.toLowerCase().includes(header), header);
    }
    assert.ok(!/content-length|transfer-encoding/i.test(head));
    assert.equal(body, 'retry: 3000\n\nid: 7\nevent: x\ndata: hello\n\n');
    assert.equal(asked, '6');
  });

  it('sends a heartbeat to who has taken the last one', async () => {
    const port = await serve(() => {}, { heartbeatMs: 20 });
    const { text } = await open(port);
    await until(() => text().split(': heartbeat\n\n').length > 3, 'three heartbeats came');
  });

  it('drops a client that does not read, telling so, and holds little for it', async () => {
    let client: SseClient | undefined;
    let isGone = false;
    const port = await serve(
      (each) => {
        client = each;
        each.onClose(() => {
          isGone = true;
        });
      },
      { maxBufferedBytes: 64 * 1024 },
    );
    const { socket } = await open(port);
    await until(() => client !== undefined, 'the stream is open');
    socket.pause();
    const event = formatSse({ data: 'x'.repeat(16_000) });
    let most = 0;
    for (let i = 0; i < 10_000 && !isGone; i += 1) {
      client?.write(event);
      most = Math.max(most, client?.bufferedBytes ?? 0);
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(isGone, 'it was dropped');
    assert.ok(most < 64 * 1024 + 2 * event.length, `${most} bytes were held`);
    assert.equal(client?.write('more'), false);
    await until(() => client?.bufferedBytes === 0, 'nothing is held any more');
  });

  it('waits for the client where the subscription wants to', async () => {
    let written = 0;
    const port = await serve(
      async (client) => {
        const chunk = formatSse({ data: 'y'.repeat(8_000) });
        for (; written < 500 && !client.isClosed; written += 1) if (!client.write(chunk)) await client.drained();
        client.close('the end');
      },
      { maxBufferedBytes: 128 * 1024 },
    );
    const { text, socket } = await open(port);
    await once(socket, 'end');
    assert.equal(written, 500);
    assert.equal(text().split('data: y').length - 1, 500, 'nothing was lost');
    assert.ok(text().endsWith(': the end\n\n'));
  });

  it('lets go of clients that leave, and refuses one too many', async () => {
    let open_ = 0;
    const port = await serve(
      (client) => {
        open_ += 1;
        client.onClose(() => {
          open_ -= 1;
        });
      },
      { maxClients: 2 },
    );
    const [first] = [await open(port), await open(port)];
    await until(() => open_ === 2, 'both are open');
    const third = await open(port);
    await until(() => third.text().includes('Too many streams'), 'the third was refused');
    assert.match(third.text(), /^HTTP\/1.1 503 /);
    const counts = () => metrics.registry.metrics();
    await until(async () => /requests.*\/stream.*503.* 1$/m.test(await counts()), 'the refusal was counted as such');
    assert.match(await counts(), /requests.*\/stream.*200.* 2$/m);
    first.socket.resetAndDestroy();
    await until(() => open_ === 1, 'the first is gone');
    await open(port);
    await until(() => open_ === 2, 'there is room again');
  });

  it('answers HEAD with headers alone', async () => {
    const port = await serve(() => assert.fail('nobody subscribes'));
    const { text } = await open(port, 'connection: close\r\n', 'HEAD');
    await until(() => text().includes('\r\n\r\n'), 'the headers came');
    assert.match(text(), /^HTTP\/1.1 200 [\s\S]*text\/event-stream[\s\S]*\r\n\r\n$/i);
  });

  it('is a stream of events until its end, whatever else its client sends', async () => {
    const clients: SseClient[] = [];
    const port = await serve((each) => {
      clients.push(each);
    });
    const slow = 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n';
    // What is no HTTP at all is refused when it comes along with the request.
    for (const bytes of [slow, slow.replace('/slow', '/stream'), '\0no HTTP\r\n\r\n']) {
      for (const isAtOnce of bytes.startsWith('GET') ? [true, false] : [false]) {
        clients.length = 0;
        const { socket, text } = await open(port, '', 'GET', isAtOnce ? bytes : '');
        await until(() => clients.length === 1 && text().includes('retry'), 'the stream is open');
        if (!isAtOnce) socket.write(bytes);
        await new Promise((resolve) => setTimeout(resolve, 100));
        clients[0]?.write(formatSse({ data: 'still' }));
        await until(() => text().includes('still'), 'the event came');
        assert.equal(text().split('\r\n\r\n')[1], 'retry: 3000\n\ndata: still\n\n');
      }
    }
  });

  it('does not wait behind another answer on its connection', async () => {
    const port = await serve(() => assert.fail('nobody subscribes'));
    const { socket, text } = await open(port, '', 'GET', '', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => text().includes('waits for no other answer'), 'it was refused');
    assert.deepEqual(text().match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 503']);
    socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => text().match(/HTTP\/1.1 200/g)?.length === 2, 'the connection serves on');
  });

  it('notices a client that closes only its own side', async () => {
    let isGone = false;
    let isOpen = false;
    const port = await serve((client) => {
      isOpen = true;
      client.onClose(() => {
        isGone = true;
      });
    });
    const { socket } = await open(port);
    await until(() => isOpen, 'it is open');
    socket.end();
    await until(() => isGone, 'it is gone');
  });

  it('ends when its subscription fails, without telling why', async () => {
    const failing = [
      () => Promise.reject(new Error('a secret')),
      () => {
        throw new Error('a secret');
      },
    ];
    for (const subscribe of failing) {
      const port = await serve(subscribe);
      const { text, socket } = await open(port);
      await once(socket, 'end');
      assert.match(text(), /^HTTP\/1.1 200 [\s\S]*: the stream failed/);
      assert.ok(!text().includes('secret'));
      await server?.[Symbol.asyncDispose]();
    }
  });

  it('ends at once when the server stops', async () => {
    let isOpen = false;
    const port = await serve(() => {
      isOpen = true;
    });
    const { text, socket } = await open(port);
    await until(() => isOpen, 'it is open');
    const startedAt = performance.now();
    const ended = once(socket, 'end');
    await server?.[Symbol.asyncDispose]();
    server = undefined;
    await ended;
    assert.ok(performance.now() - startedAt < 3_000);
    assert.match(text(), /: the server is stopping/);
  });
});

describe('the form of an event', () => {
  it('gives back any data line by line, and lets no field break out of its line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (data, id) => {
        const lines = formatSse({ id, data }).slice(0, -2).split('\n');
        assert.ok(lines[0]?.startsWith('id: ') && !/[\r\0]/.test(lines[0]));
        const read = lines.slice(1).map((line) => line.replace(/^data: /, ''));
        assert.ok(lines.slice(1).every((line) => line.startsWith('data: ')));
        assert.equal(read.join('\n'), data.replaceAll(/\r\n|\r/g, '\n'));
      }),
    );
  });
});
