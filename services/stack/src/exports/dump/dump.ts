// A dump: all tables of one UTC day as Parquet, `table/date=2026-01-31/part-0.parquet`, and then the manifest with the hash of each
// file. Crash states: without a manifest the day has no dump, and the next attempt removes what it finds and begins again.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '@strata/files';
import type { TableColumn } from '@strata/http';
import { encodeHex } from '@strata/receipts';
import { type Batches, writeTable } from '../write-table.ts';
import type { DumpTarget } from './dump-target.ts';

export interface DumpTable {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly rows: () => Batches;
}

export interface DumpDeps {
  readonly tables: readonly DumpTable[];
  readonly target: DumpTarget;
  /** A local folder for one file at a time; removed at the end. */
  readonly scratch: string;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Of one file, about: by default some tens of megabytes. */
  readonly partRows?: number;
}

export interface Manifest {
  readonly version: 1;
  readonly date: string;
  readonly started_at: string;
  readonly completed_at: string;
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly files: readonly DumpedFile[] }>>;
}

interface DumpedFile {
  /** Relative to the folder of dumps. */
  readonly path: string;
  readonly rows: number;
  readonly size_bytes: number;
  /** In hex. */
  readonly sha256: string;
}

const PART_ROWS = 250_000;

export const manifestName = (date: string): string => `_manifests/${date}.json`;

/** Writes the dump of a day, in place of an earlier one. Rejects with the error of the target, or the signal's reason. */
export async function dump(
  date: string,
  { tables, target, scratch, now, signal, partRows = PART_ROWS }: DumpDeps,
): Promise<Manifest> {
  const started_at = now().toISOString();
  const folderOf = ({ name }: DumpTable) => `${name}/date=${date}`;
  const folders = tables.map(folderOf);
  await target.remove(manifestName(date), folders);
  await rm(scratch, { recursive: true, force: true });
  await makeDirectory(scratch, { mode: 0o700 });
  const local = path.join(scratch, 'part.parquet');
  const dumped: Record<string, Manifest['tables'][string]> = {};
  try {
    for (const table of tables) {
      const files: DumpedFile[] = [];
      for await (const batches of partsOf(table.rows(), partRows)) {
        const name = `${folderOf(table)}/part-${files.length}.parquet`;
        const options = { format: 'parquet', fields: null, maxRows: Number.POSITIVE_INFINITY } as const;
        const more = { partPath: `${local}.new`, onRows: () => {}, signal };
        const written = await writeTable(local, { columns: table.columns, batches }, { ...options, ...more });
        const { rows, sizeBytes } = written;
        const sha256 = encodeHex(written.sha256);
        signal.throwIfAborted();
        await target.put(name, { path: local, sizeBytes, sha256 });
        files.push({ path: name, rows, size_bytes: sizeBytes, sha256 });
      }
      dumped[table.name] = { rows: files.reduce((sum, { rows }) => sum + rows, 0), files };
    }
    signal.throwIfAborted();
    const manifest: Manifest = { version: 1, date, started_at, completed_at: now().toISOString(), tables: dumped };
    await target.complete(manifestName(date), `${JSON.stringify(manifest, null, 2)}\n`, folders);
    return manifest;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The batches in parts of about so many rows, at least one part; each must be read to its end before the next. */
async function* partsOf(batches: Batches, partRows: number): AsyncGenerator<Batches> {
  const all = (async function* () {
    yield* batches;
  })();
  try {
    let next = await all.next();
    do {
      yield (async function* () {
        for (let rows = 0; !next.done && rows < partRows; next = await all.next()) {
          rows += next.value.length;
          yield next.value;
        }
      })();
    } while (!next.done);
  } finally {
    await all.return();
  }
}
