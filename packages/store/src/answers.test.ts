// Receipts and usage of answers: kept together, counted by key, model and day, forgotten by age.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnsweredRequest, openStore } from './index.ts';

const request = (more: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
  keyId: 'key_a',
  model: 'm',
  day: '2026-01-01',
  receiptId: 'rwr_1',
  receipt: '{"a":1}',
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 3,
  ...more,
});

describe('answers', () => {
  it('are counted by key, model and day, within one batch and over several', async () => {
    await using store = await openStore('sqlite::memory:');
    await store.answers.record([
      request(),
      request({ receiptId: 'rwr_2', promptTokens: 1, cachedTokens: 0, completionTokens: 1 }),
      request({ receiptId: 'rwr_3', model: 'n' }),
      request({ receiptId: 'rwr_4', keyId: 'key_b' }),
    ]);
    await store.answers.record([request({ receiptId: 'rwr_5' }), request({ receiptId: 'rwr_6', day: '2026-01-02' })]);
    assert.deepEqual(await store.answers.usage({ since: '2026-01-01', keyId: 'key_a' }), [
      {
        keyId: 'key_a',
        model: 'm',
        day: '2026-01-02',
        requests: 1,
        promptTokens: 10,
        cachedTokens: 4,
        completionTokens: 3,
      },
      {
        keyId: 'key_a',
        model: 'm',
        day: '2026-01-01',
        requests: 3,
        promptTokens: 21,
        cachedTokens: 8,
        completionTokens: 7,
      },
      {
        keyId: 'key_a',
        model: 'n',
        day: '2026-01-01',
        requests: 1,
        promptTokens: 10,
        cachedTokens: 4,
        completionTokens: 3,
      },
    ]);
    assert.equal(await store.answers.tokensOf('key_a', '2026-01-01'), 28 + 13);
    assert.equal(await store.answers.tokensOf('key_c', '2026-01-01'), 0);
    assert.deepEqual((await store.answers.usage({ since: '2026-01-02' })).length, 1);
  });

  it('are kept whole or not at all', async () => {
    await using store = await openStore('sqlite::memory:');
    await assert.rejects(store.answers.record([request(), request()]));
    assert.deepEqual(await store.answers.usage({ since: '2000-01-01' }), []);
    assert.deepEqual(await store.answers.unlogged(10), []);
  });

  it('give their receipt to the key that asked, once it is in the ledger', async () => {
    await using store = await openStore('sqlite::memory:');
    await store.answers.record([request(), request({ receiptId: 'rwr_2', receipt: '{"a":2}' })]);
    assert.equal(await store.answers.receipt('rwr_1', 'key_a'), undefined);
    assert.deepEqual(await store.answers.unlogged(1), [{ id: 'rwr_1', body: '{"a":1}' }]);
    await store.answers.markLogged(['rwr_1', 'rwr_none']);
    assert.equal(await store.answers.receipt('rwr_1', 'key_a'), '{"a":1}');
    assert.equal(await store.answers.receipt('rwr_1', 'key_b'), undefined);
    assert.deepEqual(await store.answers.unlogged(10), [{ id: 'rwr_2', body: '{"a":2}' }]);
  });

  it('are forgotten by age, so many at a time, and never before they are in the ledger', async () => {
    await using store = await openStore('sqlite::memory:');
    const ids = ['rwr_1', 'rwr_2', 'rwr_3', 'rwr_4'];
    await store.answers.record(ids.map((receiptId) => request({ receiptId })));
    await store.answers.markLogged(['rwr_1', 'rwr_3', 'rwr_4']);
    assert.equal(await store.answers.forget('rwr_4', 1), 1);
    assert.equal(await store.answers.forget('rwr_4', 10), 1);
    assert.equal(await store.answers.receipt('rwr_4', 'key_a'), '{"a":1}');
    assert.deepEqual(
      (await store.answers.unlogged(10)).map(({ id }) => id),
      ['rwr_2'],
    );
    assert.equal(await store.answers.tokensOf('key_a', '2026-01-01'), 52);
  });
});
