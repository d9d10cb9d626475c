// The manifest of a backup: its files with sizes and digests. It is written last: a folder without one is not a backup.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { CommandError, fileError, usageError } from '../errors.ts';

export const MANIFEST_FILE = 'manifest.json';
export const STORE_FILE = 'strata.db';
export const LEAVES_FILE = 'ledger/leaves.gz';
export const CHECKPOINT_FILE = 'ledger/checkpoint';
export const KEYS_FILE = 'public-keys.json';
export const rowsFile = (table: string): string => `store/${table}.copy.gz`;

/** A backup is untrusted input: paths outside of it are rejected. */
const PART = /^(?:strata\.db|store\/[a-z_]{1,60}\.copy\.gz|ledger\/leaves\.gz|ledger\/checkpoint|public-keys\.json)$/;
const MAX_BYTES = 1_000_000;

const Count = z.int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const Manifest = z.object({
  format: z.literal('strata-stack-backup'),
  /** Version of this format. */
  version: z.literal(1),
  made_at: z.iso.datetime(),
  /** Version of Strata that created it. */
  strata: z.string().max(50),
  store: z.object({
    kind: z.enum(['sqlite', 'postgres']),
    schema: z.string().max(100),
    tables: z
      .array(
        z.object({
          table: z.string().regex(/^[a-z_]{1,60}$/),
          rows: Count,
          columns: z.array(z.string().regex(/^[a-z0-9_]{1,60}$/)).optional(),
          sha256: Sha256.optional(),
          last: Count.optional(),
        }),
      )
      .max(1_000),
  }),
  ledger: z.object({
    leaves: Count,
    /** Hex, RFC 6962. */
    root: Sha256,
    origin: z.string().max(500).nullable(),
    /** Leaves under the checkpoint of the backup; later leaves are durable too. */
    checkpoint_leaves: Count,
  }),
  files: z.array(z.object({ path: z.string().regex(PART), bytes: Count, sha256: Sha256 })).max(1_000),
});
export type Manifest = z.infer<typeof Manifest>;
export type Part = Manifest['files'][number];

/** Throws CommandError if the manifest does not have this file. */
export function partOf({ files }: Manifest, name: string): Part {
  const part = files.find((each) => each.path === name);
  if (!part) throw new CommandError(`the backup is damaged: its manifest does not have ${name}`);
  return part;
}

export interface ReadManifest {
  readonly manifest: Manifest;
  /** The signed bytes. */
  readonly bytes: Uint8Array;
}

/** Throws CommandError where there is no complete backup, or one of a later version. */
export async function readManifest(folder: string): Promise<ReadManifest> {
  const file = path.join(folder, MANIFEST_FILE);
  const bytes = await read(file, folder);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch (cause) {
    throw new CommandError(`${file} is not JSON: the backup is damaged`, { cause });
  }
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown };
  if (format === 'strata-stack-backup' && typeof version === 'number' && version > 1)
    throw new CommandError('the backup was created by a newer version of Strata; update Strata to read it');
  const parsed = Manifest.safeParse(value);
  if (parsed.success) return { manifest: parsed.data, bytes };
  const [issue] = parsed.error.issues;
  throw new CommandError(`${file} is not the manifest of a backup (${issue?.path.join('.')}: ${issue?.message})`);
}

async function read(file: string, folder: string): Promise<Buffer> {
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new CommandError(`${file} is too large for a manifest`);
    return await readFile(file);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '');
    if (isMissing) throw usageError(`'${folder}' does not contain a complete backup`);
    throw fileError(file, cause);
  }
}
