// Lists a store: complete models and partial downloads.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { onDisk, readDocumentNote } from '@strata/files';
import { refuseDiskError } from './error.ts';
import { NOTE_SUFFIX, PART_SUFFIX, referenceOf } from './store-files.ts';

interface Listed {
  /** Relative to the store, with slashes on every platform. */
  readonly name: string;
  /** Reference for `resolveModel`; the path of a file that was added by hand. */
  readonly reference: string;
}

export type StoredModel =
  | ({ readonly kind: 'complete'; readonly sizeBytes: number } & Listed)
  | ({
      readonly kind: 'partial';
      readonly receivedBytes: number;
      /** Of the complete file; undefined while unknown. */
      readonly sizeBytes: number | undefined;
    } & Listed);

/** GGUF files of a store, by name; empty if the store does not exist. Rejects with `disk`. */
export async function listModels(dir: string): Promise<readonly StoredModel[]> {
  const found = readdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const listed = await onDisk(`list ${dir}`, found).catch(refuseDiskError);
  const names = listed.map((name) => name.split(path.sep).join('/')).sort();
  const models = await Promise.all(names.map((name) => describe(dir, name)));
  return models.filter((model) => model !== undefined);
}

async function describe(dir: string, name: string): Promise<StoredModel | undefined> {
  if (!/\.gguf(\.part)?$/i.test(name)) return undefined;
  const file = path.join(dir, name);
  const found = await stat(file).catch(() => undefined);
  // It may have been completed or removed since the listing.
  if (!found?.isFile()) return undefined;
  if (!name.endsWith(PART_SUFFIX)) {
    return { kind: 'complete', name, reference: referenceOf(name) ?? file, sizeBytes: found.size };
  }
  const model = name.slice(0, -PART_SUFFIX.length);
  const note = await readDocumentNote(`${file}${NOTE_SUFFIX}`);
  return {
    kind: 'partial',
    name: model,
    reference: referenceOf(model) ?? path.join(dir, model),
    receivedBytes: found.size,
    sizeBytes: note?.sizeBytes,
  };
}
