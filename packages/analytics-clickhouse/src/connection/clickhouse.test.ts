// What is sent to a server, and what its errors become.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { openClickHouse } from './clickhouse.ts';

it('every statement has a limit of time; one above another limit is unavailable, a wrong one is refused', async () => {
  const limits: string[] = [];
  const server = createServer(async (request, response) => {
    const text = (await Array.fromAsync(request)).join('');
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    assert.equal(searchParams.get('cancel_http_readonly_queries_on_client_close'), '1');
    const asked = `${request.url} ${searchParams.get('query')} ${text}`;
    limits.push(/max_execution_time ?= ?(\d+)/.exec(asked)?.[1] ?? 'none');
    const [code, type] = text.startsWith('SELECT') ? [396, 'TOO_MANY_ROWS_OR_BYTES'] : [62, 'SYNTAX_ERROR'];
    response.writeHead(500, { 'x-clickhouse-exception-code': code });
    response.end(`Code: ${code}. DB::Exception: no. (${type})`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using clickhouse = await openClickHouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}/strata`);
  await assert.rejects(clickhouse.query('SELECT 1', {}, { timeoutMs: 7_000 }), { kind: 'unavailable' });
  await assert.rejects(clickhouse.command('DROP', {}, { timeoutMs: 9_000 }), { kind: 'refused' });
  await assert.rejects(clickhouse.insert('names', [{ name: 'a.com' }]), { kind: 'refused' });
  server.close();
  assert.deepEqual(limits, ['7', '9', '600']);
});

it('a server that hangs keeps a short statement for twice its limit, and none after a stop', async () => {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stopping = new AbortController();
  const { signal } = stopping;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/strata`;
  await using clickhouse = await openClickHouse(url, { signal });
  const begunAt = performance.now();
  await assert.rejects(clickhouse.query('SELECT 1', {}, { timeoutMs: 100 }), { kind: 'unavailable' });
  const inserting = clickhouse.insert('names', [{ name: 'a.com' }]);
  stopping.abort();
  await assert.rejects(inserting, { kind: 'unavailable' });
  await assert.rejects(clickhouse.command('OPTIMIZE'), { kind: 'unavailable' });
  assert.ok(performance.now() - begunAt < 4_000);
});
