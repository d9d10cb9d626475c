// What is signed of problems: callers without a valid key share one body of a kind, and a key with a limit has few of its own.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { createTestServer, LIMITED_KEY, UNLIMITED_KEY } from '../test/test-server.ts';
import { ERRORS } from './errors.ts';

it('problems of callers without a valid key share one body and one receipt of a kind, whatever the callers choose', async () => {
  const lines: string[] = [];
  const server = createTestServer({ log: { write: (line: string) => void lines.push(line) } });
  const bodies = new Map<string, Set<string>>();
  const startedAt = performance.now();
  for (let i = 0; i < 150; i += 1) {
    const chosen = `chosen-${i.toString(36)}-by-me`;
    const json = { 'content-type': 'application/json' };
    const table = JSON.stringify(casesOf('http', 'requests with a chosen word')).replaceAll('CHOSEN', chosen);
    for (const [method, url, headers, payload] of [
      ...(JSON.parse(table) as ['GET' | 'PUT' | 'DELETE', string, object?, string?][]),
      ['GET', `/${chosen.repeat(800)}`],
      ['POST', '/things', json, `{${chosen}`],
      ['POST', '/things', json, JSON.stringify(chosen.repeat(6_000))],
      ['POST', '/things', { 'content-type': `text/${chosen}` }, chosen],
    ] as const) {
      const asked = { method, url, headers: { ...headers, 'x-request-id': chosen }, payload: payload ?? '' };
      const { body, headers: sent, statusCode } = await server.fastify.inject(asked);
      assert.ok(statusCode >= 400 && sent['x-request-id'] === chosen && !body.includes(chosen), body);
      const { code } = JSON.parse(body);
      const { status, detail } = ERRORS[code as keyof typeof ERRORS];
      assert.deepEqual([statusCode, JSON.parse(body).detail], [status, detail]);
      assert.equal(/X-Stack-Key/.test(String(sent['www-authenticate'])), status === 401);
      bodies.set(code, (bodies.get(code) ?? new Set()).add(body));
    }
  }
  const kinds = `invalid_key invalid_parameter method_not_allowed missing_key not_found payload_too_large
    quota_exceeded unsupported_media_type uri_too_long`;
  assert.deepEqual([...bodies.keys()].sort(), kinds.split(/\s+/));
  for (const [code, different] of bodies) {
    assert.equal(different.size, 1, code);
    for (const body of different) assert.ok(await server.verify(JSON.parse(body)), code);
  }
  const logged = lines.map((line) => JSON.parse(line));
  const max = bodies.size * Math.ceil((performance.now() - startedAt) / 10_000);
  assert.ok(logged.length >= bodies.size && logged.length <= max, 'one line of a kind in ten seconds');
  const areExpected = logged.every(({ level, requestId }) => level === 30 && requestId.startsWith('chosen-'));
  assert.ok(areExpected, lines.join(''));
});

it('problems of a key are specific to its request; a key with a limit has as many of them in a day as it has requests', async () => {
  const server = createTestServer();
  const refused = async (key: string, url: string) => {
    const { headers, body } = await server.fastify.inject({ url, headers: { 'x-stack-key': key } });
    const { request_id, provenance } = JSON.parse(body);
    assert.ok(request_id === undefined || request_id === headers['x-request-id']);
    return { isOwn: request_id !== undefined, receipt: provenance.receipt_id as string };
  };
  for (const [key, own] of [[LIMITED_KEY, 3] as const, [UNLIMITED_KEY, 20] as const]) {
    const all = [];
    for (let i = 0; i < 20; i += 1) all.push(await refused(key, i % 2 === 0 ? '/things/a?limit=0' : `/nowhere-${i}`));
    assert.equal(all.filter(({ isOwn }) => isOwn).length, own, key);
    const kinds = key === LIMITED_KEY ? 2 : 0;
    assert.equal(new Set(all.map(({ receipt }) => receipt)).size, own + kinds, 'and one for each further kind');
  }
});
