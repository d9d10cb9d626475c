// Runs the test files that it is given in this one process, and sends a report of each test to the process that started it.
import { createHook } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import path from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { TestReport } from './run.ts';

const root = path.join(import.meta.dirname, '..');
const nameFile = path.join(import.meta.dirname, 'name-file.ts');
const files = [nameFile, ...process.argv.slice(2).map((file) => path.join(root, file))];
const names: string[] = [];
/** File of each test by its names, from tests/name-file.ts; the runner itself knows where `it` was called. */
const declaredIn = new Map<string, string>();
subscribe('strata:test-started', (message) => {
  // Of a test that the runner itself declares the file is null.
  const { name, file } = message as { readonly name: string; readonly file: string | null };
  if (file === null) return;
  declaredIn.set(name, file);
  last = { file, name };
  send({ kind: 'started', file: path.relative(root, file), name, durationMs: 0 });
});
let last = { file: '', name: '' };
let isOver = false;
let failures = 0;
/** Files that failed to run: they could not be loaded, or declare no test. */
const failedFiles = new Set<string>();
const send = (report: TestReport) => process.send?.(report);
function fail(file: string, name: string, error: unknown, durationMs = 0): void {
  failures += 1;
  const text = typeof error === 'string' ? error : error instanceof Error && error.stack;
  send({ kind: 'failed', file: path.relative(root, file), name, durationMs, error: text || inspect(error) });
}
withoutPromiseHooks();
const stream = run({ files, isolation: 'none' });

stream.on('test:start', ({ name, nesting }) => {
  names.length = nesting;
  names.push(name);
});
function identify({ name, nesting, file = '' }: { name: string; nesting: number; file?: string | undefined }) {
  if (files.includes(name)) {
    failedFiles.add(name);
    return { file: path.relative(root, name), name: 'the file itself' };
  }
  const all = [...names.slice(0, nesting), name];
  return { file: path.relative(root, declaredIn.get(all.join(' > ')) ?? file), name: all.join(' › ') };
}

stream.on('test:pass', ({ skip, details, ...test }) => {
  if (test.file === nameFile || (details.type === 'suite' && skip === undefined)) return;
  const { file, name } = identify(test);
  // The runner passes a file without tests as one test with the file's path as its name.
  if (failedFiles.has(test.name)) fail(file, name, 'the file declares no test');
  else if (skip === undefined) send({ kind: 'passed', file, name, durationMs: details.duration_ms });
  else send({ kind: 'skipped', file, name, durationMs: 0, error: skip === true ? 'no reason given' : String(skip) });
});
stream.on('test:fail', ({ details, ...test }) => {
  // A suite fails with its tests; only errors of its hooks are reported.
  const cause = details.error.cause ?? details.error;
  if (details.type === 'suite' && /subtests? failed/.test(String((cause as Error).message ?? cause))) return;
  const { file, name } = identify(test);
  fail(file, name, cause, details.duration_ms);
});
/** A test that still runs this long after an error that nothing caught waits for what the error prevented. */
const stuckLimitMs = 20_000;

// What is thrown outside a test's promise fails no test.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    const { file, name } = last;
    fail(file, `${name}, or a test before it: ${event}`, error);
    setTimeout(() => last.name === name && !isOver && process.exit(5), stuckLimitMs).unref();
  });
}
stream.on('test:summary', ({ success, file }) => {
  if (!success && file === undefined && failures === 0) fail('', 'the run', 'failed without a failed test');
});

/** What is still open after this time was left open by a test. Generous, since both cores may be busy. */
const closeLimitMs = 30_000;

// The channel to the parent keeps the process alive; without it the process ends when the tests leave nothing open.
stream.on('end', async () => {
  isOver = true;
  // The runner loses what a file throws after its first test was declared; a second import throws the same again.
  for (const file of files.filter((each) => !failedFiles.has(each)))
    await import(pathToFileURL(file).href).catch((error: unknown) => fail(file, 'the file itself', error));
  process.exitCode = failures === 0 ? 0 : 1;
  process.disconnect?.();
  const reportOpen = () => {
    console.error(`a test left open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(4);
  };
  setTimeout(reportOpen, closeLimitMs).unref();
});
stream.resume();
process.exitCode = 3;

/**
 * The runner's hook that finds the test of an uncaught error follows every promise until it is collected: a fifth of the CPU time. It
 * is enabled here as `createHook({ trackPromises: false })` would: it still finds the suite in which a test is declared.
 */
function withoutPromiseHooks(): void {
  const hook = createHook({ trackPromises: false });
  const ignoresPromises = Object.getOwnPropertySymbols(hook).find((each) => Reflect.get(hook, each) === true);
  const prototype: typeof hook = Object.getPrototypeOf(hook);
  const { enable } = prototype;
  prototype.enable = function () {
    prototype.enable = enable;
    if (ignoresPromises) Reflect.set(this, ignoresPromises, true);
    return enable.call(this);
  };
}
