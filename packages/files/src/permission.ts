// File ownership: explains denied access, and preserves ownership when root writes for another user.
import { type Stats, statSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import path from 'node:path';

/** The code of a system error, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** The owner of the file, the user of this process, and what to do; undefined for other errors. */
export function deniedText(file: string, error: unknown): string | undefined {
  const code = systemCode(error);
  const uid = process.geteuid?.();
  if (uid === undefined || (code !== 'EACCES' && code !== 'EPERM')) return undefined;
  const nearest = nearestReadable(file);
  if (!nearest) return `${file} cannot be accessed by this process, of user ${uid}`;
  const { at, stats } = nearest;
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const owner = `${at} belongs to user ${stats.uid}${stats.uid === 0 ? ' (root)' : ''} with mode ${mode}, and this process runs as user ${uid}`;
  return `${at === file ? '' : `${file} cannot be accessed: `}${owner}; give it to the user of the service (chown), or run this as its owner`;
}

/** The file, or its nearest parent directory that this process can stat. */
function nearestReadable(file: string): { readonly at: string; readonly stats: Stats } | undefined {
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    try {
      return { at, stats: statSync(at) };
    } catch {
      if (at === path.dirname(at)) return undefined;
    }
  }
}

/** Gives a file that root creates to the owner of the directory, before it is renamed, so that the service can read it. */
export async function giveToOwnerOf(directory: string, handle: FileHandle): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  // Without CAP_CHOWN the owner is not changed.
  if (uid !== 0) await handle.chown(uid, gid).catch(() => {});
}
