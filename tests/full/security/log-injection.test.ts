// What a caller sends ends up in the log of both services: as text of one line, without what a terminal obeys.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useServicesWithResolver } from '../../support/both-services.ts';
import { request } from '../../support/raw-http.ts';

describe('the log', () => {
  const { services } = useServicesWithResolver();

  /** All that Node lets into a path: control characters written out, quotes, an escape of JSON, the begin of another line. */
  const HOSTILE = '%1b[31m%c2%9b2J%e2%80%a8%0a","level":60}\\n{"level":60,"msg":"forged\\u001b';

  const FIELDS = ['host: localhost', 'user-agent: \x9b2J', 'x-request-id: \x9b31m-evil'];

  function assertPrinted(lines: readonly string[]): void {
    for (const line of lines) {
      assert.match(line, /^\P{Cc}+\n$/u);
      assert.doesNotMatch(line, /[\u2028-\u202e]/);
      const { level, msg } = JSON.parse(line);
      assert.ok(level < 60 && msg !== 'forged', line);
    }
  }

  it('of the stack service: the path of a request that is refused', async () => {
    const before = services().log.length;
    const answer = await request(services().stackPort, `GET /stack/v1/domains/d.example?${HOSTILE}`, FIELDS);
    assert.match(answer, /^HTTP\/1\.1 401 /);
    const lines = services().log.slice(before);
    const ofRequests = lines.filter((line) => JSON.parse(line).msg === 'request refused');
    assert.equal(ofRequests.length, 1);
    assert.ok(JSON.parse(String(ofRequests[0])).path.endsWith(`?${HOSTILE}`), 'the path is logged completely');
    assertPrinted(lines);
  });

  it('of the gateway: the path of a request at which the upstream fails', async () => {
    const before = services().log.length;
    const body = JSON.stringify({ model: 'model', messages: [{ role: 'user', content: '\x1b[2J\x9b31m\u2028' }] });
    const key = `authorization: Bearer ${services().gatewayKey}`;
    const fields = [...FIELDS, key, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
    const line = `POST /v1/chat/completions?${HOSTILE}`;
    const answer = await request(services().gatewayPort, line, fields, Buffer.from(body).toString('latin1'));
    assert.match(answer, /^HTTP\/1\.1 5\d\d /);
    const lines = services().log.slice(before);
    const ofRequests = lines.filter((line) => /^request (?:refused|failed)$/.test(JSON.parse(line).msg));
    assert.equal(ofRequests.length, 1);
    assert.ok(JSON.parse(String(ofRequests[0])).path.endsWith(`?${HOSTILE}`), 'the path is logged completely');
    assertPrinted(lines);
  });
});
