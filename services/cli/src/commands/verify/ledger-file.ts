// The ledgers that `verify` knows from earlier runs: one file of the user, for both services and any number of processes.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { type LedgerMemory, textMemory } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { fileError } from '../../errors.ts';

/** Another process holds the lock for milliseconds. */
const LOCK_WAIT_MS = 10_000;

/** `strata/ledgers.json` below XDG_STATE_HOME; a relative path is ignored (XDG Base Directory Specification). */
export function ledgerFileOf({ env }: Pick<CommandContext, 'env'>): string {
  const { XDG_STATE_HOME: state = '', HOME: home } = env;
  const base = path.isAbsolute(state) ? state : path.join(home || homedir(), '.local', 'state');
  return path.join(base, 'strata', 'ledgers.json');
}

/**
 * The memory in that file. `get` rejects with CommandError where the file cannot be read. Where it cannot be written, a warning is
 * printed and the verification succeeds.
 *
 * After a crash the file has the old list or the new one: it is replaced atomically under a kernel lock.
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
          `strata: cannot write ${file} (${code ?? message}); a later fork of this ledger will not be detected\n`,
        );
        return true;
      }
    },
  });
}

/** False where the file has changed and is not replaced. Rejects with the system's error, or FileLockError. */
async function replaceUnder(file: string, text: string, isCurrent: () => Promise<boolean>): Promise<boolean> {
  // Imported here, since only a successful verification writes.
  const [{ waitForLock }, { makeDirectory, replaceFile }] = await Promise.all([
    import('@strata/db'),
    import('@strata/files'),
  ]);
  await makeDirectory(path.dirname(file), { mode: 0o700 });
  using lock = await waitForLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS });
  if (!lock) throw new Error(`${file}.lock is held by another process`);
  if (!(await isCurrent())) return false;
  await replaceFile(file, text, { mode: 0o600, sync: 'all' });
  return true;
}
