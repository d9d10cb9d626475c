// A gateway that is killed while it stores the receipt of a stream: the client has the answer's text but not its end, and
// its receipt exists after the restart.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { Cluster } from '../../support/network/cluster.ts';

const MODEL = 'scripted';
const event = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const END = `${event({ content: ' end' })}${event({}, 'stop')}data: [DONE]\n\n`;

it('a stream whose end waits for its receipt has one after a SIGKILL', async () => {
  const { promise: asked, resolve: answering } = Promise.withResolvers<ServerResponse>();
  await using upstream = createServer((request, response) => {
    if (request.method === 'POST') answering(response.writeHead(200, { 'content-type': 'text/event-stream' }));
    else response.end(JSON.stringify({ data: [{ id: MODEL }] }));
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  await using cluster = await Cluster.open();
  const settings = {
    STRATA_UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    STRATA_UPSTREAM_MODELS: MODEL,
  };
  const gateway = await cluster.startGateway({ settings, name: 'gateway' });
  const authorization = `Bearer ${gateway.ready.key}`;
  const answer = fetch(`${gateway.ready.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'a' }], stream: true }),
  });
  const source = await asked;
  source.write(event({ role: 'assistant', content: 'the' }));
  const { headers, body } = await answer;
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail();
  let received = '';
  const read = async (until: string) => {
    while (!received.includes(until)) received += (await reader.read()).value ?? assert.fail(`no ${until}`);
  };
  await read('"the"');
  // The receipt cannot be stored for as long as another connection writes.
  using database = new DatabaseSync(path.join(cluster.directory, 'gateway', 'inference.db'));
  database.exec('BEGIN IMMEDIATE');
  source.end(END);
  await read('"finish_reason":"stop"');
  await gateway.kill();
  await assert.rejects(read('[DONE]'));
  database.exec('ROLLBACK');
  const restarted = await cluster.startGateway({ settings, name: 'gateway' });
  const id = headers.get('x-receipt-id');
  const receipt = await fetch(`${restarted.ready.base}/v1/receipts/${id}`, { headers: { authorization } });
  const { outcome, provenance } = (await receipt.json()) as { outcome: string; provenance: { receipt_id: string } };
  assert.deepEqual([receipt.status, outcome, provenance.receipt_id], [200, 'interrupted', id]);
});
