// What `verify` remembers of ledgers between two runs: one file of the user, for both services and any number of processes.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { type LedgerMemory, textMemory } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { fileError } from '../../errors.ts';

/** Another process holds the lock for some milliseconds. */
const LOCK_WAIT_MS = 10_000;

/** `strata/ledgers.json` below XDG_STATE_HOME, which counts where it is absolute (XDG Base Directory Specification). */
export function ledgerFileOf({ env }: Pick<CommandContext, 'env'>): string {
  const { XDG_STATE_HOME: state = '', HOME: home } = env;
  const base = path.isAbsolute(state) ? state : path.join(home || homedir(), '.local', 'state');
  return path.join(base, 'strata', 'ledgers.json');
}

/**
 * The memory in that file. `get` rejects with CommandError where the file cannot be read. Where it cannot be written, a warning says
 * so and the check stands.
 *
 * Crash story: the file is replaced in one step under a lock of the kernel, so it holds the old list or the new one.
 */
export function ledgerFileMemory(context: Pick<CommandContext, 'env' | 'stderr'>): LedgerMemory {
  const file = ledgerFileOf(context);
  const read = () =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw fileError(file, error);
    });
  return textMemory({
    read,
    async write(text, before) {
      try {
        return await replaceUnder(file, text, async () => (await read()) === before);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        context.stderr.write(
          `strata: what was verified cannot be remembered, so that a fork will not be noticed: ${file} (${code ?? message})\n`,
        );
        return true;
      }
    },
  });
}

/** False where the file is not to be replaced any more. Rejects with the system's error, or FileLockError. */
async function replaceUnder(file: string, text: string, isCurrent: () => Promise<boolean>): Promise<boolean> {
  // Only a check that ends well writes: help and refusals start without a database.
  const [{ waitForLock }, { makeDirectory, replaceFile }] = await Promise.all([
    import('@strata/db'),
    import('@strata/log'),
  ]);
  await makeDirectory(path.dirname(file), { mode: 0o700 });
  using lock = await waitForLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS });
  if (!lock) throw new Error(`${file}.lock is held by another process`);
  if (!(await isCurrent())) return false;
  await replaceFile(file, new TextEncoder().encode(text), { mode: 0o600, isSynced: true });
  return true;
}
