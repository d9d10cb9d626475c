// The inference service with its keys, counts and receipts in PostgreSQL: the same answers, and nothing lost with the server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore } from '@strata/store';
import { postgres } from '../../../packages/store/src/test/places.ts';
import { startPostgres } from '../../../packages/store/src/test/postgres.ts';
import { type Harness, MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';
import { untilAnswer } from '../../support/until.ts';

const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

describe('the inference service on PostgreSQL', { skip: postgres.skip }, () => {
  const start = (url: string) => startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
  const ask = (service: Harness) => service.post('/v1/chat/completions', question);
  const isOk = ({ status }: { readonly status: number }) => status === 200;
  const receiptOf = (service: Harness, id: string) => service.get(`/v1/receipts/${id}`);

  it('answers many at once, and has a receipt and a count of each', async () => {
    const url = await postgres.fresh();
    const receipts: string[] = [];
    {
      await using service = await start(url);
      const answers = await Promise.all(Array.from({ length: 24 }, () => ask(service)));
      for (const { status, headers, text: body } of answers) {
        assert.equal(status, 200, body);
        const id = headers.get('x-receipt-id') ?? '';
        const receipt = await receiptOf(service, id);
        assert.equal(receipt.status, 200, receipt.text);
        assert.equal(receipt.body.provenance.receipt_id, id);
        receipts.push(id);
      }
      assert.equal(new Set(receipts).size, answers.length);
      assert.equal(service.running.gateway.ledger.log.size, answers.length);
    }
    await using store = await openStore(url, { keyPrefix: 'sk-' });
    assert.deepEqual(await store.answers.unentered(10), []);
    assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, receipts.length);
  });

  it('says that its database is away, and goes on when it is back, with every receipt that it gave out', async () => {
    // Its own server: this one is killed.
    await using own = await startPostgres();
    await using service = await start(await own.fresh());
    const first = await ask(service);
    assert.equal(first.status, 200);
    await own.kill();
    const away = await ask(service);
    assert.deepEqual([away.status, away.body.error.code], [503, 'storage_unavailable'], away.text);
    assert.ok(Number(away.headers.get('retry-after')) > 0);
    assert.doesNotMatch(away.text, /postgres|ECONN|127\.0\.0\.1/);
    await own.start();
    const back = await untilAnswer('an answer', () => ask(service), isOk);
    for (const { headers } of [first, back]) {
      const id = headers.get('x-receipt-id') ?? '';
      const receipt = await untilAnswer('its receipt', () => receiptOf(service, id), isOk);
      assert.equal(receipt.body.provenance.receipt_id, id);
    }
  });
});
