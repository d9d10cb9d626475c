// Runs the test files that it is given in this one process, and sends a report of each test to the process that started it.
import path from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { TestReport } from './run.ts';

const root = path.join(import.meta.dirname, '..');
const files = process.argv.slice(2);
const names: string[] = [];
let failures = 0;
const send = (report: TestReport) => process.send?.(report);
const stream = run({ files: files.map((file) => path.join(root, file)), isolation: 'none' });

stream.on('test:start', ({ name, nesting }) => {
  names.length = nesting;
  names.push(name);
});
stream.on('test:pass', ({ file = '', name, nesting, skip, details }) => {
  if (details.type === 'suite') return;
  const common = { file: path.relative(root, file), name: [...names.slice(0, nesting), name].join(' › ') };
  if (skip !== undefined) send({ kind: 'skipped', ...common, durationMs: 0, error: String(skip) });
  else send({ kind: 'passed', ...common, durationMs: details.duration_ms });
});
stream.on('test:fail', ({ file = '', name, nesting, details }) => {
  // A suite fails with its tests; only what its hooks threw is news.
  const cause = details.error.cause ?? details.error;
  if (details.type === 'suite' && /subtests? failed/.test(String((cause as Error).message ?? cause))) return;
  failures += 1;
  const error = cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
  const label = [...names.slice(0, nesting), name].join(' › ');
  send({ kind: 'failed', file: path.relative(root, file), name: label, durationMs: details.duration_ms, error });
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
