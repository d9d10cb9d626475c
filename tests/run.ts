// Runs a suite: `node tests/run.ts fast|full [path …]`. The files of a folder share one process, so that each module is loaded and
// each costly part (simulated internet, model, browser) is started once; the run shares one PostgreSQL cluster.
import { type ChildProcess, fork } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { binaries, startPostgres } from './support/database/postgres.ts';

/** What a group's process sends for each test. */
export interface TestReport {
  readonly kind: 'started' | 'passed' | 'failed' | 'skipped';
  readonly file: string;
  readonly name: string;
  readonly durationMs: number;
  /** Of a failed test, its message and stack; of a skipped one, the reason. */
  readonly error?: string;
}

interface Group {
  readonly name: string;
  readonly files: readonly string[];
}

interface GroupResult {
  readonly group: Group;
  readonly reports: readonly TestReport[];
  readonly seconds: number;
  /** Why the group itself failed: exit code, signal, time limit. */
  readonly errors: readonly string[];
  /** The end of what it printed. */
  readonly output: string;
}

const root = path.join(import.meta.dirname, '..');
const allTests = '{catalog,packages,services,web/src,tests}/**/*.test.ts';

/**
 * Measured on two cores. Fast: 304 s with two processes, 248 s with three, 194 s with four, 223 s with five; they often wait. Full:
 * tests with a fleet at work use all that they get, and slow down each other: 2,911 s with four, 1,370 s with two.
 */
const PROCESSES = { fast: 4, full: 2 };

/** A group that hangs is ended: generous, since both cores may be busy with other work. */
const groupLimitMs = 40 * 60_000;

/** Groups that take the longest start first, so that the run does not end with one process at work. */
const slowestFirst: readonly string[] = [
  ...['tests/full/faults', 'tests/full/web', 'tests/full/nodes'],
  ...['tests/full/database', 'tests/full/survival'],
  ...['services/stack/src/store', 'services/stack', 'services/cli', 'services/gateway', 'tests/smoke'],
];

/** A folder whose fast tests are a group: with the rest of their service they would end long after every other group. */
const ownGroup = 'services/stack/src/store';

/** Where the fast suite, which proves nothing about disks, writes its files: memory costs it far less time than a disk. */
const memoryFiles = '/dev/shm';
/** Free memory that the file system needs for this, in bytes: a run writes about 2 GB. */
const memoryNeeded = 6 * 1024 ** 3;

function temporaryFiles(suite: 'fast' | 'full') {
  let parent = tmpdir();
  try {
    const { bavail, bsize } = statfsSync(memoryFiles);
    if (suite === 'fast' && bavail * bsize >= memoryNeeded) parent = memoryFiles;
  } catch {
    // This system has none.
  }
  const directory = mkdtempSync(path.join(parent, 'strata-tests-'));
  // PostgreSQL runs as another user and must reach its files.
  chmodSync(directory, 0o711);
  return {
    directory,
    [Symbol.dispose]() {
      try {
        rmSync(directory, { recursive: true, force: true });
      } catch (error) {
        // A group that was killed leaves the file systems that it had mounted.
        console.log(`not removed: ${directory} (${(error as Error).message})`);
      }
    },
  };
}

function groupsOf(suite: 'fast' | 'full', paths: readonly string[]): Group[] {
  const isFull = (file: string) => file.endsWith('.full.test.ts') || file.startsWith('tests/full/');
  const files = globSync(allTests, { cwd: root, exclude: (name) => name === 'node_modules' || name === 'dist' })
    .filter((file) => isFull(file) === (suite === 'full'))
    .filter((file) => paths.length === 0 || paths.some((each) => file.startsWith(path.normalize(each))))
    .sort();
  const byFolder = Map.groupBy(files, (file) => {
    const [top = '', second = '', third = ''] = path.dirname(file).split('/');
    if (top === 'tests') return [top, second, third].filter(Boolean).join('/');
    if (suite === 'fast' && file.startsWith(`${ownGroup}/`)) return ownGroup;
    return top === 'packages' || top === 'services' ? `${top}/${second}` : top;
  });
  const rank = ({ name }: Group) => (slowestFirst.includes(name) ? slowestFirst.indexOf(name) : slowestFirst.length);
  return [...byFolder]
    .map(([name, files]) => ({ name, files }))
    .sort((a, b) => rank(a) - rank(b) || b.files.length - a.files.length);
}

const running = new Set<ChildProcess>();

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

