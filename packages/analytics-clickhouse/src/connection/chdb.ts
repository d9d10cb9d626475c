// ClickHouse in this process. `chdb` is not a dependency, because of its size: `npm run engine:clickhouse` installs it.
import path from 'node:path';
import type { ClickHouseClientConfigOptions } from '@clickhouse/client';
import { ClickHouseError } from './clickhouse-error.ts';

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;
interface ChdbModule {
  createChdbConnection(options: { readonly path: string }): Connection;
}

/** A process can open one folder at a time. */
let openFolder: string | undefined;

export async function chdbConnection(folder: string): Promise<Connection> {
  if (folder === '') throw new ClickHouseError('refused', 'chdb: needs a folder, as chdb:/var/lib/strata/clickhouse');
  const absolute = path.resolve(folder);
  if (openFolder !== undefined)
    throw new ClickHouseError('refused', `ClickHouse in this process is open on ${openFolder} already`);
  const chdb = await loadChdb();
  try {
    const connection = chdb.createChdbConnection({ path: absolute });
    openFolder = absolute;
    return connection;
  } catch (cause) {
    throw new ClickHouseError('unavailable', `ClickHouse cannot open ${absolute}: does another process use it?`, {
      cause,
    });
  }
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
