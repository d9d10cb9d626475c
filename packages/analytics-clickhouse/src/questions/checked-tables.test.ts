import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { createTables, TABLES_VERSION } from '../tables/create-tables.ts';
import { CheckedTables } from './checked-tables.ts';

it('a question is not answered from tables of another version, or that are emptied while it is asked', async () => {
  const row = { block: 7, attempt: 1, stage: 'log', store_id: 'own' };
  const commands: string[] = [];
  const command = async (text: string) => void commands.push(text);
  const asked = async (after: Partial<typeof row> | undefined, storeId = 'own', version = TABLES_VERSION) => {
    const rows = [[row], after ? [{ ...row, ...after }] : []];
    const query = async (text: string) => (text.includes('table_versions') ? [{ version }] : rows.shift());
    const clickhouse = { query, command } as unknown as ClickHouse;
    if (version > TABLES_VERSION) await assert.rejects(createTables(clickhouse), { kind: 'unavailable' });
    return new CheckedTables(clickhouse, { storeId }).ask(async () => 5).catch(({ message }: Error) => message);
  };
  const [building, other] = ['being built', 'of another store'].map((is) => `the tables in ClickHouse are ${is}`);
  const moved = [{ block: 8, attempt: 2 }, { attempt: 2 }, { block: 2 }, { stage: 'domains' }];
  const answers = await Promise.all(moved.map((after) => asked(after)));
  assert.deepEqual(answers, [5, building, building, building]);
  assert.deepEqual([await asked(undefined), await asked({}, 'another')], [building, other]);
  for (const version of [TABLES_VERSION - 1, TABLES_VERSION + 1])
    assert.match(String(await asked({}, 'own', version)), new RegExp(`of version ${version}, not ${TABLES_VERSION}`));
  assert.ok(commands.length === 1 && !commands[0]?.startsWith('DROP'), 'tables of a newer version were removed');
});
