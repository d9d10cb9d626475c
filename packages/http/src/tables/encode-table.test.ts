// Files written in batches: the same as in one piece; Parquet is read back by another library.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { tableBytes, tableEncoder } from './encode-table.ts';
import { FILE_FORMATS, formatFor, type Row, type TableColumn } from './table.ts';

const columns: readonly TableColumn[] = [
  { name: 'name', description: '' },
  { name: 'score', description: '', type: 'integer' },
  { name: 'at', description: '', type: 'time' },
];
const AT = '2026-01-31T12:00:00.007Z';
const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => [`=ä,"${i}`, i % 3 ? i - 5 : null, i % 2 ? AT : null]);

for (const format of FILE_FORMATS)
  it(`a table written in batches as ${format} is that written in one piece, also without rows`, async () => {
    for (const count of [0, 12_345]) {
      const rows = rowsOf(count);
      const encoder = await tableEncoder(format, columns);
      const pieces: Uint8Array[] = [];
      for (let from = 0; from < count; from += 999) pieces.push(encoder.rows(rows.slice(from, from + 999)));
      const bytes = Buffer.concat([...pieces, encoder.end()]);
      assert.deepEqual(bytes, (await tableBytes(format, columns, rows)).bytes);
      if (format === 'csv') assert.ok(bytes.toString().startsWith('name,score,at\r\n'));
    }
  });

it('a table written in batches has its values, their types and row groups in Parquet', async () => {
  const { bytes } = await tableBytes('parquet', columns, rowsOf(12_000));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const rows = await parquetReadObjects({ file });
  const [name, score, at] = [0, 1, 2].map((i) => rows.map((row) => Object.values(row)[i]));
  const expected = ['=ä,"11999', [null, -4n, -3n], [null, new Date(AT)]];
  assert.deepEqual([name?.[11_999], score?.slice(0, 3), at?.slice(0, 2)], expected);
  assert.equal(rows.length, 12_000);
  assert.equal(parquetMetadata(file).row_groups.length, 3);
});

it('a table written in batches is in the format that Accept prefers', () =>
  assert.deepEqual(
    ['application/vnd.apache.parquet', 'text/csv;q=0.4, application/vnd.apache.parquet;q=0.5', 'a/b'].map(formatFor),
    ['parquet', 'parquet', 'json'],
  ));
