// The files of the store: the paths of a model and of its files beside it, and the notes, small JSON files that
// describe a model. Notes are replaced atomically; an unreadable one is treated as missing.

import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { onDisk } from './error.ts';
import { DEFAULT_REVISION, formatReference, isModelPath, type Repository } from './reference.ts';

export interface ModelPaths {
  /** The complete file; only verified files have this path. */
  readonly model: string;
  /** Facts of the complete file. */
  readonly note: string;
  /** The bytes received so far, as `PartFile` names them. */
  readonly part: string;
  /** Facts of the file that the part belongs to. */
  readonly partNote: string;
  readonly lock: string;
}

export const NOTE_SUFFIX = '.json';
export const PART_SUFFIX = '.part';

export function modelPathsOf(dir: string, repository: Repository, file: string): ModelPaths {
  const model = path.join(repositoryFolder(dir, repository), ...file.split('/'));
  return {
    model,
    note: `${model}${NOTE_SUFFIX}`,
    part: `${model}${PART_SUFFIX}`,
    partNote: `${model}${PART_SUFFIX}${NOTE_SUFFIX}`,
    lock: path.join(dir, '.locks', `${path.relative(dir, model)}.lock`),
  };
}

/** `<dir>/<owner>/<repo>`; other revisions than the default have their own folder `<repo>@<revision>`. */
export function repositoryFolder(dir: string, { owner, name, revision }: Repository): string {
  return path.join(dir, owner, revision === DEFAULT_REVISION ? name : `${name}@${encodeURIComponent(revision)}`);
}

/** The last listing of a repository, so that selecting a file again needs no request. */
export function listingPath(dir: string, repository: Repository): string {
  return path.join(repositoryFolder(dir, repository), '.listing.json');
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

const SizeBytes = z.int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const Note = z.object({
  /** Address of the file on its hub; no signatures, no token. */
  source: z.string(),
  sizeBytes: SizeBytes.optional(),
  /** Hex; published by the hub, and always known of a complete file. */
  sha256: Sha256.optional(),
  /** Strong entity tag of the server that sent the bytes. */
  etag: z.string().optional(),
});
export type Note = Readonly<z.infer<typeof Note>>;

const Listing = z.array(
  z.object({ path: z.string().refine(isModelPath), sizeBytes: SizeBytes.optional(), sha256: Sha256.optional() }),
);
export type Listing = Readonly<z.infer<typeof Listing>>;

export const noteOf = (json: unknown): Note | undefined => Note.safeParse(json).data;

/** Undefined if the file is missing or invalid. */
export const readNote = (file: string): Promise<Note | undefined> => read(file, Note);
export const readListing = (file: string): Promise<Listing | undefined> => read(file, Listing);

/** Replaces a note atomically: a crash leaves either the old or the new one. */
export async function writeNote(file: string, note: Note | Listing): Promise<void> {
  const fresh = `${file}.${randomUUID()}`;
  const writing = async () => {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(fresh, JSON.stringify(note));
    await rename(fresh, file);
  };
  try {
    await onDisk(`write ${path.basename(file)}`, writing());
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Completes the move that a crash interrupted after the rename of the part. Call under the lock. */
export async function finishInterruptedMove({ model, note, part, partNote }: ModelPaths): Promise<void> {
  const [hasModel, hasPart] = await Promise.all([model, part].map(exists));
  if (hasModel && !hasPart && (await exists(partNote))) await onDisk('rename the note', rename(partNote, note));
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
