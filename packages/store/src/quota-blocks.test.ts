// Large quotas leased in blocks: never more than the limit among several processes, and exact when they stop.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Kysely } from 'kysely';
import { checkStore, openStore, type QuotaUse, type Store } from './index.ts';
import { openPool, postgresDialect } from './postgres-dialect.ts';
import { QuotaTable } from './quota.ts';
import { QuotaBlocks } from './quota-blocks.ts';
import type { Database } from './schema.ts';
import { onEach, postgres } from './test/places.ts';

const DAY = '2026-01-01';
const LIMIT = 10_000;

/** Stores of one database, and a key of theirs. */
async function openMany(url: string, count: number) {
  const stores = await Promise.all(Array.from({ length: count }, () => openStore(url, { poolSize: 4 })));
  const { stored } = await (stores[0] as Store).keys.create({ tier: 'standard' });
  return { stores, keyId: stored.id };
}

/** Asks until it is refused, so many at once; how many were allowed. */
async function takeAll(store: Pick<Store, 'quota'>, keyId: string, most = Number.POSITIVE_INFINITY): Promise<number> {
  let allowed = 0;
  let isOver = false;
  const taker = async () => {
    while (!isOver && allowed < most) {
      const { isAllowed, used } = await store.quota.take(keyId, DAY, LIMIT);
      if (isAllowed) allowed += 1;
      else isOver = true;
      assert.ok(used >= allowed, 'no fewer are told than were answered');
      assert.ok(used <= LIMIT);
    }
  };
  await Promise.all(Array.from({ length: 16 }, taker));
  return allowed;
}

onEach([postgres], 'a large quota', ({ fresh }) => {
  it('is spent by several processes to the last request and not beyond, and is exact when they have stopped', async () => {
    const url = await fresh();
    const { stores, keyId } = await openMany(url, 3);
    const counts = await Promise.all(stores.map((store) => takeAll(store, keyId)));
    const total = counts.reduce((sum, count) => sum + count, 0);
    // Whoever was refused knows nothing of what others had still to spend; they have spent it by now.
    assert.equal(total, LIMIT);
    assert.deepEqual(await stores[0]?.quota.take(keyId, DAY, LIMIT), { isAllowed: false, used: LIMIT });
    for (const store of stores) await store[Symbol.asyncDispose]();
    assert.deepEqual((await checkStore(url)).findings, []);
  });

  it('loses no more than a block with a process that was killed, and gives none of it twice', async () => {
    const url = await fresh();
    const { stores, keyId } = await openMany(url, 2);
    const [killed, other] = stores as [Store, Store];
    // What a killed process has leased it neither spends nor gives back.
    const before = await takeAll(killed, keyId, 3_000);
    const after = await takeAll(other, keyId);
    assert.ok(before + after <= LIMIT && before + after >= LIMIT - 200, `${before} + ${after}`);
    await other[Symbol.asyncDispose]();
    await killed[Symbol.asyncDispose]();
    await using again = await openStore(url);
    assert.equal(
      await again.quota.used(keyId, DAY),
      before + after,
      'what it held is there again when it stops in order',
    );
  });

  it('goes back when its key asks elsewhere, and another day begins anew', async () => {
    const url = await fresh();
    const { stores, keyId } = await openMany(url, 1);
    const [store] = stores as [Store];
    const pool = openPool(url, { poolSize: 2 });
    const table = new QuotaTable(new Kysely<Database>({ dialect: postgresDialect(pool) }));
    let now = 0;
    await using blocks = new QuotaBlocks(table, () => now);
    const take = async (day = DAY): Promise<QuotaUse> => blocks.take(keyId, day, LIMIT);
    for (let i = 1; i <= 20; i += 1) assert.deepEqual(await take(), { isAllowed: true, used: i });
    assert.ok((await table.used(keyId, DAY)) > 20, 'some are held in advance');
    now += 4_000;
    await blocks.returnIdle();
    assert.ok((await table.used(keyId, DAY)) > 20);
    // What another process counted meanwhile is told.
    for (let i = 0; i < 7; i += 1) await table.take(keyId, DAY, LIMIT);
    assert.deepEqual(await take(), { isAllowed: true, used: 28 });
    now += 6_000;
    await blocks.returnIdle();
    assert.equal(await table.used(keyId, DAY), 28);
    assert.deepEqual(await take('2026-01-02'), { isAllowed: true, used: 1 });
    await store[Symbol.asyncDispose]();
    await blocks[Symbol.asyncDispose]();
    await pool.end();
  });

  it('costs a statement in a hundred requests or fewer', async () => {
    const url = await fresh();
    const { stores, keyId } = await openMany(url, 1);
    const [store] = stores as [Store];
    const pool = openPool(url, { poolSize: 4 });
    let statements = 0;
    const table = new (class extends QuotaTable {
      override lease(...asked: Parameters<QuotaTable['lease']>) {
        statements += 1;
        return super.lease(...asked);
      }
    })(new Kysely<Database>({ dialect: postgresDialect(pool) }));
    const perSecond = async (quota: Store['quota'], count: number) => {
      const startedAt = performance.now();
      let left = count;
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (; left > 0; left -= 1) await quota.take(keyId, DAY, 100_000_000);
        }),
      );
      return Math.round((count / (performance.now() - startedAt)) * 1_000);
    };
    await perSecond(table, 500);
    const single = await perSecond(table, 3_000);
    statements = 0;
    await using leased = new QuotaBlocks(table);
    const blocks = await perSecond(leased, 100_000);
    console.log(`requests counted a second: ${single} by a statement each, ${blocks} by blocks`);
    assert.ok(statements <= 1_000, `${statements} leases`);
    await leased[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await pool.end();
  });
});
