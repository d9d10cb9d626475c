// Every provider entry, unchecked; `loadCatalog` of @strata/detect validates them.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import addressRanges from './address-ranges.json' with { type: 'json' };

interface ProviderFile {
  readonly name: string;
  readonly providers: readonly { readonly id?: unknown }[];
}

const directory = path.join(import.meta.dirname, 'providers');
const files = readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .map((name): ProviderFile => ({ name, providers: read(name) }));

export const entries: readonly unknown[] = files.flatMap(({ providers }) => providers);

/** The name in `providers/` of the file that has the entry with this id. */
export const fileNameOf = (id: string): string => `${/^[a-z]/.test(id) ? id.charAt(0) : '0-9'}.json`;

/** The file that has the entry with this id. */
export const fileOf = (id: string): string => path.join(directory, fileNameOf(id));

/** One line for each entry that is in the wrong file, or not in the order of the ids. */
export function misplaced(): readonly string[] {
  return files.flatMap(({ name, providers }) =>
    providers.flatMap(({ id }, at) => {
      // An entry without an id is a problem of the schema.
      if (typeof id !== 'string') return [];
      if (fileNameOf(id) !== name) return [`${id}: belongs in ${fileNameOf(id)}, not ${name}`];
      return id > String(providers[at - 1]?.id ?? '') ? [] : [`${id}: the entries of ${name} are not sorted by id`];
    }),
  );
}

function read(name: string): ProviderFile['providers'] {
  try {
    return JSON.parse(readFileSync(path.join(directory, name), 'utf8')).providers;
  } catch (cause) {
    throw new Error(`catalog/providers/${name} is not valid: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/**
 * The meaning of the tags of published address ranges, unchecked; `loadAddressRanges` of @strata/detect validates them.
 */
export const rangeMeanings: readonly unknown[] = addressRanges;
