// Runs the command as a user does: a process of its own, with its own environment and data directory.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface RunOptions {
  /** Settings; nothing of STRATA_* is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Sends SIGINT once standard error or output matches, and `whileAt` has ended. */
  readonly interruptAt?: RegExp;
  readonly whileAt?: (at: { readonly matched: RegExpExecArray }) => Promise<void>;
  /** Closes standard output's reading end at once. */
  readonly closesOutput?: boolean;
  /** Runs as this user; only root may ask for it. */
  readonly uid?: number;
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const main = path.join(import.meta.dirname, '../main.ts');
const guard = path.join(import.meta.dirname, 'loopback-only.ts');
/** Enough for a loaded machine; a command that hangs fails its test by `code` null. */
const LIMIT_MS = 120_000;

export function runStrata(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('STRATA_') && !name.startsWith('NODE_'),
  );
  const child = spawn(process.execPath, ['--import', guard, main, ...args], {
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  });
  let stdout = '';
  let stderr = '';
  let meanwhile: Promise<void> | undefined;
  const interrupt = () => {
    const matched = options.interruptAt?.exec(stderr + stdout);
    if (!matched || meanwhile) return;
    meanwhile = (options.whileAt?.({ matched }) ?? Promise.resolve()).finally(() => child.kill('SIGINT'));
    meanwhile.catch(() => {});
  };
  if (options.closesOutput) child.stdout.destroy();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    interrupt();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    interrupt();
  });
  // A command that ends before it has read everything is no failure of the test.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      const outcome = { code, signal, stdout, stderr };
      Promise.resolve(meanwhile).then(() => resolve(outcome), reject);
    });
  });
}

/** A data directory that goes away with the test. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-cli-'));
  return { path: directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
