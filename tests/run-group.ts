// Runs the test files that it is given in this one process, and sends a report of each test to the process that started it.
import { subscribe } from 'node:diagnostics_channel';
import path from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { TestReport } from './run.ts';

const root = path.join(import.meta.dirname, '..');
const nameFile = path.join(import.meta.dirname, 'name-file.ts');
const files = [nameFile, ...process.argv.slice(2).map((file) => path.join(root, file))];
const names: string[] = [];
/** File of each test by its names, from tests/name-file.ts; the runner itself knows where `it` was called. */
const declaredIn = new Map<string, string>();
subscribe('strata:test-started', (message) => {
  const { name, file } = message as { readonly name: string; readonly file: string };
  declaredIn.set(name, file);
});
let failures = 0;
const send = (report: TestReport) => process.send?.(report);
const stream = run({ files, isolation: 'none' });

stream.on('test:start', ({ name, nesting }) => {
  names.length = nesting;
  names.push(name);
});
function placed({ name, nesting, file = '' }: { name: string; nesting: number; file?: string | undefined }) {
  const all = [...names.slice(0, nesting), name];
  return { file: path.relative(root, declaredIn.get(all.join(' > ')) ?? file), name: all.join(' › ') };
}

stream.on('test:pass', ({ skip, details, ...test }) => {
  if (details.type === 'suite' || test.file === nameFile) return;
  const common = placed(test);
  if (skip !== undefined) send({ kind: 'skipped', ...common, durationMs: 0, error: String(skip) });
  else send({ kind: 'passed', ...common, durationMs: details.duration_ms });
});
stream.on('test:fail', ({ details, ...test }) => {
  // A suite fails with its tests; only what its hooks threw is news.
  const cause = details.error.cause ?? details.error;
  if (details.type === 'suite' && /subtests? failed/.test(String((cause as Error).message ?? cause))) return;
  failures += 1;
  const error = cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
  send({ kind: 'failed', ...placed(test), durationMs: details.duration_ms, error });
});

/** What is still open after this time was left open by a test. Generous, since both cores may be busy. */
const closeLimitMs = 30_000;

// The channel to the parent keeps the process alive; without it the process ends when the tests leave nothing open.
stream.on('end', () => {
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
