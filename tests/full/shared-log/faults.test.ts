// A stopped writer, an unreachable database, a commit without an answer, altered rows.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { BEGIN_WRITING, type StoreError } from '@strata/db';
import { Metrics } from '@strata/http';
import { checkLog, type DatabaseLog, type LedgerTable, LogError, openLog } from '@strata/log';
import { signNote } from '@strata/receipts';
import { openStore } from '@strata/stack/store';
import pg from 'pg';
import { appendAll, upTo } from '../../../packages/log/src/test/conformance.ts';
import { idOf, keysOf, leafOf, ORIGIN, testSigner } from '../../../packages/log/src/test/fixture.ts';
import { failsWith } from '../../../packages/log/src/test/log-on-disk.ts';
import { addLedgerRefusal } from '../../../services/stack/src/roles/stack-metrics.ts';
import { exec, postgres, rows } from '../../../services/stack/src/store/test/backends.ts';
import { startPostgres } from '../../support/database/postgres.ts';
import { startCuttingProxy } from '../../support/shared-log/cutting-proxy.ts';
import { altered, openNode, openShared, withMethods } from '../../support/shared-log/database.ts';
import { until as untilSo } from '../../support/until.ts';

const FROZEN = path.join(import.meta.dirname, '../../support/shared-log/frozen-process.ts');
const until = (holds: () => boolean | Promise<boolean>) => untilSo(holds, { limitMs: 60_000 });

const stoppedBy = (log: DatabaseLog): string => {
  const error = log.stats().backgroundError;
  return error instanceof LogError ? error.code : '';
};

/** Everything adds up, and there are so many leaves, each number once. */
async function check(url: string, numbers: readonly number[]): Promise<void> {
  await using shared = await openShared(url);
  const { size } = await checkLog({ origin: ORIGIN, keys: keysOf(2), table: shared.log });
  const leaves = await shared.log.leaves(0, size);
  const texts = leaves.map((leaf) => Buffer.from(leaf).toString()).sort();
  assert.deepEqual(texts, numbers.map((number) => Buffer.from(leafOf(number)).toString()).sort());
}

