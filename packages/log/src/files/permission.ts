// Whom files belong to: said in words where this process may not use one, and kept where root writes for somebody else.
import { type Stats, statSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './system-code.ts';

/** Whose the refused file is, who this process is, and what to do; undefined for other errors. */
export function deniedText(file: string, error: unknown): string | undefined {
  const code = systemCode(error);
  const uid = process.geteuid?.();
  if (uid === undefined || (code !== 'EACCES' && code !== 'EPERM')) return undefined;
  const nearest = nearestSeen(file);
  if (!nearest) return `${file} may not be used by this process, of user ${uid}`;
  const { at, stats } = nearest;
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const whose = `${at} belongs to user ${stats.uid}${stats.uid === 0 ? ' (root)' : ''} with mode ${mode}, and this process is of user ${uid}`;
  return `${at === file ? '' : `${file} may not be used: `}${whose}; give it to the user of the service (chown), or run this as the user to whom it belongs`;
}

/** The file, or the nearest of its folders that this process may look at. */
function nearestSeen(file: string): { readonly at: string; readonly stats: Stats } | undefined {
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    try {
      return { at, stats: statSync(at) };
    } catch {
      if (at === path.dirname(at)) return undefined;
    }
  }
}

/** A file that root writes in somebody's directory becomes theirs, before it has its name: the service must read it. */
export async function giveToOwnerOf(directory: string, handle: FileHandle): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  // A root without the right to give files away leaves it as it is.
  if (uid !== 0) await handle.chown(uid, gid).catch(() => {});
}
