// Slow clients on real sockets and in real time: headers and bodies that never end, answers that no client reads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpServer, type Patience, route } from './index.ts';
import { serverOf, until } from './test/test-server.ts';

const SHORT: Patience = { headersMs: 300, requestMs: 600, stillMs: 60_000, checkMs: 50 };
/** More than the system keeps for a reader that does not read. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, 'x');

const output = { kind: 'bytes', contentType: 'text/plain', description: 'Bytes.' } as const;
const contract = { tag: 'Files', summary: 'A large file', output, errors: [], access: 'open' } as const;
const large = route({ ...contract, method: 'GET', path: '/large' }, (_app: object) => ({ bytes: LARGE }));
const make = route({ ...contract, method: 'POST', path: '/make' }, (_app: object) => ({ bytes: 'made' }));
const GET_LARGE = 'GET /large HTTP/1.1\r\nhost: x\r\n';

async function listening(patience: Partial<Patience> = {}) {
  const http = serverOf([large, make], { patience: { ...SHORT, ...patience } });
  const port = await http.listen({ host: '127.0.0.1', port: 0 });
  return { http, port, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}

/** A client that sends a request and reads nothing. */
function unread(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  socket.write(text);
  return socket;
}

/** Sends the bytes, then a drop now and then as long as it may; gives what was answered. */
async function dripping(port: number, start: string, drop: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.write(start);
  const timer = setInterval(() => socket.write(drop), 20);
  await once(socket, 'close');
  clearInterval(timer);
  return Buffer.concat(chunks).toString();
}

const open = (http: HttpServer) =>
  new Promise<number>((resolve, reject) =>
    http.fastify.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

describe('a client', { timeout: 120_000 }, () => {
  it('that never ends its headers is cut', async () => {
    await using server = await listening();
    const said = await dripping(server.port, GET_LARGE, 'x-a: b\r\n');
    assert.match(said, /^HTTP\/1\.1 408 /);
  });

  it('that says nothing at all, or half a line, is cut', async () => {
    await using server = await listening();
    const half = await dripping(server.port, 'G', '');
    assert.match(half, /^HTTP\/1\.1 408 /);
    await dripping(server.port, '', '');
  });

  it('that never ends its body is cut, chunked or with a length', async () => {
    await using server = await listening();
    const head = 'POST /make HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    assert.match(await dripping(server.port, `${head}content-length: 60000\r\n\r\n`, ' '), /^HTTP\/1\.1 408 /);
    const chunked = await dripping(server.port, `${head}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n');
    assert.match(chunked, /^HTTP\/1\.1 (?:408|413) /);
  });

  it('that does not read its answer is let go, and another is served meanwhile', async () => {
    await using server = await listening({ stillMs: 500 });
    const socket = unread(server.port, `${GET_LARGE}\r\n`);
    await until(async () => (await open(server.http)) === 1, 'it is connected');
    const post = await fetch(`http://127.0.0.1:${server.port}/make`, {
      method: 'POST',
      headers: { connection: 'close' },
    });
    assert.equal(await post.text(), 'made');
    await until(async () => (await open(server.http)) === 0, 'it was cut');
    socket.destroy();
  });

  it('that takes its time in reading is served to the end', async () => {
    await using server = await listening({ stillMs: 2_000 });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`${GET_LARGE}connection: close\r\n\r\n`);
    let bytes = 0;
    for await (const chunk of socket) {
      bytes += (chunk as Buffer).length;
      if (bytes % 7 === 0) await sleep(1);
    }
    assert.ok(bytes > LARGE.length);
  });
});
