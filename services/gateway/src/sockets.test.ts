// What clients send on sockets: requests are identified by their route, however a path is written.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { type Harness, MODEL } from './test/harness.ts';
import { MESSAGES as messages, sharedGateway } from './test/shared.ts';

const CHAT = '/v1/chat/completions';

describe('a gateway on sockets', () => {
  let service: Harness;
  before(async () => {
    service = await sharedGateway();
  });

  it('asks for a key however the path is written', async () => {
    const body = JSON.stringify({ model: MODEL, messages, max_tokens: 1 });
    for (const target of [CHAT, '/%761/chat/completions', service.base + CHAT]) {
      const headers = `host: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
      assert.match(await raw(`POST ${target} HTTP/1.1\r\n${headers}\r\n\r\n${body}`), /^HTTP\/1\.1 401 /, target);
    }
  });

  it('answers what is not HTTP, or too large, in the form of the contract', async () => {
    const answer = await raw('GARBAGE\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.type, 'invalid_request_error');
    const large = await raw(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    assert.match(large, /^HTTP\/1\.1 431 /);
  });

  async function raw(request: string): Promise<string> {
    const socket = connect(service.running.port, '127.0.0.1');
    socket.write(request);
    return Buffer.concat(await Array.fromAsync<Buffer>(socket)).toString();
  }
});
