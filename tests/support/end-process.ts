// Ends processes that a test has started.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Stops it, by SIGTERM by default, and kills it where that takes too long; resolves when it has exited. */
export async function endProcess(child: ChildProcess, limitMs: number, stop = () => void child.kill()): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  stop();
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
  await exited;
  clearTimeout(late);
}
