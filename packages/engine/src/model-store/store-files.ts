// The files of the store: the paths of a model and of its files beside it, and what they say about a stored model.

import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { onDisk, readDocumentNote, replaceFile } from '@strata/files';
import { z } from 'zod';
import { DEFAULT_REVISION, formatReference, isModelPath, type Repository } from './reference.ts';
import type { HubFile } from './select-files.ts';

export interface ModelPaths {
  /** The complete file; only verified files have this path. */
  readonly model: string;
  /** Facts of the complete file. */
  readonly note: string;
  readonly lock: string;
}

export const NOTE_SUFFIX = '.json';
export const PART_SUFFIX = '.part';

export function modelPathsOf(dir: string, repository: Repository, file: string): ModelPaths {
  const model = path.join(repositoryFolder(dir, repository), ...file.split('/'));
  return {
    model,
    note: `${model}${NOTE_SUFFIX}`,
    lock: path.join(dir, '.locks', `${path.relative(dir, model)}.lock`),
  };
}

/** `<dir>/<owner>/<repo>`; other revisions than the default have their own folder `<repo>@<revision>`. */
function repositoryFolder(dir: string, { owner, name, revision }: Repository): string {
  return path.join(dir, owner, revision === DEFAULT_REVISION ? name : `${name}@${encodeURIComponent(revision)}`);
}

/** The reference of a stored file, by its path relative to the store; undefined outside a repository's folder. */
export function referenceOf(name: string): string | undefined {
  const [owner, folder, ...file] = name.split('/');
  if (!owner || !folder || file.length === 0) return undefined;
  const [repository = '', revision] = folder.split('@');
  try {
    return formatReference(
      { owner, name: repository, revision: revision === undefined ? DEFAULT_REVISION : decodeURIComponent(revision) },
      file.join('/'),
    );
  } catch {
    return undefined;
  }
}

/**
 * Whether the file is stored, is the listed version, and has its recorded size. A file without a note was added by hand
 * and is accepted as is.
 */
export async function isStored({ model, note }: ModelPaths, { sha256 }: HubFile): Promise<boolean> {
  const sizeBytes = await sizeOf(model);
  if (sizeBytes === undefined) return false;
  const known = await readDocumentNote(note);
  if (!known) return !(await isMoveInterrupted(model));
  const isListed = sha256 === undefined || known.sha256 === undefined || sha256 === known.sha256;
  return isListed && known.sizeBytes === sizeBytes;
}

/** Completes the move that a crash interrupted after the rename of the part. Call under the lock. */
export async function finishInterruptedMove({ model, note }: ModelPaths): Promise<void> {
  if (await isMoveInterrupted(model)) await onDisk('rename the note', rename(partNoteOf(model), note));
}

const partNoteOf = (model: string): string => `${model}${PART_SUFFIX}${NOTE_SUFFIX}`;

/** Whether the note still belongs to a part, which was renamed. */
async function isMoveInterrupted(model: string): Promise<boolean> {
  const files = [model, `${model}${PART_SUFFIX}`, partNoteOf(model)];
  const [hasModel, hasPart, hasPartNote] = await Promise.all(
    files.map(async (file) => (await sizeOf(file)) !== undefined),
  );
  return Boolean(hasModel && !hasPart && hasPartNote);
}

/** Undefined if there is no such file. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

const Listing = z.array(
  z.object({
    path: z.string().refine(isModelPath),
    sizeBytes: z.int().nonnegative().optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
  }),
);

/** The last listing of a repository, so that selecting a file again needs no request. */
const listingPath = (dir: string, repository: Repository): string =>
  path.join(repositoryFolder(dir, repository), `.listing${NOTE_SUFFIX}`);

/** Undefined if it is missing or invalid. */
export async function readListing(dir: string, repository: Repository): Promise<readonly HubFile[] | undefined> {
  try {
    return Listing.parse(JSON.parse(await readFile(listingPath(dir, repository), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Rejects with DiskError. */
export async function writeListing(dir: string, repository: Repository, listing: readonly HubFile[]): Promise<void> {
  const file = listingPath(dir, repository);
  const writing = async () => {
    await mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, JSON.stringify(listing), { sync: 'none', isShared: true });
  };
  await onDisk(`write ${path.basename(file)}`, writing());
}
