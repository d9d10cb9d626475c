// Small JSON files beside the models: what a file is of. Replaced whole, and worth no more than a guess when they cannot be read.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { onDisk } from './error.ts';
import { isModelPath } from './reference.ts';

const SizeBytes = z.int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const Note = z.object({
  /** Address of the file on its hub; no signatures, no token. */
  source: z.string(),
  sizeBytes: SizeBytes.optional(),
  /** Hex; told by the hub, and of a whole file always known. */
  sha256: Sha256.optional(),
  /** Strong, of the server that sent the bytes. */
  etag: z.string().optional(),
});
export type Note = Readonly<z.infer<typeof Note>>;

const Listing = z.array(
  z.object({ path: z.string().refine(isModelPath), sizeBytes: SizeBytes.optional(), sha256: Sha256.optional() }),
);
export type Listing = Readonly<z.infer<typeof Listing>>;

/** Undefined where there is none, or none that can be understood. */
export const readNote = (file: string): Promise<Note | undefined> => read(file, Note);
export const readListing = (file: string): Promise<Listing | undefined> => read(file, Listing);

/** Puts a note in the place of an older one; a crash leaves either of them. */
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
