// Detects network file systems: whether a lock works between two machines depends on the server and the mount options.
import { statfsSync } from 'node:fs';
import path from 'node:path';

/** `f_type` of statfs(2) on Linux, https://man7.org/linux/man-pages/man2/statfs.2.html and the kernel's magic.h. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'CIFS',
  1702057286: 'FUSE (sshfs, s3fs, virtiofs etc.)',
  16914839: '9p',
  12805120: 'CephFS',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1937076805: 'Coda',
  2020557398: 'a VirtualBox shared folder',
  3133910204: 'a VMware shared folder',
};

type StatFs = (path: string) => { readonly type: number };

/** The network file system of the directory or its nearest existing parent; undefined for local ones. */
export function networkFileSystemOf(directory: string, statfs: StatFs = statfsSync): string | undefined {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    try {
      return NETWORK_FILE_SYSTEMS[statfs(at).type >>> 0];
    } catch {
      if (at === path.dirname(at)) return undefined;
    }
  }
}

/** The file of `sqlite:<file>`; undefined for a database server. */
export const sqliteFileOf = (databaseUrl: string): string | undefined => /^sqlite:(.+)$/.exec(databaseUrl)?.[1];

/** The directories with locks that a service relies on: its data directory and, for `sqlite:<file>`, that of the file. */
export function lockedDirectories(paths: { readonly dataDirectory: string; readonly databaseUrl: string }): string[] {
  const file = sqliteFileOf(paths.databaseUrl);
  const isOnDisk = file !== undefined && file !== ':memory:';
  const directories = [paths.dataDirectory, ...(isOnDisk ? [path.dirname(file)] : [])];
  return [...new Set(directories.map((directory) => path.resolve(directory)))];
}

/** Warns if locks in the directory may not work between machines. */
export function warnOfFileSystem(
  directory: string,
  logger: { warn(text: string): void },
  statfs: StatFs = statfsSync,
): void {
  const name = networkFileSystemOf(directory, statfs);
  if (name === undefined) return;
  logger.warn(
    `${directory} is on ${name}, where locks may not work between machines: a second service on it could fork the ledger; use a local disk, or a volume that only one machine mounts`,
  );
}
