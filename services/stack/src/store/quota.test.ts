// Quotas: counted together, each exactly to its limit; large ones leased in blocks, and exact when processes stop.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { checkStore, QuotaBlocks, QuotaTable, type QuotaUse } from '@strata/db';
import { openStore, type Store, stackSchema } from './index.ts';
import { databaseOf, kept, onEach, postgres } from './test/backends.ts';

const [DAY, LIMIT] = ['2026-01-01', 10_000];

const createKeys = async ({ keys }: Store, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await keys.create({ tier: 'free' })).stored.id));

onEach(kept, 'requests that are counted together', (_backend, test) => {
  test('are counted to the last one of each key, in two processes at once, whatever their limits', async (one, url) => {
    await using other = await openStore(url);
    const keys = await createKeys(one, 60);
    const limitOf = (key: number) => [3, 50, 7, 0][key % 4] ?? 0;
    const asked = keys.flatMap((id, key) =>
      Array.from({ length: 12 }, (_, request) => ({ id, key, store: request % 2 ? one : other })),
    );
    // In a different order for each.
    asked.sort((a, b) => ((a.key * 31 + 7) % 61) - ((b.key * 17 + 3) % 61));
    const taken = await Promise.all(
      asked.map(async ({ id, key, store }) => ({ key, ...(await store.quota.take(id, DAY, limitOf(key))) })),
    );
    for (const [key, id] of keys.entries()) {
      const allowed = taken.flatMap((each) => (each.key === key && each.isAllowed ? [each.used] : []));
      const expected = Math.min(limitOf(key), 12);
      assert.deepEqual(new Set(allowed), new Set(Array.from({ length: expected }, (_, i) => i + 1)));
      assert.deepEqual([allowed.length, await one.quota.used(id, DAY)], [expected, expected]);
    }
    assert.deepEqual(await one.quota.take(keys[0] ?? '', '2026-01-02', 3), { isAllowed: true, used: 1 });
    assert.deepEqual(await one.quota.take(keys[0] ?? '', '2026-01-03', 0), { isAllowed: false, used: 0 });
  });

  test('are counted several at once, all or none, in two processes and for every size of quota', async (one, url) => {
    await using other = await openStore(url);
    const [small = '', large = ''] = await createKeys(one, 2);
    for (const [id, limit, size] of [[small, 50, 15] as const, [large, LIMIT, 3_000] as const]) {
      const take = (store: Store, requests: number) => store.quota.take(id, DAY, limit, requests);
      assert.deepEqual(await take(one, limit + 1), { isAllowed: false, used: 0 });
      const taken = await Promise.all([one, other, one, other, one].map((store) => take(store, size)));
      assert.equal(taken.filter(({ isAllowed }) => isAllowed).length, 3);
      assert.equal(await one.quota.used(id, DAY), 3 * size);
      assert.equal((await take(other, 1)).isAllowed, true, 'fewer still fit');
    }
  });

  test('stay in the latest day of their key, across restarts, when a clock is set back', async (store, url) => {
    const [spent = '', other = ''] = await createKeys(store, 2);
    for (const limit of [2, LIMIT]) {
      for (let i = 0; i < limit && i < 2; i += 1) await store.quota.take(spent, '2026-01-02', limit);
      await using restarted = await openStore(url);
      for (const each of [store, restarted]) {
        const before = await each.quota.take(spent, DAY, limit);
        assert.equal(before.isAllowed, limit > 2, `${limit} a day`);
        assert.equal(await each.quota.used(spent, DAY), 0, 'nothing is counted for a day that is over');
      }
    }
    assert.deepEqual(await store.quota.take(other, DAY, 2), { isAllowed: true, used: 1 }, 'each key has its own days');
    assert.deepEqual(await store.quota.take(spent, '2026-01-03', 2), { isAllowed: true, used: 1 });
  });

  test('fail with their statement, and those that come after it do not', async (store) => {
    const [alone = '', other = ''] = await createKeys(store, 2);
    const take = (id: string) => store.quota.take(id, DAY, 50);
    // The first is sent at once, the next two together; one of them is not a key, so that their statement fails.
    const taken = await Promise.allSettled([alone, 'no-key', other].map(take));
    assert.equal(taken.map(({ status }) => status).join(), 'fulfilled,rejected,rejected');
    assert.deepEqual(await take(other), { isAllowed: true, used: 1 });
    assert.deepEqual(await take(alone), { isAllowed: true, used: 2 });
  });
});

