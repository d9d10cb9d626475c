// Mutation check: `npm run test:mutants [-- --seed 1 --per-package 18 --package NAME …]`. Changes one expression of the source at a
// time and runs the tests of that package that execute it, the nearest by import first, until one fails. A mutant that survives
// means that a test is missing or that the change makes no difference.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Node, parse } from 'acorn';
import { binaries, startPostgres } from '../support/database/postgres.ts';
import { randomFrom } from '../support/random.ts';
import { importsOf } from './imports.ts';
import { type FileCoverage, readCoverage } from './v8-coverage.ts';

export interface Mutant {
  /** Path within the checkout. */
  readonly file: string;
  readonly operator: Operator;
  /** Offsets of what is replaced, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Operator = 'comparison' | 'boundary' | 'await' | 'number' | 'condition' | 'arguments';
type Outcome = 'killed' | 'timeout' | 'survived';

const packages: readonly string[] = [
  ...['detect', 'analytics', 'receipts', 'log', 'db', 'http', 'inference'].map((name) => `packages/${name}`),
  ...['services/stack', 'services/gateway'],
];

/** Tests of a workspace outside it. */
const sharedLog = 'tests/full/shared-log/*.test.ts';
const elsewhere: Readonly<Record<string, string>> = {
  'packages/log': sharedLog,
  'packages/db': 'services/stack/src/store/*.test.ts',
};

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    'per-package': { type: 'string', default: '18' },
    package: { type: 'string', multiple: true, default: [...packages] },
  },
});
const root = path.join(import.meta.dirname, '../..');

/** Ends a mutant that loops forever; generous, since the slowest tests need a minute. */
const mutantLimitMs = 4 * 60_000;

const TESTS_AT_ONCE = 4;

const flipped: Readonly<Record<string, string>> = {
  ...{ '===': '!==', '!==': '===', '<': '>=', '>': '<=', '<=': '>', '>=': '<' },
};
const moved: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

// biome-ignore lint/suspicious/noExplicitAny: nodes of every kind are walked alike
type AnyNode = Node & Record<string, any>;

function* nodesIn(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') yield* nodesIn(child);
    }
  }
}

function mutantsOf(file: string): Mutant[] {
  const text = stripTypeScriptTypes(readFileSync(path.join(root, file), 'utf8'));
  const program = parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }) as AnyNode;
  const source = (node: Node) => text.slice(node.start, node.end);
  const mutants: Mutant[] = [];
  const add = (operator: Operator, { start, end }: { start: number; end: number }, replacement: string) =>
    mutants.push({ file, operator, start, end, replacement });
  for (const node of nodesIn(program)) {
    if (node.type === 'BinaryExpression' && flipped[node.operator] !== undefined) {
      const { left, right, operator } = node;
      const at = { start: left.end, end: right.start };
      const between = source({ ...node, ...at });
      add('comparison', at, between.replace(operator, flipped[operator] ?? ''));
      if (moved[operator]) add('boundary', at, between.replace(operator, moved[operator]));
    } else if (node.type === 'AwaitExpression') {
      add('await', node, `(${source(node.argument)})`);
    } else if (node.type === 'Literal' && typeof node.value === 'number') {
      add('number', node, `${node.value + 1}`);
    } else if (node.type === 'LogicalExpression' && node.operator !== '??') {
      add('condition', node, `(${source(node.left)})`);
    } else if (node.type === 'IfStatement') {
      add('condition', node.test, 'true');
    } else if (node.type === 'CallExpression' && node.arguments.length >= 2) {
      const [first, second] = node.arguments as [Node, Node];
      if (first.type === 'SpreadElement' || second.type === 'SpreadElement') continue;
      const between = text.slice(first.end, second.start);
      add('arguments', { start: first.start, end: second.end }, `${source(second)}${between}${source(first)}`);
    }
  }
  return mutants;
}

/** Files of a workspace's source: neither tests nor what only they use, nor generated or type-only files. */
function sourcesOf(workspace: string): string[] {
  return globSync(`${workspace}/src/**/*.ts`, { cwd: root })
    .filter((file) => !/\.test\.ts$|\/test\/|write-|generated|\.d\.ts$/.test(file))
    .sort();
}

/** Each operator is as likely as another, whatever the code has most of. */
function choose(workspace: string, count: number, random: () => number): Mutant[] {
  const byOperator = [...Map.groupBy(sourcesOf(workspace).flatMap(mutantsOf), ({ operator }) => operator).values()];
  const chosen: Mutant[] = [];
  while (chosen.length < count && byOperator.some((left) => left.length > 0)) {
    const pool = byOperator[Math.floor(random() * byOperator.length)] ?? [];
    const [mutant] = pool.splice(Math.floor(random() * pool.length), 1);
    if (mutant) chosen.push(mutant);
  }
  return chosen;
}

function sampleOf(workspace: string): Mutant[] {
  // A seed of its own for each package, so that one package can be checked alone.
  const random = randomFrom(Number(options.seed) + packages.indexOf(workspace) * 7_919);
  return choose(workspace, Number(options['per-package']), random);
}

const knownImports = new Map<string, readonly string[]>();

/** Files that a file imports within its workspace. */
function filesImportedBy(file: string): readonly string[] {
  const names = () => importsOf(root, file).filter((name) => name.startsWith('.'));
  const imports = knownImports.get(file) ?? names().map((name) => path.join(path.dirname(file), name));
  knownImports.set(file, imports);
  return imports;
}

