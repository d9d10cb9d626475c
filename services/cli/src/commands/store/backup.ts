// `strata stack backup` and `restore`: a consistent copy of store, ledger and keys.
import type { Config } from '@strata/stack';
import { checkBackup } from '../../backup/check-backup.ts';
import { type BackupProgress, makeBackup } from '../../backup/make-backup.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { trustOf } from '../../backup/signature.ts';
import type { CommandContext, OutputStream } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { runInterruptible } from '../../interruption.ts';
import { counted, type OutputOptions, printJson, printTable } from '../../output.ts';
import { type Counter, startCounter } from '../../progress.ts';

interface TrustCommandOptions {
  readonly ledgerKey?: string;
  readonly unverified?: boolean;
}

export interface BackupCommandOptions extends OutputOptions, TrustCommandOptions {
  readonly verify?: boolean;
  readonly keys?: string;
}

export interface RestoreCommandOptions extends OutputOptions, TrustCommandOptions {
  readonly keys?: string;
  readonly replace?: boolean;
  readonly keepLedger?: boolean;
  readonly origin?: string;
  readonly published?: string;
}

export async function backupCommand(
  context: CommandContext,
  folder: string,
  options: BackupCommandOptions,
  config: Config,
): Promise<void> {
  const { stdout, stderr } = context;
  const { verify = false, keys, json = false, ledgerKey, unverified } = options;
  if (verify && keys !== undefined) throw usageError('--keys cannot be combined with --verify');
  if (!verify && (ledgerKey !== undefined || unverified))
    throw usageError('--ledger-key and --unverified can only be used with --verify');
  if (verify) return verifyCommand(context, folder, options, config);
  const manifest = await withProgress(context, 'the backup was removed', (progress) =>
    makeBackup(config, folder, { ...progress, keysFile: keys }),
  );
  if (json) return printJson(stdout, manifest);
  printContents(stdout, manifest);
  stdout.write(`backup written to ${folder}; to verify it: strata stack backup --verify ${folder}\n`);
  if (keys === undefined) stderr.write('the backup has no private signing keys; --keys FILE writes them to a file\n');
}

async function verifyCommand(
  context: CommandContext,
  folder: string,
  { ledgerKey, unverified, json }: BackupCommandOptions,
  config: Config,
): Promise<void> {
  const { stdout } = context;
  const trust = await trustOf(config.dataDirectory, { ledgerKey, unverified });
  const { manifest, signedBy } = await withProgress(context, 'nothing was changed', (progress) =>
    checkBackup(folder, { ...progress, trust }),
  );
  if (json) return printJson(stdout, { ...manifest, signed_by: signedBy ?? null });
  printContents(stdout, manifest);
  stdout.write(`the backup is complete, ${signatureText(signedBy)}\n`);
}

const signatureText = (signedBy: string | undefined): string =>
  signedBy === undefined ? 'its signature was not verified' : `signed by ${signedBy}`;

export async function restoreCommand(
  context: CommandContext,
  folder: string,
  options: RestoreCommandOptions,
  config: Config,
): Promise<void> {
  const { stdout } = context;
  const { replace = false, keepLedger = false, keys, origin, published, json = false, ledgerKey, unverified } = options;
  if (keepLedger && origin !== undefined) throw usageError('--keep-ledger and --origin cannot be combined');
  const restored = await withProgress(context, 'nothing was restored; run the same command again', (progress) =>
    restoreBackup(config, folder, {
      ...{ ...progress, keysFile: keys, replace, keepLedger, origin, published },
      ...{ ledgerKey, unverified },
    }),
  );
  const { manifest, signedBy, leaves, newKeys, aside } = restored;
  if (json) {
    const of = { made_at: manifest.made_at, signed_by: signedBy ?? null };
    return printJson(stdout, { ...of, leaves, new_keys: newKeys, moved_aside: aside });
  }
  printContents(stdout, manifest);
  stdout.write(`restored, ${signatureText(signedBy)}; the ledger has ${counted(leaves, 'receipt')}\n`);
  for (const each of aside) stdout.write(`renamed previous data to ${each}\n`);
  if (newKeys.length > 0)
    stdout.write(
      `created new signing keys (${newKeys.join(', ')}); the old keys remain in the key set, and old receipts stay valid\n`,
    );
  if (origin !== undefined) stdout.write(`start the service with STRATA_LEDGER_ORIGIN=${origin}\n`);
  else if (published === undefined && !keepLedger)
    stdout.write(
      'if a checkpoint with more receipts was published, do not start the service: use --origin. With --published, this command checks it\n',
    );
}

/** Runs with progress on standard error. SIGINT and SIGTERM interrupt it; `state` says what an interruption leaves. */
async function withProgress<T>(
  context: CommandContext,
  state: string,
  work: (progress: {
    readonly onProgress: (progress: BackupProgress) => void;
    readonly signal: AbortSignal;
  }) => Promise<T>,
): Promise<T> {
  const counters = new Map<string, Counter>();
  const onProgress = ({ what, done, unit }: BackupProgress) => {
    for (const [name, counter] of counters) if (name !== what) counter.stop();
    const counter = counters.get(what) ?? startCounter(what, unit, context.stderr);
    counters.set(what, counter);
    counter.set(Math.round(done));
  };
  try {
    return await runInterruptible(context, { state }, (signal) => work({ onProgress, signal }));
  } finally {
    for (const counter of counters.values()) counter.stop();
  }
}

function printContents(stdout: OutputStream, { made_at, store, ledger, files }: Manifest): void {
  printTable(
    stdout,
    ['created', 'store', 'rows', 'receipts', 'bytes'],
    [
      [
        made_at,
        `${store.kind} ${store.schema}`,
        String(store.tables.reduce((sum, { rows }) => sum + rows, 0)),
        String(ledger.leaves),
        String(files.reduce((sum, { bytes }) => sum + bytes, 0)),
      ],
    ],
  );
}
