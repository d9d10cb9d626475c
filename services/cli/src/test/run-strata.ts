// Runs the command: in this process, or as a user does in a process of its own. Neither reaches anything outside loopback.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Transform, type TransformCallback } from 'node:stream';
import type { CommandContext } from '../context.ts';
import { runCli } from '../run-cli.ts';
import './loopback-only.ts';

/** Arguments; a string is split at its blanks. */
export type Args = string | readonly string[];

export interface RunOptions {
  /** Settings; nothing of STRATA_* is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Sends SIGINT once standard error or output matches, and `whileAt` has ended. */
  readonly interruptAt?: RegExp;
  readonly whileAt?: (at: { readonly matched: RegExpExecArray }) => Promise<unknown>;
  /** Sends SIGINT once this resolves. */
  readonly interruptOn?: Promise<unknown>;
}

export type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Enough for a loaded machine; a command that hangs fails its test. */
const LIMIT_MS = 120_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

class Captured extends Transform {
  text = '';
  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.text += chunk.toString();
    this.emit('text');
    done(null, chunk);
  }
}

const states = mkdtempSync(path.join(tmpdir(), 'strata-test-states-'));
process.once('exit', () => rmSync(states, { recursive: true, force: true }));
/** Nothing is remembered of other tests' ledgers, nor in the user's home. */
const stateOfItsOwn = () => ({ XDG_STATE_HOME: path.join(states, randomUUID()) });

/** What a command has in place of its process. */
export class TestContext extends EventEmitter implements CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin = new PassThrough();
  readonly stdout = new Captured();
  readonly stderr = new Captured();
  readonly log = this.stderr;
  /** Services listen to the process itself: these were there before the command. */
  private readonly existing = SIGNALS.flatMap((name) => process.listeners(name));

  constructor(env: Readonly<Record<string, string>> = {}) {
    super();
    this.env = { ...stateOfItsOwn(), ...env };
  }

  kill(name: (typeof SIGNALS)[number]): void {
    this.emit(name);
    for (const listener of this.added(name)) listener(name);
  }

  exit(): void {
    this.emit('exit');
    for (const name of SIGNALS) for (const listener of this.added(name)) process.off(name, listener);
  }

  private readonly added = (name: (typeof SIGNALS)[number]) =>
    process.listeners(name).filter((listener) => !this.existing.includes(listener));
}

const listOf = (args: Args) => (typeof args === 'string' ? args.split(' ') : args);

export async function runStrata(args: Args, options: RunOptions = {}): Promise<Outcome> {
  const context = new TestContext(options.env);
  const { stdin, stdout, stderr } = context;
  const interrupt = () => context.kill('SIGINT');
  const atMatch = watchFor(options, () => stderr.text + stdout.text, interrupt);
  for (const stream of [stdout, stderr]) stream.on('text', atMatch.check).resume();
  options.interruptOn?.then(interrupt);
  stdin.end(options.input ?? '');
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limit = setTimeout(() => {
    interrupt();
    reject(new Error(`${args} hangs: ${stderr.text}`));
  }, LIMIT_MS);
  try {
    const code = await Promise.race([runCli(listOf(args), context), late]);
    await atMatch.done();
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    clearTimeout(limit);
    context.exit();
  }
}

/** What the command printed, which must end with this code, and say in standard error what matches, without a stack. */
export async function assertEnds(args: Args, code: number, stderr: RegExp, options?: RunOptions): Promise<Outcome> {
  const outcome = await runStrata(args, options);
  assert.equal(outcome.code, code, `${args}: ${outcome.stderr}`);
  assert.match(outcome.stderr, stderr, `${args}`);
  assert.doesNotMatch(outcome.stderr, /unexpected|\n +at /);
  return outcome;
}

export const succeed = (args: Args, options?: RunOptions) => assertEnds(args, 0, /(?:)/, options);

export const jsonOf = async (args: Args, options?: RunOptions) => JSON.parse((await succeed(args, options)).stdout);

/** Calls `interrupt` once what was printed matches, and `whileAt` has ended. */
function watchFor({ interruptAt, whileAt }: RunOptions, printed: () => string, interrupt: () => void) {
  let action: Promise<unknown> | undefined;
  return {
    check() {
      const matched = action ? undefined : interruptAt?.exec(printed());
      if (!matched) return;
      action = (whileAt?.({ matched }) ?? Promise.resolve()).finally(interrupt);
      action.catch(() => {});
    },
    done: async () => void (await action),
  };
}

/** `closesOutput` closes standard output's reading end at once; only root may ask for a `uid` to run as. */
export type ProcessOptions = RunOptions & { readonly closesOutput?: boolean; readonly uid?: number };

/** What has nothing to do with settings. */
const INHERITED = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE'];

export function strataProcess(args: Args, env: Readonly<Record<string, string>> = {}) {
  const guard = path.join(import.meta.dirname, 'loopback-only.ts');
  const main = path.join(import.meta.dirname, '../main.ts');
  return {
    command: process.execPath,
    args: ['--import', guard, main, ...listOf(args)],
    env: {
      ...Object.fromEntries(INHERITED.map((name) => [name, process.env[name] ?? ''])),
      ...stateOfItsOwn(),
      ...env,
    },
  };
}

/** Runs the command in a process of its own; `code` is null where a signal ended it. */
export function spawnStrata(args: Args, options: ProcessOptions = {}): Promise<Outcome> {
  const { command, args: all, env } = strataProcess(args, options.env);
  const child = spawn(command, all, { env, ...(options.uid === undefined ? {} : { uid: options.uid }) });
  const printed = { stdout: '', stderr: '' };
  const interrupt = () => child.kill('SIGINT');
  const atMatch = watchFor(options, () => printed.stderr + printed.stdout, interrupt);
  if (options.closesOutput) child.stdout.destroy();
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      atMatch.check();
    });
  options.interruptOn?.then(interrupt);
  // A command that ends before it has read everything is no failure of the test.
  child.stdin.on('error', () => {}).end(options.input ?? '');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      atMatch.done().then(() => resolve({ code, ...printed }), reject);
    });
  });
}

/** An unprivileged user of most systems. */
export const OTHER_UID = 65_534;

/** Why no process of another user can be started here, or false: the `skip` of tests that start one. */
export function otherUserSkip(): string | false {
  if (process.getuid?.() !== 0) return 'only root starts processes of other users';
  const { error } = spawnSync(process.execPath, ['--version'], { uid: OTHER_UID });
  return error ? 'the checkout is below a folder that other users cannot enter' : false;
}