async function openMany(url: string, count: number) {
  const stores = await Promise.all(Array.from({ length: count }, () => openStore(url, { poolSize: 4 })));
  const { stored } = await (stores[0] as Store).keys.create({ tier: 'standard' });
  return { stores, keyId: stored.id };
}

/** Sends requests until one is refused, several at once; how many were allowed. */
async function takeAll(store: Pick<Store, 'quota'>, keyId: string, max = Number.POSITIVE_INFINITY): Promise<number> {
  let allowed = 0;
  let isOver = false;
  const taker = async () => {
    while (!isOver && allowed < max) {
      const { isAllowed, used } = await store.quota.take(keyId, DAY, LIMIT);
      if (isAllowed) allowed += 1;
      else isOver = true;
      assert.ok(used >= allowed && used <= LIMIT, 'at least as many are reported as were allowed');
    }
  };
  await Promise.all(Array.from({ length: 16 }, taker));
  return allowed;
}

onEach([postgres], 'a large quota', (_backend, _test, onFresh) => {
  onFresh('is spent by several processes to the last request only, and exact when they have stopped', async (url) => {
    const { stores, keyId } = await openMany(url, 3);
    const counts = await Promise.all(stores.map((store) => takeAll(store, keyId)));
    // A refused process does not know what other processes still held; they have spent it by now.
    const allowed = counts.reduce((sum, count) => sum + count, 0);
    assert.equal(allowed, LIMIT);
    assert.deepEqual(await stores[0]?.quota.take(keyId, DAY, LIMIT), { isAllowed: false, used: LIMIT });
    for (const store of stores) await store[Symbol.asyncDispose]();
    assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
  });

  onFresh('loses no more than a block with a process that was killed, and gives none of it twice', async (url) => {
    const { stores, keyId } = await openMany(url, 2);
    const [killed, other] = stores as [Store, Store];
    // The lease of a killed process is neither spent nor returned.
    const [before, after] = [await takeAll(killed, keyId, 3_000), await takeAll(other, keyId)];
    assert.ok(before + after <= LIMIT && before + after >= LIMIT - 200, `${before} + ${after}`);
    for (const store of [other, killed]) await store[Symbol.asyncDispose]();
    await using again = await openStore(url);
    assert.equal(await again.quota.used(keyId, DAY), before + after, 'what it held is returned when it stops in order');
  });

  onFresh(
    'is returned when its key is idle, another day starts at zero, and few statements are needed',
    async (url) => {
      const { stores, keyId } = await openMany(url, 1);
      for (const store of stores) await store[Symbol.asyncDispose]();
      await using db = databaseOf(url);
      const table = new QuotaTable(db);
      const lease = mock.method(table, 'lease');
      let now = 0;
      await using blocks = new QuotaBlocks(table, () => now);
      const take = async (day = DAY): Promise<QuotaUse> => blocks.take(keyId, day, LIMIT);
      for (let i = 1; i <= 20; i += 1) assert.deepEqual(await take(), { isAllowed: true, used: i });
      assert.ok((await table.used(keyId, DAY)) > 20, 'some are held in advance');
      now += 4_000;
      await blocks.returnIdle();
      assert.ok((await table.used(keyId, DAY)) > 20);
      // Includes what another process has counted by now.
      for (let i = 0; i < 7; i += 1) await table.take(keyId, DAY, LIMIT);
      assert.deepEqual(await take(), { isAllowed: true, used: 28 });
      now += 6_000;
      await blocks.returnIdle();
      assert.deepEqual([await table.used(keyId, DAY), await take('2026-01-02')], [28, { isAllowed: true, used: 1 }]);
      lease.mock.resetCalls();
      let left = 20_000;
      const taker = async () => {
        for (; left > 0; left -= 1) await blocks.take(keyId, '2026-01-03', 100_000_000);
      };
      await Promise.all(Array.from({ length: 16 }, taker));
      assert.ok(lease.mock.callCount() <= 200, `${lease.mock.callCount()} leases`);
    },
  );
});
