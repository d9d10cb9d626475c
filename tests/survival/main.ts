// `npm run test:survival [-- --write] [-- --minutes N]`: brings faults about on services at work, and prints what came of it as a table.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { binaries, notice } from '../support/database/postgres.ts';
import { networkGroup } from './network.ts';
import { type Row, type RunOptions, runGroup, tableOf } from './scenario.ts';
import { severalProcesses } from './several-processes.ts';
import { singleProcess } from './single-process.ts';

const DOCS = path.join(import.meta.dirname, '../../bench/SURVIVAL.md');
const [BEGIN, END] = ['<!-- survival: npm run test:survival -- --write -->\n', '<!-- survival: end -->'];
const { values } = parseArgs({ options: { write: { type: 'boolean' }, minutes: { type: 'string', default: '9' } } });
/** Of a run: what was begun within the time is checked after it, in a minute more at most. */
const limitMs = Number(values.minutes) * 60_000;
const rows: Row[] = [];

function finish(isComplete: boolean): never {
  const table = tableOf(rows);
  console.log(`\n${table}`);
  const text = readFileSync(DOCS, 'utf8');
  if (values.write)
    writeFileSync(DOCS, text.slice(0, text.indexOf(BEGIN) + BEGIN.length) + table + text.slice(text.indexOf(END)));
  process.exit(isComplete && rows.every(({ findings }) => findings.length === 0) ? 0 : 1);
}

setTimeout(
  () => {
    console.error('not over in time: the table is not complete');
    finish(false);
  },
  limitMs + 60_000 - performance.now(),
).unref();

const onRow = (row: Row) => {
  rows.push(row);
  console.error(`${row.target}: ${row.fault}: ${row.times} times, ${row.findings.length} findings`);
  for (const { kind, what } of row.findings) console.error(`  ${kind}: ${what}`);
};
/** Ends when this share of the time is over. */
const options = (share: number): RunOptions => ({ until: share * limitMs, onRow });
await runGroup(singleProcess, options(0.42));
if (binaries) await runGroup(severalProcesses, options(0.85));
else console.error(notice);
await runGroup(networkGroup, options(1));
finish(true);
