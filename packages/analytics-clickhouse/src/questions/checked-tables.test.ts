import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { CheckedTables } from './checked-tables.ts';

it('a question is not answered from tables that are emptied while it is asked', async () => {
  const row = { block: 7, attempt: 1, stage: 'log', store_id: 'own' };
  const asked = async (after: Partial<typeof row> | undefined, storeId = 'own') => {
    const rows = [[row], after ? [{ ...row, ...after }] : []];
    const clickhouse = { query: async () => rows.shift() } as unknown as ClickHouse;
    return new CheckedTables(clickhouse, { storeId }).ask(async () => 5).catch(({ message }: Error) => message);
  };
  const [building, other] = ['being built', 'of another store'].map((is) => `the tables in ClickHouse are ${is}`);
  const answers = [
    asked({ block: 8, attempt: 2 }),
    asked({ attempt: 2 }),
    asked({ block: 2 }),
    asked({ stage: 'domains' }),
  ];
  assert.deepEqual(await Promise.all(answers), [5, building, building, building]);
  assert.deepEqual([await asked(undefined), await asked({}, 'another')], [building, other]);
});
