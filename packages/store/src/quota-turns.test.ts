// Requests of many keys counted together: each key exactly to its limit, whoever else asks, and a failure reaches those it concerns.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store } from './index.ts';
import { kept, onEach } from './test/places.ts';

const DAY = '2026-01-01';

const keysOf = async (store: Store, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await store.keys.create({ tier: 'free' })).stored.id));

onEach(kept, 'requests that are counted together', ({ fresh }) => {
  it('are counted to the last one of each key, in two processes at once, whatever their limits', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using other = await openStore(url);
    const keys = await keysOf(one, 60);
    const limitOf = (key: number) => [3, 50, 7][key % 3] ?? 0;
    const asked = keys.flatMap((id, key) =>
      Array.from({ length: 12 }, (_, turn) => ({ id, key, store: turn % 2 ? one : other })),
    );
    // In no order that any of them shares.
    asked.sort((a, b) => ((a.key * 31 + 7) % 61) - ((b.key * 17 + 3) % 61));
    const taken = await Promise.all(
      asked.map(async ({ id, key, store }) => ({ key, ...(await store.quota.take(id, DAY, limitOf(key))) })),
    );
    for (const [key, id] of keys.entries()) {
      const ours = taken.filter((each) => each.key === key);
      const allowed = ours.filter(({ isAllowed }) => isAllowed).map(({ used }) => used);
      const expected = Math.min(limitOf(key), 12);
      assert.deepEqual(
        allowed.toSorted((a, b) => a - b),
        Array.from({ length: expected }, (_, i) => i + 1),
      );
      assert.equal(await one.quota.used(id, DAY), expected);
    }
  });

  it('fail with their statement, and those that come after it do not', async () => {
    const url = await fresh();
    await using store = await openStore(url);
    const [alone = '', other = ''] = await keysOf(store, 2);
    const take = (id: string) => store.quota.take(id, DAY, 50);
    // The first goes at once, the next two together; there is no such key as one of them, so that their statement fails.
    const taken = await Promise.allSettled([alone, 'nobody', other].map(take));
    assert.deepEqual(
      taken.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    assert.deepEqual(await take(other), { isAllowed: true, used: 1 });
    assert.deepEqual(await take(alone), { isAllowed: true, used: 2 });
  });
});
