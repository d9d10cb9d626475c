// Imports point inward only: service -> edge -> core, never sideways, never past a package's index.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import allowedImports from './house/allowed-imports.json' with { type: 'json' };
import { filesInCircles, importsOf, isTestCode, sourcesOf } from './house/imports.ts';
import { fullFolders, settings, sum, tests, wideTypes } from './house/main.ts';

const root = path.join(import.meta.dirname, '..');

/** What each workspace may import from other workspaces. A missing name is a ban, for the reason beside it. */
const allowed: Record<string, { may: readonly string[]; why: string }> = allowedImports;

/** Parts of a package with an entry of their own: `@strata/stack/store`. */
const declared = new Set(
  globSync('{packages,services}/*/package.json', { cwd: root }).flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
    return Object.keys(exports).map((entry) => path.join(name, entry));
  }),
);

/** Core packages: value in, value out. */
const pure = 'advisories detect analytics receipts inference limits'.split(' ').map((name) => `packages/${name}`);

const MAX_FILE_LINES = 300;
/** A test that costs more lines than the code that it protects is rewritten. */
const MAX_LINES = 65_000;

const isTest = (file: string) => /\.test\.ts$|\/test\//.test(file);

describe('import boundaries', () => {
  it('every workspace is in the table', () => {
    const found = globSync(['packages/*', 'services/*', 'catalog', 'web'], { cwd: root });
    assert.deepEqual(found.sort(), Object.keys(allowed).sort());
  });

  for (const [workspace, { may, why }] of Object.entries(allowed)) {
    it(`${workspace} imports only what it may (${why})`, () => {
      const problems: string[] = [];
      for (const file of sourcesOf(root, workspace)) {
        for (const specifier of importsOf(root, file)) {
          const problem = judge(file, specifier, workspace, may);
          if (problem) problems.push(`${file}: '${specifier}' ${problem}`);
        }
      }
      assert.deepEqual(problems, []);
    });
  }
});

function judge(file: string, specifier: string, workspace: string, may: readonly string[]): string | undefined {
  if (specifier.startsWith('@strata/')) {
    const [name = '', ...deeper] = specifier.slice('@strata/'.length).split('/');
    if (deeper.length > 0 && !declared.has(specifier)) return 'reaches past the index';
    // Tests may use the simulated internet and the real rulebook.
    if (isTest(file) && ['testnet', 'catalog', 'detect'].includes(name)) return undefined;
    return may.includes(name) ? undefined : 'is not in the table';
  }
  if (specifier.startsWith('.')) {
    const target = path.join(path.dirname(file), specifier);
    if (isTest(file) && target.startsWith('tests/support/')) return undefined;
    return target.startsWith(`${workspace}/`) ? undefined : 'leaves its package';
  }
  if (pure.includes(workspace) && !isTest(file) && specifier.startsWith('node:')) return 'is I/O in a pure package';
  return undefined;
}

it('no files import each other in a circle, types included', () => {
  const sources = sourcesOf(root, 'packages', 'services', 'catalog', 'web', 'bench').filter((file) => !isTest(file));
  assert.deepEqual(filesInCircles(root, sources), []);
});

it('no folder holds more than 12 source files', () => assert.deepEqual(fullFolders(), []));

it('no interface or class has more than nine methods, but for the published client', () =>
  assert.equal(
    wideTypes()
      .map(({ name }) => name)
      .join(),
    'StackClient',
  ));

it('the services have at most 60 settings', () => assert.ok(settings() <= 60, `${settings()}`));

it('every write transaction is run again where it may, or by a rule of its own', () => {
  // The ledger checks what a lost transaction has written before it retries; a restored backup is read from a file once.
  const exempt = new Set(['write-transaction.ts', 'ledger-tables.ts', 'postgres-backup.ts']);
  const own = /\.transaction\(\)(?!\s*\.setAccessMode\('read only'\))/;
  for (const file of globSync('{packages/{db,log,segments}/src,services/*/src/store}/**/*.ts', { cwd: root }))
    if (!isTestCode(file) && !exempt.has(path.basename(file)))
      assert.doesNotMatch(readFileSync(path.join(root, file), 'utf8'), own, file);
});

it('the checker of the survival tests shares no code with what it checks', () => {
  const sources = sourcesOf(root, 'tests/survival/checker');
  const own = /^(?:node:.+|pg|\.\/[\w-]+\.ts)$/;
  const foreign = sources.flatMap((file) => importsOf(root, file).filter((specifier) => !own.test(specifier)));
  assert.ok(sources.length > 0);
  assert.deepEqual(foreign, []);
});

const testFiles = tests.filter(({ file }) => /\.test\.tsx?$/.test(file));

it('no test file declares a hook outside its suites, where it would run for all files of the process', () => {
  const hook = /^(?:before|after|beforeEach|afterEach|(?:const .+ = )?use[A-Z]\w*)\(/m;
  const listed = testFiles.filter(({ text }) => hook.test(text)).map(({ file }) => file);
  assert.deepEqual(listed, []);
});

describe('the size of the tests', () => {
  it('is at most 300 lines in each test file', () => {
    const large = testFiles.filter(({ lines }) => lines > MAX_FILE_LINES).map(({ file }) => file);
    assert.deepEqual(large, []);
  });

  it('is at most 65,000 lines in all, helpers included', () => {
    const lines = sum(tests.map(({ lines }) => lines));
    assert.ok(lines <= MAX_LINES, `${lines} lines`);
  });
});
