// Slow clients on real sockets and in real time: headers and bodies that never end, answers that no client reads.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { received } from '../../../tests/support/raw-http.ts';
import { type ClientTimeouts, route } from './index.ts';
import { connectionsOf, plainBytes, serverOf, until } from './test/test-server.ts';

const SHORT: ClientTimeouts = { headersMs: 300, requestMs: 600, idleMs: 60_000, checkMs: 50 };
/** More than the system keeps for a reader that does not read. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, 'x');
const large = route({ ...plainBytes, path: '/large' }, (_app: object) => ({ bytes: LARGE }));
const make = route({ ...plainBytes, method: 'POST', path: '/make' }, (_app: object) => ({ bytes: 'made' }));
const GET_LARGE = 'GET /large HTTP/1.1\r\nhost: x\r\n';

async function listening(timeouts: Partial<ClientTimeouts> = {}) {
  const http = serverOf([large, make], { timeouts: { ...SHORT, ...timeouts } });
  const port = await http.listen({ host: '127.0.0.1', port: 0 });
  return { open: () => connectionsOf(http), port, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}

/** Sends the bytes, then a drop now and then as long as it may; what was answered. */
function dripping(port: number, start: string, drop: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(start);
  const timer = setInterval(() => socket.write(drop), 20);
  return received(socket).finally(() => clearInterval(timer));
}

describe('a client', { timeout: 120_000 }, () => {
  const head = 'POST /make HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  for (const [what, start, drop, answered] of [
    ['never ends its headers', GET_LARGE, 'x-a: b\r\n', /^HTTP\/1\.1 408 /],
    ['sends half a line', 'G', '', /^HTTP\/1\.1 408 /],
    ['sends nothing at all', '', '', /^/],
    ['never ends its body of a length', `${head}content-length: 60000\r\n\r\n`, ' ', /^HTTP\/1\.1 408 /],
    ['never ends its chunks', `${head}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n', /^HTTP\/1\.1 (?:408|413) /],
  ] as const)
    it(`that ${what} is cut`, async () => {
      await using server = await listening();
      assert.match(await dripping(server.port, start, drop), answered);
    });

  it('that does not read its answer is evicted, while another is served', async () => {
    await using server = await listening({ idleMs: 500 });
    const socket = connect(server.port, '127.0.0.1').pause();
    socket.on('error', () => {}).write(`${GET_LARGE}\r\n`);
    await until(async () => (await server.open()) === 1, 'it is connected');
    const headers = { connection: 'close' };
    const post = await fetch(`http://127.0.0.1:${server.port}/make`, { method: 'POST', headers });
    assert.equal(await post.text(), 'made');
    await until(async () => (await server.open()) === 0, 'it was cut');
    socket.destroy();
  });

  it('that takes its time in reading is served to the end', async () => {
    await using server = await listening({ idleMs: 2_000 });
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
