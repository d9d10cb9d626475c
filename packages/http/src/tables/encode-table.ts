// Encodes tables as files, a batch of rows at a time: the one pipeline behind answers, exports and jobs.
import { csvBytes } from './csv.ts';
import { CONTENT_TYPES, type FileFormat, type Row, rowObject, type TableColumn, type TableEncoder } from './table.ts';

/** Memory is bounded by the batch, and by one row group of Parquet. */
export async function tableEncoder(format: FileFormat, columns: readonly TableColumn[]): Promise<TableEncoder> {
  const names = columns.map(({ name }) => name);
  switch (format) {
    case 'csv': {
      let hasHeader = true;
      const encode = (rows: readonly Row[]) => {
        const bytes = csvBytes(names, { rows }, { hasHeader });
        hasHeader = false;
        return bytes;
      };
      return { contentType: CONTENT_TYPES.csv, rows: encode, end: () => encode([]) };
    }
    case 'ndjson': {
      const line = (row: Row) => `${JSON.stringify(rowObject(names, row))}\n`;
      const rows = (rows: readonly Row[]) => Buffer.from(rows.map(line).join(''), 'utf8');
      return { contentType: CONTENT_TYPES.ndjson, rows, end: () => new Uint8Array() };
    }
    case 'parquet':
      // Loaded when it is needed: commands that write no Parquet start faster.
      return (await import('./parquet.ts')).parquetEncoder(columns);
    default:
      return format satisfies never;
  }
}

/** A complete table in one piece, for answers whose rows are limited by their contract. */
export async function tableBytes(format: FileFormat, columns: readonly TableColumn[], rows: Iterable<Row>) {
  const encoder = await tableEncoder(format, columns);
  const bytes = Buffer.concat([encoder.rows([...rows]), encoder.end()]);
  return { bytes, contentType: encoder.contentType };
}
