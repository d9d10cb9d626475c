// The same answers by the index, by DuckDB in memory and by SQLite on the store's own file; complete answers must agree.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type DomainIndex, IndexBuilder } from '@strata/analytics';
import type { Category, ConfidenceLevel } from '@strata/detect';
import type { LoadedDomain, LoadedWorld } from '@strata/testnet';
import { type Figure, median, timed } from '../measure.ts';
import { ENGINE_QUESTIONS, type EngineQuestion, type Row } from './sets-engine-questions.ts';

export async function compareEngines(
  world: LoadedWorld,
  { file, size }: { readonly file: string; readonly size: string },
): Promise<Figure[]> {
  const duck = await openDuck();
  if (!duck) process.stderr.write('no DuckDB: npm install --no-save @duckdb/node-api@1.5.4-r.1 adds it\n');
  const index = indexOf(world, (domain) => duck?.add(domain));
  const connection = await duck?.ready();
  using sqlite = openSqlite(file);
  const figures: Figure[] = [];
  for (const question of ENGINE_QUESTIONS) figures.push(await compare(question, { index, connection, sqlite, size }));
  connection?.closeSync();
  return figures;
}

export function indexOf(world: LoadedWorld, visit: (domain: LoadedDomain) => void = () => {}): DomainIndex {
  const builder = new IndexBuilder();
  for (const domain of world.domains()) {
    visit(domain);
    builder.put({
      ...domain,
      services: domain.services.map(
        ({ category, provider, confidence }) =>
          [category as Category, provider, confidence as ConfidenceLevel] as const,
      ),
    });
  }
  return builder.build({ seq: 0, scanId: 0 });
}

interface Engines {
  readonly index: DomainIndex;
  readonly connection: DuckConnection | undefined;
  readonly sqlite: DatabaseSync;
  readonly size: string;
}

/** Each asked about several subjects, complete answers compared. The first warms the code up; the median of the rest is the figure. */
async function compare({ what, of, sql, ours, theirs }: EngineQuestion, engines: Engines): Promise<Figure> {
  const { index, connection, sqlite, size } = engines;
  const times = { mine: [] as number[], DuckDB: [] as number[], SQLite: [] as number[] };
  for (const each of of) {
    const mine = await timed(() => ours(index, each));
    times.mine.push(mine.seconds);
    const rowsOf = {
      ...(connection ? { DuckDB: async () => (await connection.runAndReadAll(sql(each))).getRowObjects() } : {}),
      SQLite: () => sqlite.prepare(sql(each)).all(),
    };
    for (const [name, read] of Object.entries(rowsOf)) {
      const { value, seconds } = await timed<Row[]>(read);
      times[name as keyof typeof rowsOf].push(seconds);
      assert.deepEqual(theirs(value), mine.value, `${what} ${each}: ${name} answers otherwise`);
    }
  }
  const msOf = (each: readonly number[]) => median(each.slice(1)) * 1_000;
  const mineMs = msOf(times.mine);
  const against = (name: 'DuckDB' | 'SQLite') =>
    times[name].length === 0 ? `${name} not installed` : `${name} ${(msOf(times[name]) / mineMs).toFixed(0)} ×`;
  return [`${size}: ${what}`, `${mineMs.toFixed(2)} ms`, `${against('DuckDB')}; ${against('SQLite')}`];
}

/** The indexes that these questions want, beside the store's own. */
function openSqlite(file: string): DatabaseSync {
  const sqlite = new DatabaseSync(file);
  sqlite.exec(`PRAGMA cache_size = -1048576;
    CREATE INDEX bench_provider ON services (provider, domain_id);
    CREATE INDEX bench_category ON services (category, domain_id, provider, confidence);
    CREATE INDEX bench_domain ON services (domain_id, provider);
    ANALYZE`);
  return sqlite;
}

/** What is used here of `@duckdb/node-api`, which is installed on request (docs/dependencies.md). */
interface DuckConnection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjects(): Row[] }>;
  createAppender(table: string): Promise<DuckAppender>;
  closeSync(): void;
}
interface DuckAppender {
  appendInteger(value: number): void;
  appendVarchar(value: string): void;
  endRow(): void;
  closeSync(): void;
}
interface DuckModule {
  readonly DuckDBInstance: {
    create(path: string, settings: Record<string, string>): Promise<{ connect(): Promise<DuckConnection> }>;
  };
}

export async function loadDuck(name = '@duckdb/node-api'): Promise<DuckModule | undefined> {
  try {
    return (await import(name)) as DuckModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Loads texts as enumerations: a fifth faster here than as text. Undefined without DuckDB. */
async function openDuck() {
  const duck = await loadDuck();
  if (!duck) return undefined;
  const connection = await (await duck.DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  await connection.run(
    'CREATE TABLE d (id INTEGER, name VARCHAR, state VARCHAR, sector VARCHAR, posture_bits INTEGER)',
  );
  await connection.run('CREATE TABLE s (domain_id INTEGER, category VARCHAR, provider VARCHAR, confidence VARCHAR)');
  const domains = await connection.createAppender('d');
  const services = await connection.createAppender('s');
  return {
    add({ id, name, state, sector, posture, services: held }: LoadedDomain): void {
      domains.appendInteger(id);
      for (const text of [name, state, sector]) domains.appendVarchar(text);
      domains.appendInteger(posture);
      domains.endRow();
      for (const { category, provider, confidence } of held) {
        services.appendInteger(id);
        for (const text of [category, provider, confidence]) services.appendVarchar(text);
        services.endRow();
      }
    },
    async ready(): Promise<DuckConnection> {
      domains.closeSync();
      services.closeSync();
      for (const [table, column] of [
        ['d', 'state'],
        ['d', 'sector'],
        ['s', 'category'],
        ['s', 'provider'],
        ['s', 'confidence'],
      ]) {
        await connection.run(`CREATE TYPE t_${column} AS ENUM (SELECT DISTINCT ${column} FROM ${table} ORDER BY 1)`);
      }
      await connection.run(
        'CREATE TABLE domains AS SELECT id, name, state::t_state AS state, sector::t_sector AS sector, posture_bits FROM d',
      );
      await connection.run(
        'CREATE TABLE services AS SELECT domain_id, category::t_category AS category, provider::t_provider AS provider, confidence::t_confidence AS confidence FROM s',
      );
      await connection.run('DROP TABLE d; DROP TABLE s');
      return connection;
    },
  };
}
