// Tables as Apache Parquet (https://parquet.apache.org/docs/file-format/), one row group at a time.
import { ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { type Cell, CONTENT_TYPES, type Row, type TableColumn, type TableEncoder } from './table.ts';

/** Rows of a group: enough for dictionaries and statistics, and encoded in some tens of milliseconds. */
const GROUP_ROWS = 5_000;
const TYPES = { text: 'STRING', integer: 'INT64', time: 'TIMESTAMP' } as const;

/** Holds the rows of one group and, for each group written, its entries of the file's footer. */
export function parquetEncoder(columns: readonly TableColumn[]): TableEncoder {
  const described = columns.map(({ name, type }) => ({ name, type: TYPES[type ?? 'text'], data: [] as Cell[] }));
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaFromColumnData({ columnData: described }),
    createdBy: 'strata',
  });
  let group: Row[] = [];

  function writeGroup(): void {
    const columnData = described.map((column, i): ColumnSource => {
      const convert = VALUES[columns[i]?.type ?? 'text'];
      return { ...column, data: group.map((row) => (row[i] == null ? null : convert(row[i]))) };
    });
    writer.write({ columnData, rowGroupSize: GROUP_ROWS });
    group = [];
  }

  /** The bytes written since the last call; positions in the file continue. */
  function drain(): Uint8Array {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  }

  return {
    contentType: CONTENT_TYPES.parquet,
    rows(rows) {
      for (const row of rows) {
        group.push(row);
        if (group.length === GROUP_ROWS) writeGroup();
      }
      return drain();
    },
    end() {
      if (group.length > 0) writeGroup();
      writer.finish();
      return drain();
    },
  };
}

const VALUES = {
  text: String,
  integer: (cell: Cell) => BigInt(cell as number),
  time: (cell: Cell) => new Date(String(cell)),
} as const;
