// Blocks of two exporters, step by step, in ClickHouse in this process.
import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { it } from 'node:test';
import { DAY_MS } from '@strata/analytics';
import { missingChdb } from '../../../../tests/support/clickhouse/missing-chdb.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { type ClickHouse, openClickHouse } from '../connection/clickhouse.ts';
import { createTables, removeTables } from '../tables/create-tables.ts';
import { BlockWriter, finishLastBlock, TakenOver } from './apply-block.ts';
import { appliedPosition, committedPosition } from './position.ts';

/** Opened for each test: a process of several tests has one at a time. */
async function withTables(test: (clickhouse: ClickHouse, folder: string) => Promise<void>): Promise<void> {
  await using files = await temporaryDirectory();
  // As after a kill.
  await mkdir(`${files.path}/strata-inserts`);
  await writeFile(`${files.path}/strata-inserts/1.json`, '[1]');
  await using clickhouse = await openClickHouse(`chdb:${files.path}`);
  await createTables(clickhouse);
  await test(clickhouse, files.path);
}
const step = (name: string, test: Parameters<typeof withTables>[0]) =>
  it(name, { skip: missingChdb }, () => withTables(test));

const position = { storeId: 's', stage: 'log', seq: 1, scanId: 1, domainId: 0 } as const;
const counts = { entered: 0, lost: 0, exited: 0, migrated: 0, reclassified: 0 };
const row = (day: number) => ({ provider: 'p', category: 'c', day, gained: 1, ...counts });
/** The days that were counted, each as often as it was. */
const daysIn = async (of: ClickHouse) => {
  const text = 'SELECT toInt32(day) AS day, sum(gained) AS n FROM change_days GROUP BY day ORDER BY day';
  return (await of.query<{ day: number; n: number }>(text)).map(({ day, n }) => `${day}:${n}`).join(' ');
};
async function written(of: ClickHouse, before: Awaited<ReturnType<typeof committedPosition>>, day: number) {
  const writer = new BlockWriter(of, before);
  await writer.add({ change_days: [row(day)] });
  return writer;
}
/** Stalls before the statements that match, as often as they come, until what is awaited has run. */
function stalled(of: ClickHouse, match: RegExp, elsewhere: () => Promise<unknown>): ClickHouse {
  let once: Promise<unknown> | undefined;
  const command: ClickHouse['command'] = async (text, ...rest) => {
    if (match.test(text)) {
      once ??= elsewhere();
      await once;
    }
    return of.command(text, ...rest);
  };
  return { ...of, command };
}
/** As a server that reads the condition of a statement, stalls, and inserts. */
function withoutCondition(of: ClickHouse): ClickHouse {
  return { ...of, command: (text, ...rest) => of.command(text.replace(/WHERE \(SELECT \(max.*$/s, ''), ...rest) };
}

/** As a server that was killed between the token and the rows of a statement. */
function withKnownToken(of: ClickHouse, token: RegExp): ClickHouse {
  return { ...of, command: async (text, ...rest) => (token.test(text) ? undefined : of.command(text, ...rest)) };
}

step('rows that were inserted, refused, or left by a kill are not in files', async (clickhouse, folder) => {
  await assert.rejects(clickhouse.insert('journal_times', [{ id: -1n }]), TypeError);
  await assert.rejects(clickhouse.insert('journal_times', [{ id: 'a.com' }]), { kind: 'refused' });
  await clickhouse.insert('journal_times', [{ id: 1 }, { id: 2 }]);
  assert.deepEqual(await readdir(`${folder}/strata-inserts`), []);
  assert.deepEqual(await clickhouse.query('SELECT id FROM journal_times ORDER BY id'), [{ id: 1 }, { id: 2 }]);
});

step('of two exporters that write the same block one commits, if both found it is next', async (clickhouse) => {
  for (const day of [1, 2]) {
    const before = await committedPosition(clickhouse);
    const a = await written(withoutCondition(clickhouse), before, 10 * day);
    const b = await written(clickhouse, before, day);
    await b.commit(position);
    await assert.rejects(a.commit(position), TakenOver);
  }
  assert.equal(await daysIn(clickhouse), '1:1 2:1');
});

step('a block that two exporters apply is applied once, and the one that stalled ends', async (clickhouse) => {
  const elsewhere = async () => {
    const found = await finishLastBlock(clickhouse);
    await (await written(clickhouse, found, 2)).commit(position);
  };
  const a = await written(stalled(clickhouse, /INTO change_days/, elsewhere), undefined, 1);
  await assert.rejects(a.commit(position), TakenOver);
  assert.equal(await daysIn(clickhouse), '1:1 2:1');
});

step('an exporter of tables that were removed neither commits nor marks a block', async (clickhouse) => {
  let before = await (await written(clickhouse, undefined, 1)).commit(position);
  before = await (await written(clickhouse, before, 2)).commit(position);
  const again = async () => {
    await removeTables(clickhouse);
    await createTables(clickhouse);
    await (await written(clickhouse, undefined, 7)).commit(position);
  };
  const late = await written(clickhouse, before, 3);
  const marking = await written(stalled(clickhouse, /'1:3:/, again), before, 4);
  await assert.rejects(marking.commit(position), TakenOver);
  await assert.rejects(late.commit(position), TakenOver);
  assert.equal((await appliedPosition(clickhouse))?.block, 1);
  assert.equal(await daysIn(clickhouse), '7:1');
  await clickhouse.command('DROP TABLE sets SYNC');
  await createTables(clickhouse);
  assert.equal(await committedPosition(clickhouse), undefined);
});

step('after a kill a table with the token but no rows gets them, one with the rows not', async (clickhouse) => {
  const killed = () => Promise.reject(new Error('killed'));
  await assert.rejects((await written(stalled(clickhouse, /INTO change_days/, killed), undefined, 1)).commit(position));
  await finishLastBlock(withKnownToken(clickhouse, /:change_days'|'1:1:0'/));
  let before = await committedPosition(clickhouse);
  before = await (await written(withKnownToken(clickhouse, /'0:2:0'/), before, 2)).commit(position);
  await assert.rejects((await written(stalled(clickhouse, /INTO change_days/, killed), before, 3)).commit(position));
  await clickhouse.command(`INSERT INTO change_days (provider, category, day, gained)
    SELECT provider, category, day, gained FROM journal_change_days WHERE block = 3`);
  await finishLastBlock(clickhouse);
  assert.equal(await daysIn(clickhouse), '1:1 2:1 3:1');
});

step('migrations of a past year are kept until much later ones', async (clickhouse) => {
  const moved = (day: number) => {
    return { domain_id: 1, confirmed_at: day * DAY_MS, category: 'c', from_provider: 'a', to_provider: 'b' };
  };
  let before: Awaited<ReturnType<typeof committedPosition>>;
  for (let block = 1; block <= 64; block += 1) {
    const writer = new BlockWriter(clickhouse, before);
    if (block === 1) await writer.add({ migrations: [9_000, 9_150, 9_200].map(moved) });
    before = await writer.commit(position);
    if (block > 1 && block < 64) continue;
    const text = `SELECT arraySort(groupArray(intDiv(confirmed_at, ${DAY_MS}))) AS days FROM migrations`;
    assert.deepEqual(await clickhouse.query(text), [{ days: block === 1 ? [9_000, 9_150, 9_200] : [9_150, 9_200] }]);
  }
});
