// Receipts and usage of answers: kept at once, entered together, counted by key, model and day, forgotten by age.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type AnswerUsage, openStore } from './index.ts';
import { databases, onEach } from './test/places.ts';

const used = (more: Partial<AnswerUsage> = {}): AnswerUsage => ({
  ...{ keyId: 'key_a', model: 'm', day: '2026-01-01', promptTokens: 10, cachedTokens: 4, completionTokens: 3 },
  ...more,
});
const receipt = (id: string, keyId = 'key_a') => ({ id, keyId, body: `{"id":"${id}"}` });

onEach(databases, 'what answers used', (place) => {
  it('is counted by key, model and day, within one batch and over several', async () => {
    await using store = await openStore(await place.fresh());
    await store.answers.enter(4, [
      used(),
      used({ promptTokens: 1, cachedTokens: 0, completionTokens: 1 }),
      used({ model: 'n' }),
      used({ keyId: 'key_b' }),
    ]);
    await store.answers.enter(6, [used(), used({ day: '2026-01-02' })]);
    assert.deepEqual(await store.answers.usage({ since: '2026-01-01', keyId: 'key_a' }), [
      { ...used({ day: '2026-01-02' }), requests: 1 },
      { ...used({ promptTokens: 21, cachedTokens: 8, completionTokens: 7 }), requests: 3 },
      { ...used({ model: 'n' }), requests: 1 },
    ]);
    assert.equal(await store.answers.tokensOf('key_a', '2026-01-01'), 28 + 13);
    assert.equal(await store.answers.tokensOf('key_c', '2026-01-01'), 0);
    assert.deepEqual((await store.answers.usage({ since: '2026-01-02' })).length, 1);
  });
});

onEach(databases, 'receipts', (place) => {
  it('tell what model files are called, by the last name of each', async () => {
    await using store = await openStore(await place.fresh());
    const named = (id: string, model: object) => ({ ...receipt(id), body: JSON.stringify({ model }) });
    await store.answers.keep([
      named('rwr_1', { id: 'once', sha256: 'a' }),
      named('rwr_2', { id: 'other', sha256: 'b' }),
      named('rwr_3', { id: 'now', sha256: 'a' }),
      named('rwr_4', { id: 'of an upstream', sha256: null }),
    ]);
    assert.deepEqual(Object.fromEntries(await store.answers.modelNames()), { a: 'now', b: 'other' });
  });

  it('are kept whole or not at all, in order', async () => {
    await using store = await openStore(await place.fresh());
    await assert.rejects(store.answers.keep([receipt('rwr_1'), receipt('rwr_1')]));
    assert.deepEqual(await store.answers.unentered(10), []);
    const one = await store.answers.keep([receipt('rwr_1')]);
    const three = await store.answers.keep([receipt('rwr_3'), receipt('rwr_2')]);
    assert.ok(three >= one + 2);
    assert.equal((await store.answers.unentered(10)).map(({ id }) => id).join(), 'rwr_1,rwr_3,rwr_2');
  });

  it('are given to the key that asked, once they were entered', async () => {
    await using store = await openStore(await place.fresh());
    const one = await store.answers.keep([receipt('rwr_1')]);
    const two = await store.answers.keep([receipt('rwr_2')]);
    assert.equal(await store.answers.receipt('rwr_1', 'key_a'), undefined);
    assert.deepEqual(await store.answers.unentered(1), [{ seq: one, ...receipt('rwr_1') }]);
    await store.answers.enter(one, [used()]);
    assert.equal(await store.answers.receipt('rwr_1', 'key_a'), '{"id":"rwr_1"}');
    assert.equal(await store.answers.receipt('rwr_1', 'key_b'), undefined);
    assert.equal(await store.answers.receipt('rwr_2', 'key_a'), undefined);
    assert.deepEqual(await store.answers.unentered(10), [{ seq: two, ...receipt('rwr_2') }]);
  });

  it('are forgotten by age, so many at a time, and never before they were entered', async () => {
    await using store = await openStore(await place.fresh());
    const ids = ['rwr_1', 'rwr_2', 'rwr_3', 'rwr_4'];
    for (const id of ids) await store.answers.keep([receipt(id)]);
    const [, , third] = await store.answers.unentered(10);
    await store.answers.enter(third?.seq ?? 0, []);
    assert.equal(await store.answers.forget('rwr_9', 1), 1);
    assert.equal(await store.answers.forget('rwr_3', 10), 1);
    assert.equal(await store.answers.receipt('rwr_3', 'key_a'), '{"id":"rwr_3"}');
    assert.equal(await store.answers.forget('rwr_9', 10), 1);
    assert.equal((await store.answers.unentered(10)).map(({ id }) => id).join(), 'rwr_4');
  });
});
