// Line and branch coverage per workspace, over all processes of both suites: `npm run test:coverage [-- --json FILE]` runs them;
// with `--from DIRECTORY` it reads what an earlier run with NODE_V8_COVERAGE=DIRECTORY has left, `--root` names another checkout.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type FileCoverage, readCoverage } from './v8-coverage.ts';

interface Counts {
  lines: number;
  coveredLines: number;
  branches: number;
  coveredBranches: number;
}

const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: path.join(import.meta.dirname, '../..') },
    from: { type: 'string' },
    json: { type: 'string' },
  },
});
const root = path.resolve(options.root);
const directory = options.from ?? runSuites();

/** Runs both suites; a failed test fails the command, and the table is printed all the same. */
function runSuites(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'strata-coverage-'));
  const env = { ...process.env, NODE_V8_COVERAGE: directory };
  for (const suite of ['fast', 'full']) {
    const args = [path.join(import.meta.dirname, '../run.ts'), suite];
    if (spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
  }
  console.log(`coverage files: ${directory}`);
  return directory;
}

const sources = new Set(
  globSync(['{packages,services}/**/src/**/*.ts', 'catalog/*.ts'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
    .filter((file) => !/\.test\.ts$|\/test\/|\.d\.ts$/.test(file))
    .map((file) => path.join(root, file)),
);
/** As Node's own report counts: a line is covered unless no part of it was executed; blank and comment lines count as their block does. */
function countFile(file: string, { isCovered, branches }: FileCoverage): Counts {
  const counts: Counts = { lines: 0, coveredLines: 0, branches: 0, coveredBranches: 0 };
  let offset = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    counts.lines += 1;
    if (line.length === 0 || isCovered.subarray(offset, offset + line.length).includes(1)) counts.coveredLines += 1;
    offset += line.length + 1;
  }
  for (const start of branches) {
    counts.branches += 1;
    if (isCovered[start] === 1) counts.coveredBranches += 1;
  }
  return counts;
}

function hasCode(file: string): boolean {
  const comments = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
  return stripTypeScriptTypes(readFileSync(file, 'utf8')).replace(comments, '').trim() !== '';
}

const files = readCoverage(directory, sources);
const totals = new Map<string, Counts>();
for (const file of sources) {
  // Nothing loads a file that declares only types; any other file that no process loaded is not covered at all.
  if (!files.has(file) && !hasCode(file)) continue;
  const coverage = files.get(file) ?? { isCovered: new Uint8Array(), branches: new Set<number>() };
  const workspace = /^(?:(?:packages|services)\/)?[^/]+/.exec(path.relative(root, file))?.[0] ?? '';
  const total = totals.get(workspace) ?? { lines: 0, coveredLines: 0, branches: 0, coveredBranches: 0 };
  const counts = countFile(file, coverage);
  for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  totals.set(workspace, total);
}
const percent = (part: number, total: number) => Number(((100 * part) / total).toFixed(2));
const table = [...totals].sort().map(([workspace, { lines, coveredLines, branches, coveredBranches }]) => ({
  workspace,
  'line %': percent(coveredLines, lines),
  'branch %': percent(coveredBranches, branches),
}));
console.table(table);
if (options.json) writeFileSync(options.json, JSON.stringify(table, null, 2));
