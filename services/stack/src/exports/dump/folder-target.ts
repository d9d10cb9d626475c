// Dumps in a folder. Files of an unfinished dump are in `.incomplete`; a folder of a table appears with all its files.
import { constants } from 'node:fs';
import { access, copyFile, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, onDisk, readIfPresent, replaceFile, syncDirectory } from '@strata/files';
import type { DumpTarget } from './dump-target.ts';

const WRITE = 'write the dump';

/** Creates the folder. Rejects with the system's error if dumps cannot be written there. */
export async function checkDumpFolder(folder: string): Promise<void> {
  await makeDirectory(folder);
  await access(folder, constants.W_OK);
}

export class FolderTarget implements DumpTarget {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(name: string): Promise<string | undefined> {
    const bytes = await onDisk('read the manifest', readIfPresent(this.#at(name)));
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  async remove(manifest: string, folders: readonly string[]): Promise<void> {
    for (const name of [manifest, ...folders, '.incomplete'])
      await onDisk('remove the earlier dump', rm(this.#at(name), { recursive: true, force: true }));
  }

  async put(name: string, { path: from }: Parameters<DumpTarget['put']>[1]): Promise<void> {
    const to = this.#at('.incomplete', name);
    await onDisk(WRITE, makeDirectory(path.dirname(to)));
    await onDisk(WRITE, copyFile(from, to, constants.COPYFILE_FICLONE));
    await using handle = await onDisk(WRITE, open(to, 'r+'));
    await onDisk(WRITE, handle.sync());
    await onDisk(WRITE, syncDirectory(path.dirname(to)));
  }

  async complete(manifest: string, text: string, folders: readonly string[]): Promise<void> {
    for (const name of folders) {
      const parent = path.dirname(this.#at(name));
      await onDisk(WRITE, makeDirectory(parent));
      await onDisk(WRITE, rename(this.#at('.incomplete', name), this.#at(name)));
      await onDisk(WRITE, syncDirectory(parent));
    }
    await onDisk(WRITE, makeDirectory(path.dirname(this.#at(manifest))));
    await onDisk(WRITE, replaceFile(this.#at(manifest), text, { sync: 'all' }));
    await rm(this.#at('.incomplete'), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {}

  #at(...names: string[]): string {
    return path.join(this.#folder, ...names);
  }
}
