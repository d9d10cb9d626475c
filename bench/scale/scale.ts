// The questions in ClickHouse at 1 and 10 million domains, and of the same rows in Parquet by DuckDB. `STRATA_BENCH_DOMAINS=100000000`
// takes hours and 15 GiB; with `STRATA_BENCH_FOLDER` the tables are kept, and used again.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, mib, perSecond, startChild, thousands } from '../measure.ts';
import { SCALE_QUESTIONS } from './questions.ts';
import type { Asked, Filled, Opened, ScaleArgument } from './scale-process.ts';

const SIZES = (process.env.STRATA_BENCH_DOMAINS ?? '1000000,10000000').split(',').map(Number);
const FOLDER = process.env.STRATA_BENCH_FOLDER;
/** Domains of a block of the fill: as many as make the sets of a block large, and its rows fit in memory. */
const BLOCK = 500_000;
/** Of the proof that the rows made by SQL are those of the exporter: several blocks of both. */
const SMALL = { domains: 20_000, block: 7_000 } as const;
const GOALS = { bytesGib: 15, rssGib: 4, at: 100_000_000, rows: 200_000 } as const;
const GIB = 2 ** 30;

const run = promisify(execFile);

export async function benchScale(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const figures = [await sameAsExporter(directory.path)];
  for (const domains of SIZES) {
    const folder = `${FOLDER ?? directory.path}/${domains}`;
    await mkdir(folder, { recursive: true });
    figures.push(...(await benchSize({ folder, domains, blockDomains: BLOCK })));
  }
  return figures;
}

async function benchSize(argument: Omit<ScaleArgument, 'step'>): Promise<Figure[]> {
  const size = thousands(argument.domains);
  const filled = await inChild<Filled>({ ...argument, step: 'fill' });
  const opened = await inChild<Opened>({ ...argument, step: 'ask' });
  const duck = await byDuck(argument);
  const bytes = opened.tables.reduce((sum, table) => sum + table.bytes, 0);
  const { stdout } = await run('du', ['-sk', `${argument.folder}/tables`]);
  return [
    [
      `${size}: fill, ${thousands(filled.services)} services`,
      `${filled.seconds.toFixed(0)} s, ${perSecond(filled.services / filled.seconds)}; ${perSecond(filled.services / filled.cpuSeconds)} of processor, merges included`,
      `rows made by SQL; goal of the exporter ≥ ${perSecond(GOALS.rows)}`,
    ],
    [`${size}: start until the first answer`, `${opened.openSeconds.toFixed(2)} s`],
    [
      `${size}: RSS after the questions, ClickHouse included; largest`,
      `${mib(opened.rss)}; ${mib(opened.maxRss)}`,
      `goal < ${GOALS.rssGib} GiB and the engine`,
    ],
    [
      `${size}: tables; with what merges remove later`,
      `${(bytes / GIB).toFixed(2)}; ${((Number.parseInt(stdout, 10) * 1_024) / GIB).toFixed(2)} GiB`,
      `goal at ${thousands(GOALS.at)} < ${GOALS.bytesGib} GiB`,
    ],
    ...opened.tables
      .filter((table) => table.bytes / argument.domains > 0.05)
      .map(
        ({ name, rows, bytes, parts }): Figure => [
          `${size}: bytes a domain, ${name}`,
          (bytes / argument.domains).toFixed(1),
          `${thousands(rows)} rows, ${parts} parts`,
        ],
      ),
    ...opened.questions.map((asked): Figure => [`${size}: ${asked.what}`, timesOf(asked), against(asked, duck)]),
  ];
}

/** Null without DuckDB, or if it cannot answer: the figures of hours stay. */
async function byDuck(argument: Omit<ScaleArgument, 'step'>): Promise<readonly Asked[] | null> {
  try {
    await inChild({ ...argument, step: 'parquet' });
    return await inChild<readonly Asked[] | null>({ ...argument, step: 'duck' });
  } catch (error) {
    process.stderr.write(`${error}\n`);
    return null;
  }
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : thousands(value)} ms`;
const timesOf = ({ firstMs, againMs, cpuMs, failure }: Asked): string =>
  failure ?? `first ${ms(firstMs)}; again ${ms(againMs)}, ${ms(cpuMs)} of processor`;

function against(asked: Asked, duck: readonly Asked[] | null): string {
  const { goal, sql } = SCALE_QUESTIONS.find(({ what }) => what === asked.what) ?? {};
  const isMissed = goal && !(asked[goal.of === 'first' ? 'firstMs' : 'againMs'] < goal.ms);
  const peer = duck?.find(({ what }) => what === asked.what);
  return [
    ...(goal ? [`goal ${goal.of} < ${thousands(goal.ms)} ms${isMissed ? ': missed' : ''}`] : []),
    ...(sql ? [duck ? `DuckDB ${peer ? timesOf(peer) : 'not asked'}` : 'no DuckDB'] : []),
  ].join('; ');
}

/** Both fill empty tables with the same small world. */
async function sameAsExporter(folder: string): Promise<Figure> {
  const { domains, block } = SMALL;
  const argument = { domains, blockDomains: block, folder: `${folder}/small` };
  await mkdir(argument.folder);
  const bySql = await inChild<Readonly<Record<string, string>>>({ ...argument, step: 'small' });
  const exported = await inChild<typeof bySql>({ ...argument, step: 'export' });
  assert.deepEqual(exported, bySql);
  const tables = Object.keys(bySql).length;
  return [
    `${thousands(domains)}: tables filled by SQL as by the exporter`,
    `${tables} of ${tables} equal`,
    'by sums of hashes',
  ];
}

async function inChild<Result>(argument: ScaleArgument): Promise<Result> {
  await using child = await startChild<Result>(new URL('./scale-process.ts', import.meta.url), argument);
  return child.ready;
}
