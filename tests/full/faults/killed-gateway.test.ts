// A gateway that is killed while it stores the receipt of a stream: the client has the answer's text but not its end, and
// its receipt exists after the restart.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { Cluster } from '../../support/network/cluster.ts';
import { begin, delta, ends, events, MODEL, says, startScripted } from '../../support/scripted-upstream.ts';

it('a stream whose end waits for its receipt has one after a SIGKILL', async () => {
  const { promise: asked, resolve: answering } = Promise.withResolvers<ServerResponse>();
  await using upstream = await startScripted();
  upstream.script((response) => answering(begin(response)));
  await using cluster = await Cluster.open();
  const settings = { STRATA_UPSTREAM: upstream.base, STRATA_UPSTREAM_MODELS: MODEL };
  const gateway = await cluster.startGateway({ settings, name: 'gateway' });
  const authorization = `Bearer ${gateway.ready.key}`;
  const answer = fetch(`${gateway.ready.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'a' }], stream: true }),
  });
  const source = await asked;
  source.write(events(delta({ role: 'assistant', content: 'the' })));
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
  source.end(events(says(' end'), ends('stop'), '[DONE]'));
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
