// What a store holds: models that are whole, and models that are on their way.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from './error.ts';
import { readNote } from './json-file.ts';
import { NOTE_SUFFIX, PART_SUFFIX, referenceOf } from './paths.ts';

interface Listed {
  /** Relative to the store, with slashes everywhere. */
  readonly name: string;
  /** What `resolveModel` makes of it; of a file that was put there by hand, its path. */
  readonly reference: string;
}

export type StoredModel =
  | ({ readonly kind: 'complete'; readonly sizeBytes: number } & Listed)
  | ({
      readonly kind: 'partial';
      readonly receivedBytes: number;
      /** Of the whole; undefined where it is not known yet. */
      readonly sizeBytes: number | undefined;
    } & Listed);

/** GGUF files in a store, by name; none where there is no store yet. Rejects with `disk`. */
export async function listModels(dir: string): Promise<readonly StoredModel[]> {
  const found = readdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const names = (await onDisk(`list ${dir}`, found)).map((name) => name.split(path.sep).join('/')).sort();
  const models = await Promise.all(names.map((name) => describe(dir, name)));
  return models.filter((model) => model !== undefined);
}

async function describe(dir: string, name: string): Promise<StoredModel | undefined> {
  if (!/\.gguf(\.part)?$/i.test(name)) return undefined;
  const file = path.join(dir, name);
  const found = await stat(file).catch(() => undefined);
  // It may have become whole, or gone, just now.
  if (!found?.isFile()) return undefined;
  if (!name.endsWith(PART_SUFFIX)) {
    return { kind: 'complete', name, reference: referenceOf(name) ?? file, sizeBytes: found.size };
  }
  const model = name.slice(0, -PART_SUFFIX.length);
  const note = await readNote(`${file}${NOTE_SUFFIX}`);
  return {
    kind: 'partial',
    name: model,
    reference: referenceOf(model) ?? path.join(dir, model),
    receivedBytes: found.size,
    sizeBytes: note?.sizeBytes,
  };
}
