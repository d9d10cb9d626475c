// Ownership of data directories. They belong to the user of the service, and commands are often run as root: files that a command
// creates there must not stay owned by root, or the service cannot read its own keys and database.
import {
  accessSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { sqliteFileOf } from '@strata/db/file-system';
import type { CommandContext, OutputStream } from './context.ts';

/** Where a service stores its data. */
export interface DataLocation {
  readonly dataDirectory: string;
  readonly databaseUrl: string;
}

export interface DataOwner {
  /** Registers the data location of these settings, and returns them. When the process exits, files that it created there as root get the directory's owner. */
  remember<Settings extends DataLocation>(settings: Settings): Settings;
  /** A message about a registered path that this process cannot access, with the owner of the path. */
  denied(): Promise<string | undefined>;
}

export function dataOwner(context: Pick<CommandContext, 'once' | 'stderr'>): DataOwner {
  /** Data directories, and database files outside of them. */
  const paths = new Set<string>();
  return {
    remember(settings) {
      if (paths.size === 0) context.once('exit', () => restoreOwners(paths, context.stderr));
      paths.add(path.resolve(settings.dataDirectory));
      const file = sqliteFileOf(settings.databaseUrl);
      if (file !== undefined) paths.add(path.resolve(file));
      return settings;
    },
    async denied() {
      const { deniedText } = await import('@strata/files');
      for (const location of paths) {
        try {
          accessSync(location, constants.R_OK | constants.W_OK);
        } catch (error) {
          const denied = deniedText(location, error);
          if (denied !== undefined) return denied;
        }
      }
      return undefined;
    },
  };
}

function restoreOwners(paths: ReadonlySet<string>, stderr: OutputStream): void {
  if (process.geteuid?.() !== 0) return;
  for (const location of paths) {
    try {
      if (statSync(location).isDirectory()) chownFolder(location);
      else chownDatabase(location);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        stderr.write(
          `strata: files in ${location} may still be owned by root (${code}): chown them to the user of the service\n`,
        );
    }
  }
}

/** The database file with its write-ahead log and shared memory. */
function chownDatabase(file: string): void {
  const directory = realpathSync(path.dirname(file));
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      chown(path.join(directory, path.basename(file) + suffix), { uid, gid });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function chownFolder(folder: string): void {
  const directory = realpathSync(folder);
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() && !entry.isDirectory()) continue;
    try {
      chown(path.join(entry.parentPath, entry.name), { uid, gid });
    } catch (error) {
      // A running service may remove files at the same time.
      if (!['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/**
 * Changes the owner of a file that this process created or changed. Never follows a symbolic link, in the last component of the path or
 * before it: the owner of the directory could create a link there that leads to a file of root. Does nothing where the system does not
 * report the path of an open file.
 */
function chown(file: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (readlinkSync(`/proc/self/fd/${descriptor}`) !== file) return;
    const stats = fstatSync(descriptor);
    const isOurs = stats.uid === 0 && stats.ctimeMs >= performance.timeOrigin;
    if (isOurs && (stats.isDirectory() || stats.nlink === 1)) fchownSync(descriptor, uid, gid);
  } finally {
    closeSync(descriptor);
  }
}