describe('a log in a database', { skip: postgres.skip }, () => {
  it('finds at any node what another has just given out', async () => {
    const url = await postgres.fresh();
    await using a = await openNode(url);
    await using b = await openNode(url);
    for (const number of upTo(30)) {
      const [giving, finding] = number % 2 === 0 ? [a, b] : [b, a];
      await giving.append(leafOf(number));
      const receipt = await finding.receipt(idOf(leafOf(number)));
      assert.equal(receipt?.index, number);
      assert.equal(receipt.checkpoint, giving.checkpoint(), 'one checkpoint for every size');
    }
    await until(() => a.checkpoint() === b.checkpoint());
  });

  it('continues without a writer that stops while it holds the lock, and the writer forks nothing when it resumes', async () => {
    const url = await postgres.fresh();
    await using log = await openNode(url);
    await log.append(leafOf(0));
    const child = spawn(process.execPath, [FROZEN, url], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const exit = once(child, 'exit');
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      assert.equal((await lines.next()).value, 'frozen');
      assert.equal((await log.append(leafOf(1))).index, 2, 'the turn was taken from it');
      await appendAll(log, [2, 3]);
      child.kill('SIGCONT');
      assert.equal((await lines.next()).value, 'placed 5', 'it took the lock again');
      assert.deepEqual(await exit, [0, null]);
    } finally {
      child.kill('SIGKILL');
    }
    await check(url, [0, 1, 2, 3, 1_000, 1_001]);
  });

  it('writes a batch whose commit got no answer once, whether the server saw it or not', async () => {
    const url = await postgres.fresh();
    await using proxy = await startCuttingProxy(url);
    await using log = await openNode(proxy.url);
    await using other = await openNode(url);
    await appendAll(log, upTo(10));
    let next = 10;
    for (const isSent of [true, false, true, false]) {
      proxy.cutNextCommit({ isSent });
      const numbers = upTo(next + 7).slice(next);
      const placed = await Promise.all([appendAll(log, numbers), other.append(leafOf(1_000 + next))]);
      const indexes = [...placed[0], placed[1]].map(({ index }) => index).sort((a, b) => a - b);
      assert.equal(new Set(indexes).size, 8);
      for (const [at, { index }] of placed[0].entries())
        assert.equal((await other.receipt(idOf(leafOf(next + at))))?.index, index);
      next += 7;
    }
    assert.equal(proxy.cuts(), 4);
    await check(url, [...upTo(next), 1_010, 1_017, 1_024, 1_031]);
  });

  it('refuses with a clear error while the database is unreachable, and continues afterwards', async () => {
    await using own = await startPostgres();
    const url = await own.fresh();
    await using log = await openNode(url);
    await appendAll(log, upTo(300));
    await own.kill();
    // What the server leaves behind answers for some moments more.
    const acknowledged: number[] = upTo(300);
    const refused: unknown[] = [];
    const append = (number: number) =>
      log.append(leafOf(number)).then(
        () => acknowledged.push(number),
        (error) => refused.push(error),
      );
    for (let number = 300; !refused.some((error) => /does not respond/.test(String(error))); number += 1)
      await append(number);
    assert.ok(refused.every((error) => /unreachable|connection-lost/.test((error as StoreError).code)));
    const before = log.checkpoint();
    const count = acknowledged.length;
    await assert.rejects(log.append(leafOf(9_999)), /The database server does not respond/);
    assert.equal(log.checkpoint(), before);
    assert.equal(log.stats().refusal, undefined, 'it goes on by itself');
    await own.start();
    const next = () => append(10_000 + acknowledged.length + refused.length);
    await until(async () => (await next()) > 0 && acknowledged.length > count);
    await Promise.all(upTo(100).map((number) => append(20_000 + number)));
    for (const number of acknowledged) assert.ok(await log.receipt(idOf(leafOf(number))), `leaf ${number} is lost`);
    await using shared = await openShared(url);
    assert.equal((await checkLog({ table: shared.log, origin: ORIGIN, keys: keysOf(2) })).size, log.size);
  });

  it('refuses a head that was altered, in appends, in what it serves and at the start', async () => {
    const url = await postgres.fresh();
    const numbers = upTo(700);
    await using log = await openNode(url);
    await appendAll(log, numbers);
    const before = log.checkpoint();
    const metrics = new Metrics();
    addLedgerRefusal(metrics, { log, problem: () => undefined, retiredAt: () => undefined });
    const isRefusing = async () => /^strata_ledger_refusing 1$/m.test(await metrics.registry.metrics());
    assert.equal(await isRefusing(), false);
    const unknownSigner = { ...testSigner(9), name: ORIGIN };
    const tampering: readonly (readonly [string, RegExp, RegExp])[] = [
      ["root = sha256('other')", /forked/, /corrupt-checkpoint/],
      ['size = size + 1', /corrupt-checkpoint/, /corrupt-checkpoint/],
      ['size = size - 1', /lost-leaves/, /corrupt-checkpoint/],
      ["edge = edge || sha256('more')", /corrupt-checkpoint/, /corrupt-checkpoint/],
      ["note = replace(note, '700', '701')", /corrupt-checkpoint/, /corrupt-checkpoint/],
      ["origin = 'other.example/ledger'", /wrong-origin/, /wrong-origin/],
      [`note = '${signNote(before.slice(0, before.indexOf('\n\n') + 1), [unknownSigner])}'`, /wrong-key/, /wrong-key/],
    ];
    for (const [change, running, starting] of tampering) {
      {
        await using _altered = await altered(url, ['ledger_head'], `update ledger_head set ${change}`);
        await assert.rejects(log.append(leafOf(9_999)), { name: 'LogError', code: running }, change);
        await assert.rejects(openNode(url), { name: 'LogError', code: starting }, change);
        await until(() => running.test(stoppedBy(log)));
        assert.ok(await isRefusing(), change);
        assert.equal(log.checkpoint(), before);
      }
      await until(() => stoppedBy(log) === '');
      assert.equal(await isRefusing(), false);
    }
    assert.equal((await log.append(leafOf(700))).index, 700, 'once it is what it was');
    await check(url, upTo(701));
  });

  it('refuses leaves and hashes that were altered, also under a checkpoint that a key of ours signed', async () => {
    const url = await postgres.fresh();
    {
      await using log = await openNode(url);
      await appendAll(log, upTo(600));
    }
    for (const damage of [
      "update ledger_leaves set hash = sha256('other') where leaf_index = 599",
      "update ledger_subtrees set hash = sha256('other') where subtree_index = 1",
    ]) {
      await using _altered = await altered(url, ['ledger_leaves', 'ledger_subtrees'], damage);
      await assert.rejects(openNode(url), failsWith('corrupt-tile'), damage);
    }
    {
      await using served = await openNode(url);
      const damage = "update ledger_leaves set hash = sha256('other') where leaf_index in (300, 599)";
      await using _altered = await altered(url, ['ledger_leaves', 'ledger_head'], damage);
      await served.append(leafOf(600));
      assert.ok(await served.read('tile/0/002.p/89'), 'with the hashes that it has read before');
      for (const tile of ['tile/0/001', 'tile/entries/001', 'tile/0/002.p/89', 'tile/entries/002.p/89'])
        await assert.rejects(async () => served.read(tile), failsWith('corrupt-tile'));
    }
    await exec(url, "update ledger_leaves set leaf = 'other' where leaf_index = 300");
    await using log = await openNode(url);
    await assert.rejects(log.receipt(idOf(leafOf(300))), failsWith('corrupt-tile'));
    for (const tile of ['tile/entries/001', 'tile/entries/001.p/60'])
      await assert.rejects(async () => log.read(tile), failsWith('corrupt-tile'));
    assert.ok(await log.read('tile/entries/001.p/44'), 'what lies before it');

    // Another history, signed by the ledger's own key, stored instead of the one that this node serves.
    const otherUrl = await postgres.fresh();
    {
      await using other = await openNode(otherUrl);
      await appendAll(other, upTo(900).reverse());
    }
    await using from = await openShared(otherUrl);
    const forged = (await from.log.head()) ?? assert.fail();
    const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString('hex')}'`;
    await exec(
      url,
      `update ledger_head set size = 900, root = ${hex(forged.root)}, edge = ${hex(forged.edge)}, note = '${forged.note}';
       update ledger_leaves set hash = sha256('\\x00'::bytea || leaf);
       insert into ledger_leaves select n, sha256(n::text::bytea), '' from generate_series(600, 899) n`,
    );
    await until(() => /forked|corrupt-tile/.test(stoppedBy(log)));
    await assert.rejects(log.append(leafOf(1)), { name: 'LogError' });
    assert.match(log.checkpoint(), /\n600\n/);
  });

  it('does not wait behind writers of the store, however many do', async () => {
    const url = await postgres.fresh();
    await using store = await openStore(url, { poolSize: 2 });
    const { log: table } = store.ledger ?? assert.fail();
    await using log = await openLog({ origin: ORIGIN, keys: keysOf(2), table });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(BEGIN_WRITING);
    const waiting = upTo(6).map((number) => store.domains.add([`d${number}.com`], { source: 'test' }));
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await until(async () => (await rows(url, waits)).length === 2);
    assert.equal((await log.append(leafOf(0))).index, 0);
    assert.ok(await log.receipt(idOf(leafOf(0))));
    await client.query('rollback');
    await client.end();
    await Promise.all(waiting);
  });

  it('serves its newly signed head when a read that began earlier ends later', async () => {
    await using shared = await openShared(await postgres.fresh());
    const { log: table } = shared;
    let keys = keysOf(2);
    const rotated = { ...keys, publicKeys: () => keys.publicKeys() };
    Object.defineProperty(rotated, 'signer', { get: () => keys.signer });
    const own: Partial<LedgerTable> = {};
    await using log = await openLog({ origin: ORIGIN, keys: rotated, table: withMethods(table, own) });
    const [hasRead, hasSigned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const served: string[] = [];
    own.head = async () => {
      served.push(log.checkpoint());
      const head = await table.head();
      hasRead.resolve();
      await hasSigned.promise;
      return head;
    };
    await hasRead.promise;
    keys = keysOf(3, 2);
    await log.resign();
    const signed = log.checkpoint();
    assert.notEqual(signed, served[0]);
    hasSigned.resolve();
    await until(() => served.length > 1);
    assert.equal(served[1], signed);
  });

  it('moves its head from where it was, or not at all', async () => {
    const url = await postgres.fresh();
    await using log = await openNode(url);
    await appendAll(log, upTo(5));
    await using shared = await openShared(url);
    const { log: table } = shared;
    const stale = (await table.head()) ?? assert.fail();
    await appendAll(log, [5, 6]);
    // A database that grants the turn to two at once.
    const withHead: LedgerTable['withHead'] = (work) => table.withHead((_newest, grow) => work(stale, grow));
    const broken = withMethods(table, { head: async () => stale, withHead });
    await using forking = await openLog({ origin: ORIGIN, keys: keysOf(2), table: broken });
    await assert.rejects(forking.append(leafOf(100)));
    // One without leaves, which no row stands against.
    await using signing = await openLog({ origin: ORIGIN, keys: keysOf(3, 2), table: broken });
    await assert.rejects(signing.resign(), failsWith('forked'));
    await check(url, upTo(7));
  });
});