const isFull = (test: string) => test.endsWith('.full.test.ts') || test.startsWith('tests/full/');

/** The tests of a workspace that reach `file` by imports, the nearest first, those of the full suite and from elsewhere last. */
function testsFor(workspace: string, file: string): string[] {
  const distances = globSync(`${workspace}/**/*.test.ts`, { cwd: root }).map((test) => {
    const seen = new Set([test]);
    let distance = 0;
    for (let edge = [test]; edge.length > 0 && !seen.has(file); distance += 1) {
      edge = edge.flatMap(filesImportedBy).filter((each) => /\.ts$/.test(each) && !seen.has(each));
      for (const each of edge) seen.add(each);
    }
    return { test, distance: seen.has(file) ? distance + (isFull(test) ? 100 : 0) : Infinity };
  });
  const nearest = distances.filter(({ distance }) => distance < Infinity).sort((a, b) => a.distance - b.distance);
  return [...nearest.map(({ test }) => test), ...globSync(elsewhere[workspace] ?? [], { cwd: root })];
}

/** Runs tests in one process until one fails. */
function outcomeOf(mutant: Mutant | null, tests: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const hook = path.join(import.meta.dirname, 'mutants-hook.ts');
  const child = spawn(
    process.execPath,
    [...['--test', '--test-isolation=none', '--test-reporter=tap'], ...tests.map((test) => path.join(root, test))],
    {
      cwd: root,
      env: {
        ...env,
        // Processes that a test starts are changed too.
        NODE_OPTIONS: `--import=${hook}`,
        STRATA_MUTANT: JSON.stringify(mutant && { ...mutant, path: path.join(root, mutant.file) }),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      // In a process group of its own, so that what a test has started ends with it.
      detached: true,
    },
  );
  return new Promise((resolve) => {
    let outcome: Outcome | undefined;
    const end = (as: Outcome) => {
      outcome ??= as;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const limit = setTimeout(() => end('timeout'), mutantLimitMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) end('killed');
    });
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve(outcome ?? (code === 0 ? 'survived' : 'killed'));
    });
  });
}

/** What each test executes of `files`. Each runs in a process of its own, and must pass. */
async function coverageOf(tests: readonly string[], files: readonly string[], env: NodeJS.ProcessEnv) {
  const sources = new Set(files.map((file) => path.join(root, file)));
  const covered = new Map<string, ReadonlyMap<string, FileCoverage>>();
  for (const test of tests) {
    const directory = mkdtempSync(path.join(tmpdir(), 'strata-mutants-'));
    const outcome = await outcomeOf(null, [test], { ...env, NODE_V8_COVERAGE: directory });
    covered.set(test, readCoverage(directory, sources));
    rmSync(directory, { recursive: true });
    if (outcome !== 'survived') throw new Error(`${test} fails without a mutant`);
  }
  return covered;
}

function lineOf({ file, start }: Mutant): number {
  return readFileSync(path.join(root, file), 'utf8').slice(0, start).split('\n').length;
}

if (import.meta.main) {
  await using postgres = binaries ? await startPostgres() : undefined;
  const env = { ...process.env, ...(postgres && { STRATA_TEST_POSTGRES: postgres.url }) };
  const table: { package: string; mutants: number; killed: number; share: string }[] = [];
  for (const workspace of options.package) {
    const mutants = sampleOf(workspace);
    const files = [...new Set(mutants.map(({ file }) => file))];
    const fast = new Set(files.flatMap((file) => testsFor(workspace, file)).filter((test) => !isFull(test)));
    const covered = await coverageOf([...fast], files, env);
    let killed = 0;
    for (const mutant of mutants) {
      const started = performance.now();
      // A process that a test of the full suite kills leaves no coverage.
      const tests = testsFor(workspace, mutant.file).filter(
        (test) => isFull(test) || covered.get(test)?.get(path.join(root, mutant.file))?.isCovered[mutant.start] === 1,
      );
      let outcome: Outcome = 'survived';
      // Few at a time, since all are loaded before the first runs.
      for (let from = 0; from < tests.length && outcome === 'survived'; from += TESTS_AT_ONCE)
        outcome = await outcomeOf(mutant, tests.slice(from, from + TESTS_AT_ONCE), env);
      if (outcome !== 'survived') killed += 1;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const original = stripTypeScriptTypes(readFileSync(path.join(root, mutant.file), 'utf8'));
      const change = `${original.slice(mutant.start, mutant.end).trim()} → ${mutant.replacement.trim()}`;
      const at = `${mutant.file}:${lineOf(mutant)}`;
      console.log(
        `${outcome.padEnd(8)} ${seconds.padStart(6)} s  ${at}  ${mutant.operator}: ${change.replace(/\s+/g, ' ')}`,
      );
    }
    const share = `${((100 * killed) / mutants.length).toFixed(0)} %`;
    table.push({ package: workspace, mutants: mutants.length, killed, share });
  }
  console.table(table);
  const killed = table.reduce((sum, each) => sum + each.killed, 0);
  const mutants = table.reduce((sum, each) => sum + each.mutants, 0);
  console.log(`${killed} of ${mutants} mutants killed (seed ${options.seed})`);
}
