// One writer a directory: a lock file that names its process, and is taken over when that process is gone.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { LogError, logErrorFrom } from './log-error.ts';
import { systemCode } from './system-code.ts';

/** A takeover is three file operations: this is long enough for it, many times over. */
const MAX_ATTEMPTS = 50;
const TAKEOVER_WAIT_MS = 5;

/** Held until disposed of. */
export interface Lock extends AsyncDisposable {
  readonly file: string;
}

/**
 * Takes the lock or throws LogError `locked` naming the process that has it. A process that died without letting go
 * is recognised by its number and its start time, so that a reused number (always 1 in a container) blocks nobody.
 *
 * Crash story: the file appears complete, by `link`, so a crash leaves no lock, or one of a dead process, and at most
 * a stray draft that nobody reads.
 */
export async function acquireLock(file: string): Promise<Lock> {
  const own = `${process.pid} ${startTimeOf(process.pid)}\n`;
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(draft, own);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (await tryLink(draft, file)) return { file, [Symbol.asyncDispose]: () => release(file, own) };
      const held = await readLock(file);
      if (held !== undefined && isAlive(held)) {
        throw new LogError('locked', `${file} is held by process ${Number.parseInt(held, 10)}, which is running`);
      }
      if (held !== undefined) await removeStale(file, held, draft);
    }
    throw new LogError('locked', `${file} changes hands too quickly`);
  } catch (error) {
    throw logErrorFrom(error, `take the lock ${file}`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes a stale lock. Only who holds the guard may, so that nobody removes the lock that replaced the stale one. */
async function removeStale(file: string, stale: string, draft: string): Promise<void> {
  const guard = `${file}.takeover`;
  if (await tryLink(draft, guard)) {
    if ((await readLock(file)) === stale) await unlink(file);
    await unlink(guard);
    return;
  }
  const holder = await readLock(guard);
  if (holder !== undefined && !isAlive(holder)) await rm(guard, { force: true });
  await new Promise((resume) => setTimeout(resume, TAKEOVER_WAIT_MS));
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function readLock(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function release(file: string, own: string): Promise<void> {
  if ((await readLock(file)) === own) await unlink(file);
}

function isAlive(held: string): boolean {
  const [pidText = '', startTime = ''] = held.trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to someone else.
    if (systemCode(error) === 'ESRCH') return false;
  }
  return startTimeOf(pid) === startTime;
}

/** Start of a process in clock ticks since boot (proc(5), field 22 of stat); empty where there is no /proc. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may itself hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
