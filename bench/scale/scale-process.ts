// One step of the suite, in a process of its own, because a process opens ClickHouse once.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type ClickHouse, clickHouseAnalytics, openClickHouse } from '@strata/analytics-clickhouse';
import { childArgument, median, reportReady, timed } from '../measure.ts';
import { askDuck } from './duck.ts';
import { exportSmall, fillSmall } from './exported.ts';
import { fill } from './fill.ts';
import { SCALE_QUESTIONS } from './questions.ts';

export interface ScaleArgument {
  readonly step: 'fill' | 'ask' | 'parquet' | 'duck' | 'small' | 'export';
  readonly folder: string;
  readonly domains: number;
  readonly blockDomains: number;
}

export interface Filled {
  readonly services: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** The first time with nothing in memory, the medians of the later ones. */
export interface Asked {
  readonly what: string;
  readonly firstMs: number;
  readonly againMs: number;
  readonly cpuMs: number;
  readonly failure?: string;
}

export interface Opened {
  readonly openSeconds: number;
  readonly rss: number;
  readonly maxRss: number;
  readonly tables: readonly {
    readonly name: string;
    readonly rows: number;
    readonly bytes: number;
    readonly parts: number;
  }[];
  readonly questions: readonly Asked[];
}

const run = promisify(execFile);
const HOUR_MS = 3_600_000;
const { step, folder, domains, blockDomains } = childArgument<ScaleArgument>();
const open = () => openClickHouse(`chdb:${folder}/tables`);
const log = (text: string) => process.stderr.write(`${new Date().toISOString()} ${text}\n`);

async function filled(): Promise<Filled> {
  const kept = await readFile(`${folder}/filled.json`, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as Filled;
  await using clickhouse = await open();
  const { seconds, cpuSeconds } = await timed(() =>
    fill(clickhouse, { domains, blockDomains, progress: (done) => log(`${done} domains`) }),
  );
  const [row] = await clickhouse.query<{ n: number }>('SELECT toInt64(sum(n)) AS n FROM services');
  const result = { services: row?.n ?? 0, seconds, cpuSeconds };
  await writeFile(`${folder}/filled.json`, JSON.stringify(result));
  return result;
}

/** The files of a folder are not in the memory of the system after it. */
const forgetFiles = (of: string) =>
  run('find', [
    of,
    // Merges remove files while it searches.
    '-ignore_readdir_race',
    '-type',
    'f',
    '-size',
    '+4k',
    '-exec',
    'sh',
    '-c',
    'for f; do dd if="$f" iflag=nocache count=0 2>/dev/null; done',
    'sh',
    '{}',
    '+',
  ]);

async function askedAll(
  ask: (question: (typeof SCALE_QUESTIONS)[number], of: string) => Promise<unknown>,
  forget: () => Promise<unknown>,
): Promise<Asked[]> {
  const questions: Asked[] = [];
  for (const question of SCALE_QUESTIONS) {
    const { what } = question;
    await forget();
    try {
      const [first, ...again] = await Array.fromAsync(question.of, (of) => timed(() => ask(question, of)));
      const msOf = (each: 'seconds' | 'cpuSeconds') => median(again.map((times) => times[each])) * 1_000;
      questions.push({
        what,
        firstMs: (first?.seconds ?? Number.NaN) * 1_000,
        againMs: msOf('seconds'),
        cpuMs: msOf('cpuSeconds'),
      });
    } catch (error) {
      questions.push({
        what,
        firstMs: Number.NaN,
        againMs: Number.NaN,
        cpuMs: Number.NaN,
        failure: (error as Error).message,
      });
    }
    log(JSON.stringify(questions.at(-1)));
  }
  return questions;
}

async function opened(): Promise<Opened> {
  await forgetFiles(folder);
  const connected = await timed(open);
  await using clickhouse = connected.value;
  const engine = clickHouseAnalytics(clickhouse);
  const { seconds } = await timed(() => engine.asOf());
  const forget = async () => {
    for (const cache of ['MARK', 'UNCOMPRESSED', 'QUERY CONDITION', 'MMAP'])
      await clickhouse.command(`SYSTEM DROP ${cache} CACHE`);
    await forgetFiles(folder);
  };
  const questions = await askedAll(({ ask }, of) => ask(engine, of), forget);
  const tables = await clickhouse.query<Opened['tables'][number]>(
    `SELECT table AS name, toInt64(sum(rows)) AS rows, toInt64(sum(bytes_on_disk)) AS bytes, toInt64(count()) AS parts
      FROM system.parts WHERE active AND database = currentDatabase() AND NOT startsWith(table, 'journal') GROUP BY table ORDER BY bytes DESC`,
  );
  const { rss } = process.memoryUsage();
  return {
    openSeconds: connected.seconds + seconds,
    rss,
    maxRss: process.resourceUsage().maxRSS * 1_024,
    tables,
    questions,
  };
}

/** The rows that DuckDB's questions read, in the order of the tables: no domain of the world changed, so each row counts. */
const PARQUET: Readonly<Record<string, string>> = {
  names: 'SELECT name, id FROM names ORDER BY name',
  services: 'SELECT provider, category, id, level FROM services ORDER BY provider, category, id',
  domains: 'SELECT id, state FROM domains ORDER BY id',
};

async function toParquet(clickhouse: ClickHouse): Promise<object> {
  for (const [name, select] of Object.entries(PARQUET)) {
    const settings = 'engine_file_truncate_on_insert = 1, max_memory_usage = 4000000000';
    await clickhouse.command(
      `INSERT INTO FUNCTION file('${folder}/${name}.parquet', 'Parquet') ${select} SETTINGS ${settings}`,
      {},
      { timeoutMs: HOUR_MS },
    );
  }
  return {};
}

async function inDuck(): Promise<Asked[] | null> {
  const duck = await askDuck(folder, Object.keys(PARQUET));
  if (!duck) return null;
  const asked = await askedAll(
    ({ sql }, of) => (sql ? duck(sql(of)) : Promise.resolve()),
    () => forgetFiles(folder),
  );
  return asked.filter((_, i) => SCALE_QUESTIONS[i]?.sql);
}

const STEPS = {
  fill: filled,
  ask: opened,
  parquet: async () => {
    await using clickhouse = await open();
    return await toParquet(clickhouse);
  },
  duck: inDuck,
  small: () => fillSmall(folder, { domains, blockDomains }),
  export: () => exportSmall(folder),
} as const;

reportReady((await STEPS[step]()) as object, () => {});
