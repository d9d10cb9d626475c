// Small JSON files beside the models: what a file is of. Replaced whole, and worth no more than a guess when they cannot be read.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { onDisk } from './error.ts';

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

const Listing = z.array(z.object({ path: z.string(), sizeBytes: SizeBytes.optional(), sha256: Sha256.optional() }));
export type Listing = Readonly<z.infer<typeof Listing>>;

/** Undefined where there is none, or none that can be understood. */
export const readNote = (file: string): Promise<Note | undefined> => read(file, Note);
export const readListing = (file: string): Promise<Listing | undefined> => read(file, Listing);

/** Puts a note in the place of an older one; a crash leaves either of them. */
export async function writeNote(file: string, note: Note | Listing): Promise<void> {
  const fresh = `${file}.${randomUUID()}`;
  await onDisk(`keep ${path.basename(file)}`, mkdir(path.dirname(file), { recursive: true }));
  await onDisk(`keep ${path.basename(file)}`, writeFile(fresh, JSON.stringify(note)));
  await onDisk(`keep ${path.basename(file)}`, rename(fresh, file));
}

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}
