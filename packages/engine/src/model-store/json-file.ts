// Small JSON files beside the models. Replaced atomically; an unreadable one is treated as missing.
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
