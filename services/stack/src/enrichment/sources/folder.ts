// A folder with files of the publishers, for machines without a network. The format of a file is detected from its content.
import { access, constants, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type AdvisorySource, RecordBatch, SourceError } from '../source.ts';
import { contentOf, isAdvisoryFile } from './folder-files.ts';

export interface FolderOptions {
  readonly directory: string;
  readonly everyMs: number;
}

/** The size and time of each file when it was read, by path below the folder. */
const Cursor = z.object({ directory: z.string(), files: z.record(z.string(), z.string()) });
type Cursor = z.infer<typeof Cursor>;

const KNOWN_FILE = /\.(?:json|json\.gz|zip|csv|csv\.gz)$/i;
/** All of them are in the cursor; publishers of hundreds of thousands of files also provide a zip. */
const MAX_FILES = 50_000;
const FILES_AT_ONCE = 200;

export function folderSource({ directory, everyMs }: FolderOptions): AdvisorySource {
  return {
    name: 'folder',
    everyMs,
    async *sync(stored, { directory: ownDirectory, signal }) {
      const here = path.resolve(directory);
      const present = await filesIn(here);
      if (present.length === 0)
        throw new SourceError(`the folder ${directory} contains no file of a publisher: no .json, .csv, .zip or .gz`);
      const before = Cursor.safeParse(stored).data;
      const known = before?.directory === here ? before.files : {};
      // A file that was removed and returns is read again.
      const files = Object.fromEntries(
        present.flatMap(({ file, mark }) => (known[file] === mark ? [[file, mark]] : [])),
      );
      const unread = present.filter(({ file, mark }) => files[file] !== mark);
      let cursor: Cursor = { directory: here, files };
      let read: Listed[] = [];
      let batch = new RecordBatch();
      for (const each of unread) {
        signal.throwIfAborted();
        const file = path.join(here, each.file);
        if (!(await isReadable(file))) {
          batch.add({ record: null, problem: `${path.basename(file)}: no permission to read it` });
          continue;
        }
        const content = await contentOf(file, { scratch: path.join(ownDirectory, 'folder.zip'), signal });
        if ('record' in content) {
          batch.add(content);
          read.push(each);
          if (read.length < FILES_AT_ONCE) continue;
        }
        cursor = withRead(cursor, read);
        if (read.length + batch.size > 0) yield batch.step(cursor);
        batch = new RecordBatch();
        read = [];
        if ('record' in content) continue;
        // An interrupted file is read again from its beginning, which has no further effect.
        for await (const step of content) yield { ...step, cursor };
        read.push(each);
      }
      cursor = withRead(cursor, read);
      if (batch.size > 0) yield batch.step(cursor);
      return cursor;
    },
  };
}

const withRead = ({ directory, files }: Cursor, read: readonly Listed[]): Cursor => ({
  directory,
  files: { ...files, ...Object.fromEntries(read.map(({ file, mark }) => [file, mark])) },
});

interface Listed {
  readonly file: string;
  readonly mark: string;
}

/** Sorted by name, so that a year's file is read before its changes. */
async function filesIn(directory: string): Promise<Listed[]> {
  const names = await readdir(directory, { recursive: true }).catch((cause: unknown) => {
    throw new SourceError(`the folder ${directory} cannot be read`, { cause });
  });
  const known = names.filter((name) => KNOWN_FILE.test(name) && isAdvisoryFile(name)).sort();
  if (known.length > MAX_FILES)
    throw new SourceError(`the folder ${directory} contains more than ${MAX_FILES} files: pack them as zip`);
  const found: Listed[] = [];
  for (const file of known) {
    // Skips a file that was removed in the meantime.
    const stats = await stat(path.join(directory, file)).catch(() => undefined);
    if (stats?.isFile()) found.push({ file, mark: `${stats.size} ${Math.round(stats.mtimeMs)}` });
  }
  return found;
}

const isReadable = (file: string): Promise<boolean> =>
  access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