async function runGroup(group: Group, env: NodeJS.ProcessEnv): Promise<GroupResult> {
  const started = performance.now();
  // In a process group of its own, so that what a test has started ends with it.
  const options = { cwd: root, env, stdio: 'pipe', detached: true } as const;
  const child = fork(path.join(import.meta.dirname, 'run-group.ts'), group.files, options);
  running.add(child);
  // What it leaves running would keep its output open.
  child.once('exit', () => endGroup(child, 'SIGKILL'));
  const reports: TestReport[] = [];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000);
    });
  }
  let last: TestReport | undefined;
  child.on('message', (report: TestReport) => {
    if (report.kind === 'started') last = report;
    else reports.push(report);
  });
  const errors: string[] = [];
  const limit = setTimeout(() => {
    errors.push(`ended after ${groupLimitMs / 1000} s; the last test to start was: ${last?.file}, ${last?.name}`);
    endGroup(child, 'SIGKILL');
  }, groupLimitMs);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('close', (code, signal) => resolve([code, signal]));
  });
  clearTimeout(limit);
  running.delete(child);
  // A promise that nothing settles ends a process early and silently: its exit code is not 0 until all tests have ended.
  const expected = reports.some(({ kind }) => kind === 'failed') ? 1 : 0;
  if (code !== expected) errors.push(`the process ended with ${signal ?? `exit code ${code}`}`);
  return { group, reports, seconds: (performance.now() - started) / 1000, errors, output };
}

function printGroup({ group, reports, seconds, errors, output }: GroupResult): void {
  const failed = reports.filter(({ kind }) => kind === 'failed');
  const isOk = failed.length === 0 && errors.length === 0;
  console.log(`${isOk ? 'ok    ' : 'FAILED'} ${group.name}: ${reports.length} tests, ${seconds.toFixed(1)} s`);
  for (const { file, name, error } of failed) console.log(`\n✖ ${file}\n  ${name}\n${error?.replace(/^/gm, '    ')}\n`);
  for (const error of errors) console.log(`\n✖ ${group.name}: ${error}\n`);
  if (!isOk && output) console.log(`  what ${group.name} printed:\n${output.replace(/^/gm, '    ')}\n`);
}

function printSummary(results: readonly GroupResult[], seconds: number): void {
  const reports = results.flatMap(({ reports }) => reports);
  const byFile = Map.groupBy(reports, ({ file }) => file);
  const totalMs = (all: readonly TestReport[]) => all.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const durations = [...byFile].map(([file, all]) => ({ file, ms: totalMs(all) }));
  console.log('\nThe slowest files:');
  for (const { file, ms } of durations.sort((a, b) => b.ms - a.ms).slice(0, 20))
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  const ofKind = (wanted: TestReport['kind']) => reports.filter(({ kind }) => kind === wanted);
  const skipped = Map.groupBy(ofKind('skipped'), ({ error }) => error ?? 'no reason given');
  for (const [reason, all] of skipped)
    console.log(`skipped: ${all.length} × ${reason} (${[...new Set(all.map(({ file }) => file))].join(', ')})`);
  const count = (kind: TestReport['kind']) => ofKind(kind).length;
  console.log(`\ngroups of files: ${results.length}, at most ${concurrency} at a time, ${seconds.toFixed(0)} s`);
  console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
}

const [suite, ...paths] = process.argv.slice(2);
if (suite !== 'fast' && suite !== 'full') throw new Error('usage: node tests/run.ts fast|full [path …]');
const concurrency = Number(process.env.STRATA_TEST_PROCESSES ?? PROCESSES[suite]);
const waiting = groupsOf(suite, paths);
if (waiting.length === 0) throw new Error(`no test file of the ${suite} suite is at ${paths.join(', ')}`);
const started = performance.now();
using files = temporaryFiles(suite);
process.env.TMPDIR = files.directory;
// What a process has compiled is read by those that start after it, also in the next run.
process.env.NODE_COMPILE_CACHE ??= path.join(root, 'node_modules/.cache/compiled');
await using postgres = binaries ? await startPostgres() : undefined;
const env = { ...process.env, ...(postgres && { STRATA_TEST_POSTGRES: postgres.url }) };
const results: GroupResult[] = [];
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    waiting.length = 0;
    for (const child of running) endGroup(child, signal);
  });
}
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const result = await runGroup(group, env);
      if (isInterrupted) return;
      printGroup(result);
      results.push(result);
    }
  }),
);
if (isInterrupted) console.log('\ninterrupted: these groups had ended before');
printSummary(results, (performance.now() - started) / 1000);
const isOk = results.every((each) => each.errors.length === 0 && each.reports.every(({ kind }) => kind !== 'failed'));
process.exitCode = isOk && !isInterrupted ? 0 : 1;
