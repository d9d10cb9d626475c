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
    limits.push(/max_execution_time ?= ?(\d+)/.exec(`${request.url} ${text}`)?.[1] ?? 'none');
    const [code, type] = text.startsWith('SELECT') ? [396, 'TOO_MANY_ROWS_OR_BYTES'] : [62, 'SYNTAX_ERROR'];
    response.writeHead(500, { 'x-clickhouse-exception-code': code });
    response.end(`Code: ${code}. DB::Exception: no. (${type})`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using clickhouse = await openClickHouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}/strata`);
  await assert.rejects(clickhouse.query('SELECT 1', {}, { timeoutMs: 7_000 }), { kind: 'unavailable' });
  await assert.rejects(clickhouse.command('DROP', {}, { timeoutMs: 9_000 }), { kind: 'refused' });
  server.close();
  assert.deepEqual(limits, ['7', '9']);
});
