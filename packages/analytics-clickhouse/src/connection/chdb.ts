// ClickHouse in this process. `chdb` is not a dependency, because of its size: `npm run engine:clickhouse` installs it.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ClickHouseClientConfigOptions } from '@clickhouse/client';
import { ClickHouseError } from './clickhouse-error.ts';

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;
interface ChdbModule {
  createChdbConnection(options: { readonly path: string }): Connection;
}

/** A process can open one folder at a time. */
let openFolder: string | undefined;

/** In the folder, a name that ClickHouse does not use: rows that are being inserted. */
const INSERTS = 'strata-inserts';

export async function chdbConnection(folder: string): Promise<Connection> {
  const absolute = path.resolve(folder);
  // ClickHouse reads a file by a pattern, or from an archive.
  if (folder === '' || /[*?{}]|::/.test(absolute))
    throw new ClickHouseError(
      'refused',
      'chdb: needs a folder without *, ?, {, } and ::, as chdb:/var/lib/strata/clickhouse',
    );
  if (openFolder !== undefined)
    throw new ClickHouseError('refused', `ClickHouse in this process is open on ${openFolder} already`);
  const chdb = await loadChdb();
  try {
    const connection = chdb.createChdbConnection({ path: absolute });
    // A process that was killed leaves its file.
    await rm(path.join(absolute, INSERTS), { recursive: true, force: true });
    await mkdir(path.join(absolute, INSERTS));
    openFolder = absolute;
    return connection;
  } catch (cause) {
    throw new ClickHouseError('unavailable', `ClickHouse cannot open ${absolute}: does another process use it?`, {
      cause,
    });
  }
}

let inserts = 0;

/**
 * The rows of an insert as a file of the open folder, until it is disposed of: from the text of a statement ClickHouse reads
 * them with three times the processor time.
 */
export async function insertFile(lines: Iterable<string>): Promise<AsyncDisposable & { readonly path: string }> {
  inserts += 1;
  const file = path.join(openFolder ?? '', INSERTS, `${inserts}.json`);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(file, { force: true }));
  await writeFile(file, lines);
  const written = stack.move();
  return { path: file, [Symbol.asyncDispose]: () => written.disposeAsync() };
}

export function closeChdb(): void {
  openFolder = undefined;
}

async function loadChdb(): Promise<ChdbModule> {
  // A variable, because the compiler would resolve a literal.
  const name = 'chdb/connection';
  try {
    // The module of this name has this export.
    return (await import(name)) as ChdbModule;
  } catch (cause) {
    const why = 'ClickHouse in this process (chdb) is not installed or cannot be loaded: run npm run engine:clickhouse';
    throw new ClickHouseError('unavailable', why, { cause });
  }
}
