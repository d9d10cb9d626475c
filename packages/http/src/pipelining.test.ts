// Requests that a client sends on one connection without waiting for the answers.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { route } from './index.ts';
import { serverOf, until } from './test/test-server.ts';

const output = { kind: 'bytes', contentType: 'text/plain', description: 'Bytes.' } as const;
const contract = { tag: 'Files', summary: 'A file', output, errors: [], access: 'open' } as const;
/** More than the system buffers for a client that does not read. */
const LARGE = Buffer.alloc(8 * 1024 * 1024, 'x');
let begun = 0;
const large = route({ ...contract, method: 'GET', path: '/large' }, (_app: object) => {
  begun += 1;
  return { bytes: LARGE };
});
const make = route({ ...contract, method: 'POST', path: '/make' }, (_app: object) => ({ bytes: 'made' }));

describe('a client that sends many requests on one connection', () => {
  it('is cut where it reads no answer, and few of its requests are begun', async () => {
    const patience = { headersMs: 300, requestMs: 600, stillMs: 60_000, checkMs: 50 };
    await using http = serverOf([large], { patience });
    const socket = connect(await http.listen({ host: '127.0.0.1', port: 0 }), '127.0.0.1');
    socket.pause().on('error', () => {});
    begun = 0;
    socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5_000));
    const connections = () =>
      new Promise<number>((resolve) => http.fastify.server.getConnections((_, count) => resolve(count ?? 0)));
    await until(async () => begun > 0 && (await connections()) === 0, 'it was cut');
    assert.ok(begun <= 17, `${begun} were begun`);
    socket.destroy();
  });

  it('receives all answers in order where it sends a few at once, and more when it has read them', async () => {
    await using http = serverOf([make]);
    const socket = connect(await http.listen({ host: '127.0.0.1', port: 0 }), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    for (let round = 1; round <= 5; round += 1) {
      socket.write('POST /make HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'.repeat(16));
      await until(() => received.match(/\r\n\r\nmade/g)?.length === round * 16, `round ${round} was answered`);
    }
    socket.destroy();
  });
});
