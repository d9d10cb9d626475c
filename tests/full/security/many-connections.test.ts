// A process that may open 1,024 files, and a client that opens more connections than that.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { startServe } from '../../support/serve-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Asked from another address than the flood comes from. */
async function statusOf(url: string, localAddress: string): Promise<number | undefined> {
  const [response] = await once(get(url, { localAddress, agent: new Agent() }), 'response');
  response.resume();
  return response.statusCode;
}

describe('a service whose process may open 1,024 files', { timeout: 300_000 }, () => {
  it('answers other clients while one address opens 1,100 idle connections, and names the limit', async () => {
    await using directory = await temporaryDirectory();
    await using service = await startServe(directory.path, {}, ['prlimit', '--nofile=1024']);
    const { hostname, port } = new URL(service.base);
    const sockets: Socket[] = [];
    const flood = async (localAddress: string, count: number) => {
      for (let i = 0; i < count; i += 1) {
        const socket = connect({ host: hostname, port: Number(port), localAddress }).on('error', () => {});
        sockets.push(socket);
        await once(socket, 'connect');
      }
    };
    try {
      await flood('127.0.0.2', 1_100);
      for (const target of ['/health', '/ready', '/openapi.json'])
        assert.equal(await statusOf(service.base + target, '127.0.0.3'), 200, target);
      assert.equal(await statusOf(`${service.base}/health`, '127.0.0.2'), 200, 'the same address too');
      for (const address of ['127.0.0.4', '127.0.0.5']) await flood(address, 500);
      assert.equal(await statusOf(`${service.base}/health`, '127.0.0.3'), 200);
      for (const bound of ['connections-per-address","address":"127.0.0.2","max":576', 'connections","max":768'])
        assert.ok(
          service.log.some((line) => line.includes(`"bound":"${bound}`)),
          `${bound} in ${service.log.join('\n')}`,
        );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
