// Fills an empty ledger from a backup, with the keys that the data directory will have.
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { decodeLeaves, fillLedger, type LedgerTables, readKeysFile, restoreKeys, writeKeysFile } from '@strata/log';
import { readVerified } from './backup-files.ts';
import type { CheckedBackup } from './check-backup.ts';
import { LEAVES_FILE, partOf } from './manifest.ts';
import type { Restored, RestoreOptions } from './restore-options.ts';

type Given = Awaited<ReturnType<typeof readKeysFile>>;

export interface Filling {
  readonly folder: string;
  readonly checked: CheckedBackup;
  readonly given: Given | undefined;
  /** The data directory; its keys are the default. */
  readonly directory: string;
  readonly origin: string;
  readonly now: Date;
  readonly options: RestoreOptions;
}

/** Stages the keys in `staging`, and fills the ledger under a checkpoint that they sign. Returns the keys, and which of them are new. */
export async function fillFrom(
  staging: string,
  tables: LedgerTables,
  { folder, checked, given, directory, origin, now, options }: Filling,
): Promise<{ readonly keys: Given; readonly newKeys: Restored['newKeys'] }> {
  const { onProgress, signal } = options;
  const existing = path.join(directory, 'keys');
  if (existsSync(existing)) await cp(existing, path.join(staging, 'keys'), { recursive: true, dereference: true });
  const newKeys = await restoreKeys(staging, { published: checked.keys, now, ...(given ? { given } : {}) });
  await fillLedger({
    directory: staging,
    origin,
    now: () => now,
    tables,
    published: {
      origin: checked.manifest.ledger.origin ?? origin,
      keys: new Map(Object.entries(checked.keys.published ?? {})),
    },
    leaves: decodeLeaves(readVerified(folder, partOf(checked.manifest, LEAVES_FILE))),
    notes: checked.checkpoint === undefined ? [] : [checked.checkpoint],
    onProgress: ({ leaves: done, isChecking }) => {
      if (isChecking) onProgress?.({ what: 'ledger', done, unit: 'receipts' });
    },
    ...(signal ? { signal } : {}),
  });
  const file = path.join(staging, 'keys.json');
  await writeKeysFile(staging, file);
  return { keys: await readKeysFile(file), newKeys };
}
