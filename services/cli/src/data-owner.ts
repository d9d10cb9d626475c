// Data directories belong to the user of the service, and commands are often run as root: what a command leaves there must not
// become root's, or the service cannot read its own keys and database.

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
import { sqliteFileOf } from '@strata/db';
import type { CommandContext, OutputStream } from './context.ts';

/** Where the data of a service is. */
export interface DataPlaces {
  readonly dataDirectory: string;
  readonly databaseUrl: string;
}

export interface DataOwner {
  /** Remembers where these settings keep their data, and gives to its owner, when the process ends, what root has left there. Answers the settings. */
  remember<Settings extends DataPlaces>(settings: Settings): Settings;
  /** Which of the remembered places this process may not use, and whose it is. */
  denied(): Promise<string | undefined>;
}

/** The owner of the data of one command. */
export function dataOwner(context: Pick<CommandContext, 'once' | 'stderr'>): DataOwner {
  /** The settings' directories, with the database files that are elsewhere. */
  const places = new Set<string>();
  return {
    remember(settings) {
      if (places.size === 0) context.once('exit', () => giveBack(places, context.stderr));
      places.add(path.resolve(settings.dataDirectory));
      const file = sqliteFileOf(settings.databaseUrl);
      if (file !== undefined) places.add(path.resolve(file));
      return settings;
    },
    async denied() {
      const { deniedText } = await import('@strata/log');
      for (const place of places) {
        try {
          accessSync(place, constants.R_OK | constants.W_OK);
        } catch (error) {
          const denied = deniedText(place, error);
          if (denied !== undefined) return denied;
        }
      }
      return undefined;
    },
  };
}

function giveBack(places: ReadonlySet<string>, stderr: OutputStream): void {
  if (process.geteuid?.() !== 0) return;
  for (const place of places) {
    try {
      if (statSync(place).isDirectory()) giveFolder(place);
      else giveDatabase(place);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        stderr.write(`strata: what root wrote in ${place} may still be root's (${code}): chown it\n`);
    }
  }
}

/** The file, and what SQLite keeps beside it. */
function giveDatabase(file: string): void {
  const directory = realpathSync(path.dirname(file));
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      give(path.join(directory, path.basename(file) + suffix), { uid, gid });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function giveFolder(place: string): void {
  const directory = realpathSync(place);
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() && !entry.isDirectory()) continue;
    try {
      give(path.join(entry.parentPath, entry.name), { uid, gid });
    } catch (error) {
      // A running service removes files of its own meanwhile.
      if (!['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/**
 * Only what this process has made or changed, and never through a link, be it the last part of the path or one before it: the
 * directory is somebody else's, who might have put one there, just now, that leads to a file of root's. Where the system does not
 * say what was opened, nothing is given.
 */
function give(file: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
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
