// Receipts and usage of answers: stored at once, entered together, counted by key, model and day, deleted by age.
import assert from 'node:assert/strict';
import type { AnswerUsage, Store } from './index.ts';
import { databases, onEach } from './test/places.ts';

const used = (more: Partial<AnswerUsage> = {}): AnswerUsage => ({
  ...{ keyId: 'key_a', model: 'm', day: '2026-01-01', promptTokens: 10, cachedTokens: 4, completionTokens: 3 },
  ...more,
});
const receipt = (id: string) => ({ id, keyId: 'key_a', body: `{"id":"${id}"}` });
const unentered = async ({ answers }: Store) => (await answers.unentered(10)).map(({ id }) => id).join();

onEach(databases, 'receipts', (_place, test) => {
  test('name model files, each by its last name', async ({ answers }) => {
    const models = [
      { id: 'once', sha256: 'a' },
      { id: 'other', sha256: 'b' },
      { id: 'now', sha256: 'a' },
      { id: 'of an upstream', sha256: null },
    ];
    await answers.keep(models.map((model, i) => ({ ...receipt(`rwr_${i}`), body: JSON.stringify({ model }) })));
    assert.deepEqual(Object.fromEntries(await answers.modelNames()), { a: 'now', b: 'other' });
  });

  test('are stored together or not at all, in order', async (store) => {
    await assert.rejects(store.answers.keep([receipt('rwr_1'), receipt('rwr_1')]));
    assert.equal(await unentered(store), '');
    const one = await store.answers.keep([receipt('rwr_1')]);
    const three = await store.answers.keep([receipt('rwr_3'), receipt('rwr_2')]);
    assert.ok(three >= one + 2);
    assert.equal(await unentered(store), 'rwr_1,rwr_3,rwr_2');
  });

  test('are given to the key that asked, once they were entered', async ({ answers }) => {
    const one = await answers.keep([receipt('rwr_1')]);
    const two = await answers.keep([receipt('rwr_2')]);
    assert.equal(await answers.receipt('rwr_1', 'key_a'), undefined);
    assert.deepEqual(await answers.unentered(1), [{ seq: one, ...receipt('rwr_1') }]);
    await answers.enter(one, [used()]);
    assert.equal(await answers.receipt('rwr_1', 'key_a'), '{"id":"rwr_1"}');
    assert.equal(await answers.receipt('rwr_1', 'key_b'), undefined);
    assert.equal(await answers.receipt('rwr_2', 'key_a'), undefined);
    assert.deepEqual(await answers.unentered(10), [{ seq: two, ...receipt('rwr_2') }]);
  });

  test('are deleted by age, a number at a time, and never before they were entered', async (store) => {
    const { answers } = store;
    for (const id of ['rwr_1', 'rwr_2', 'rwr_3', 'rwr_4']) await answers.keep([receipt(id)]);
    const [, , third] = await answers.unentered(10);
    await answers.enter(third?.seq ?? 0, []);
    assert.equal(await answers.forget('rwr_9', 1), 1);
    assert.equal(await answers.forget('rwr_3', 10), 1);
    assert.equal(await answers.receipt('rwr_3', 'key_a'), '{"id":"rwr_3"}');
    assert.equal(await answers.forget('rwr_9', 10), 1);
    assert.equal(await unentered(store), 'rwr_4');
  });

  test('come with usage that is counted by key, model and day, within one batch and over several', async ({
    answers,
  }) => {
    const small = used({ promptTokens: 1, cachedTokens: 0, completionTokens: 1 });
    await answers.enter(4, [used(), small, used({ model: 'n' }), used({ keyId: 'key_b' })]);
    await answers.enter(6, [used(), used({ day: '2026-01-02' })]);
    assert.deepEqual(await answers.usage({ since: '2026-01-01', keyId: 'key_a' }), [
      { ...used({ day: '2026-01-02' }), requests: 1 },
      { ...used({ promptTokens: 21, cachedTokens: 8, completionTokens: 7 }), requests: 3 },
      { ...used({ model: 'n' }), requests: 1 },
    ]);
    assert.equal(await answers.tokensOf('key_a', '2026-01-01'), 28 + 13);
    assert.equal(await answers.tokensOf('key_c', '2026-01-01'), 0);
    assert.equal((await answers.usage({ since: '2026-01-02' })).length, 1);
  });
});
