// Writes a table to a file, batch by batch: memory is bounded, and other work runs between the batches.
import { createHash } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { onDisk, syncDirectory } from '@strata/files';
import { type FileFormat, type Row, type TableColumn, tableEncoder } from '@strata/http';
import { JobError } from './job.ts';

/** Batches of at most about a thousand rows. */
export type Batches = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

export interface TableSource {
  readonly columns: readonly TableColumn[];
  /** Columns that follow the chosen ones in every file. */
  readonly extra?: readonly string[];
  readonly batches: Batches;
}

export interface WriteOptions {
  readonly format: FileFormat;
  /** The columns to write, in their order; null: all. */
  readonly fields: readonly string[] | null;
  readonly maxRows: number;
  /** Where the file is while it is incomplete. */
  readonly partPath: string;
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

export interface WrittenTable {
  readonly rows: number;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
  readonly contentType: string;
}

/** A larger file is a mistake, and would fill the disk. */
const MAX_BYTES = 2 * 1024 ** 3;

/** The file is complete and durable when it resolves. Rejects with JobError, DiskError, or the reason of the signal. */
export async function writeTable(
  file: string,
  { columns, extra = [], batches }: TableSource,
  { format, fields, maxRows, partPath, onRows, signal }: WriteOptions,
): Promise<WrittenTable> {
  const names = fields && [...fields, ...extra];
  const positions = names?.map((field) => columns.findIndex(({ name }) => name === field));
  const chosen = positions?.map((at) => columns[at] as TableColumn) ?? columns;
  const encoder = await tableEncoder(format, chosen);
  const hash = createHash('sha256');
  let [rows, sizeBytes] = [0, 0];
  {
    await using handle = await onDisk('write the file', open(partPath, 'w', 0o600));
    const append = async (bytes: Uint8Array) => {
      hash.update(bytes);
      sizeBytes += bytes.length;
      if (sizeBytes > MAX_BYTES)
        throw new JobError('invalid_parameter', `The file would be larger than ${MAX_BYTES} bytes: narrow the filter.`);
      await onDisk('write the file', handle.writeFile(bytes));
    };
    for await (const batch of batches) {
      signal.throwIfAborted();
      rows += batch.length;
      if (rows > maxRows)
        throw new JobError(
          'quota_exceeded',
          `There are more than the ${maxRows} rows that the key can pay for in a day.`,
        );
      await append(encoder.rows(positions ? batch.map((row) => positions.map((at) => row[at] ?? null)) : batch));
      onRows(rows);
      await yieldToEventLoop();
    }
    await append(encoder.end());
    await onDisk('write the file', handle.sync());
  }
  await onDisk('write the file', rename(partPath, file));
  await onDisk('write the file', syncDirectory(path.dirname(file)));
  return { rows, sizeBytes, sha256: hash.digest(), contentType: encoder.contentType };
}
