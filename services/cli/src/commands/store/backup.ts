// `strata stack backup` and `restore`: one consistent set of store, ledger and keys, made while the service runs, and put back.
import type { Config } from '@strata/stack';
import { checkBackup } from '../../backup/check-backup.ts';
import { type BackupProgress, makeBackup } from '../../backup/make-backup.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { trustOf } from '../../backup/signature.ts';
import { type CommandContext, listenForInterruption, type OutputStream } from '../../context.ts';
import { CommandError, counted, type OutputOptions, printJson, printTable } from '../../output.ts';
import { startTally, type Tally } from '../../progress.ts';

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
  if (verify && keys !== undefined) throw new CommandError('--verify writes no keys', { exitCode: 2 });
  if (!verify && (ledgerKey !== undefined || unverified))
    throw new CommandError('--ledger-key and --unverified go with --verify', { exitCode: 2 });
  if (verify) return verifyCommand(context, folder, options, config);
  const manifest = await interruptible(context, 'nothing is left of the backup', (parts) =>
    makeBackup(config, folder, { ...parts, keysFile: keys }),
  );
  if (json) return printJson(stdout, manifest);
  printContents(stdout, manifest);
  stdout.write(`written to ${folder}; \`strata stack backup --verify ${folder}\` reads it again\n`);
  if (keys === undefined)
    stderr.write('the private signing keys are not in it: --keys FILE writes them to a file of their own\n');
}

async function verifyCommand(
  context: CommandContext,
  folder: string,
  { ledgerKey, unverified, json }: BackupCommandOptions,
  config: Config,
): Promise<void> {
  const { stdout } = context;
  const trust = await trustOf(config.dataDirectory, { ledgerKey, unverified });
  const { manifest, signedBy } = await interruptible(context, 'nothing was changed', (parts) =>
    checkBackup(folder, { ...parts, trust }),
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
  if (keepLedger && origin !== undefined)
    throw new CommandError('--keep-ledger and --origin exclude one another', { exitCode: 2 });
  const restored = await interruptible(context, 'nothing of it is in place: run it again', (parts) =>
    restoreBackup(config, folder, {
      ...{ ...parts, keysFile: keys, replace, keepLedger, origin, published },
      ...{ ledgerKey, unverified },
    }),
  );
  const { manifest, signedBy, leaves, newKeys, aside } = restored;
  if (json) {
    const of = { made_at: manifest.made_at, signed_by: signedBy ?? null };
    return printJson(stdout, { ...of, leaves, new_keys: newKeys, moved_aside: aside });
  }
  printContents(stdout, manifest);
  stdout.write(`restored, ${signatureText(signedBy)}; the ledger goes on at ${counted(leaves, 'receipt')}\n`);
  for (const each of aside) stdout.write(`what was there is now ${each}\n`);
  if (newKeys.length > 0)
    stdout.write(
      `new signing keys were made (${newKeys.join(', ')}); the old ones stay in the key set, and old receipts hold\n`,
    );
  if (origin !== undefined) stdout.write(`start the service with STRATA_LEDGER_ORIGIN=${origin}\n`);
  else if (published === undefined && !keepLedger)
    stdout.write(
      'where checkpoints with more receipts than that were published, do not start the service: see --origin, and --published so that this command can check\n',
    );
}

/** Runs with progress on standard error; SIGINT and SIGTERM stop it, and `left` says what a stop leaves. */
async function interruptible<T>(
  context: CommandContext,
  left: string,
  work: (parts: {
    readonly onProgress: (progress: BackupProgress) => void;
    readonly signal: AbortSignal;
  }) => Promise<T>,
): Promise<T> {
  const stopping = listenForInterruption(context);
  const tallies = new Map<string, Tally>();
  const onProgress = ({ what, done, unit }: BackupProgress) => {
    for (const [name, tally] of tallies) if (name !== what) tally.stop();
    const tally = tallies.get(what) ?? startTally(what, unit, context.stderr);
    tallies.set(what, tally);
    tally.set(Math.round(done));
  };
  try {
    return await work({ onProgress, signal: stopping.signal });
  } catch (error) {
    if (stopping.signal.aborted) throw new CommandError(`interrupted: ${left}`, { exitCode: 130, cause: error });
    throw error;
  } finally {
    for (const tally of tallies.values()) tally.stop();
    stopping.release();
  }
}

function printContents(stdout: OutputStream, { made_at, store, ledger, files }: Manifest): void {
  printTable(
    stdout,
    ['made', 'store', 'rows', 'receipts', 'bytes'],
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
