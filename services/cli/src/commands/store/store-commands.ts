// `strata stack backup | restore | check-store | migrate-store | migrate-log | analytics`.
import type { Config } from '@strata/stack';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { OutputOptions } from '../../output.ts';
import type { AnalyticsOptions } from './analytics.ts';
import type { BackupCommandOptions, RestoreCommandOptions } from './backup.ts';
import type { MigrateLogOptions } from './migrate-log.ts';
import type { MigrateStoreOptions } from './migrate-store.ts';

const backupHelp = `
The service keeps running during a backup. A backup is a folder of mode 0700 with the store as of one moment, every receipt of the
ledger, its newest checkpoint, and the public signing keys. It gets its name once it is complete; an interrupted backup is deleted.
The ledger key signs its manifest. --verify and restore accept a backup that is signed by a known key: one of the data directory
(STRATA_DATA), of --ledger-key, or of restore --keys.
Anyone with the private keys can sign in your name. They are written to a file of their own; store it separately:
  strata stack backup /backups/2026-01-31 --keys /safe/keys-2026-01-31.json
  strata stack backup --verify /backups/2026-01-31

Exit codes:
  0    the backup is written; with --verify, complete and signed by a known key
  1    the backup cannot be written, is damaged, or is not signed by a known key
  2    usage error: the folder exists already; with --verify, it is not a backup
  130  interrupted`;

const restoreHelp = `
Stop the service first. The backup is verified, staged, and moved into the data directory; existing data is renamed, not deleted.
A backup that is unsigned, or signed by a key that is not in the data directory, --keys or --ledger-key, needs --unverified.
A PostgreSQL backup is restored into an empty database only. A log with more published receipts than the backup cannot be
continued from the backup: keep the newer log (--keep-ledger), or start a log with a new name (--origin).

Exit codes:
  0    the backup is restored; start the service
  1    the backup is damaged or signed by an unknown key, the data directory is in use, or the log has more published receipts
  2    usage error: data exists already, or the backup is of the other kind of database
  130  interrupted`;

const migrateStoreHelp = `
Stop the service first: the copy does not include later writes. The copy is one transaction: if it is interrupted, or the
comparison finds a difference, the new database stays empty. Afterwards \`strata stack migrate-log\` moves the ledger; the signing
keys stay in the data directory. Then set STRATA_DATABASE_URL to the new database, or with --back remove it, and start the service.

Processes refuse a copied file. --reopen permits its use again, unless a process is connected to its copy: the database of the URL, or
else the configured one.

Other users of the machine can read the arguments of a command, and so a password in the URL. Pass it on standard input instead:
  echo "$NEW_DATABASE_URL" | strata stack migrate-store -`;

const migrateLogHelp = `
Stop the service first. The leaves are copied in one transaction, after those that the database already has of the same log. Then
all of them are read back and verified, and the folder is closed, since a ledger cannot continue in two locations. Without a URL
and with SQLite, the folder of an earlier version is imported into ledger/ledger.db, as the next start would do. A database that
has another ledger is refused. After an interruption, run the command again. Run after a completed migration, it reports that
nothing is left to migrate. Every node that serves from the database needs the same keys/ledger folder.
With --back the data directory needs the newest keys folder of the nodes; the ledger of the database is closed.`;

const backups = () => import('./backup.ts');
const LEDGER_KEY = 'accept only this signer: the verifier key of the ledger (name+id+key)';

export function addStoreCommands(stack: Command, context: CommandContext, config: () => Promise<Config>): void {
  stack
    .command('migrate-store')
    .description('copy the SQLite database to an empty PostgreSQL database, or back, and compare every row')
    .argument('[url]', 'postgres://user:password@host/database, or - to read it from standard input')
    .option('--file <file>', 'the SQLite file (default: the configured one)')
    .option('--back', 'copy from PostgreSQL to a new SQLite file')
    .option('--reopen', 'copy nothing: continue with a SQLite file that was copied')
    .option('--json', 'print the tables as JSON')
    .addHelpText('after', migrateStoreHelp)
    .action(async (url: string | undefined, options: MigrateStoreOptions) => {
      const { migrateStoreCommand } = await import('./migrate-store.ts');
      await migrateStoreCommand(context, url, options, await config());
    });
  stack
    .command('migrate-log')
    .description(
      'move the ledger from the data directory to PostgreSQL, or import that of an earlier version, and verify it',
    )
    .argument(
      '[url]',
      'postgres://user:password@host/database, or - to read it from standard input (default: the configured one)',
    )
    .option('--back', 'move it from PostgreSQL to the data directory')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', migrateLogHelp)
    .action(async (url: string | undefined, options: MigrateLogOptions) => {
      const { migrateLogCommand } = await import('./migrate-log.ts');
      await migrateLogCommand(context, url, options, await config());
    });
  stack
    .command('backup')
    .description('back up database, ledger and public keys while the service runs, or verify a backup')
    .argument('<folder>', 'a new folder; with --verify, a backup')
    .option('--verify', 'verify an existing backup')
    .option('--keys <file>', 'also save the private signing keys, in a new file (mode 0600) outside the backup')
    .option('--ledger-key <key>', LEDGER_KEY)
    .option('--unverified', 'with --verify, skip the check of the signature')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', backupHelp)
    .action(async (folder: string, options: BackupCommandOptions) =>
      (await backups()).backupCommand(context, folder, options, await config()),
    );
  stack
    .command('restore')
    .description('verify a backup and replace the configured data with it; the service must be stopped')
    .argument('<folder>', 'a backup')
    .option('--keys <file>', 'private signing keys written by backup --keys; without them, missing keys are created')
    .option('--replace', 'if there is data already, rename it')
    .option('--keep-ledger', 'keep the current ledger if it continues that of the backup')
    .option('--origin <name>', 'start a ledger with a new name from the receipts of the backup')
    .option('--published <file>', 'newest published checkpoint of the ledger; an older ledger is not restored')
    .option('--ledger-key <key>', LEDGER_KEY)
    .option('--unverified', 'accept a backup that is unsigned or signed by an unknown key')
    .option('--json', 'print as JSON')
    .addHelpText('after', restoreHelp)
    .action(async (folder: string, options: RestoreCommandOptions) =>
      (await backups()).restoreCommand(context, folder, options, await config()),
    );
  stack
    .command('analytics')
    .description(
      'fill the ClickHouse of STRATA_ANALYTICS_URL from the store; the same command continues after an interruption',
    )
    .option('--rebuild', 'remove what is there, and start again')
    .option('--json', 'print the outcome as JSON')
    .action(async (options: AnalyticsOptions) =>
      (await import('./analytics.ts')).analyticsCommand(context, options, await config()),
    );
  stack
    .command('check-store')
    .description('check database and ledger for damage, without changes')
    .option('--json', 'print the findings as JSON')
    .action(async (options: OutputOptions) =>
      (await import('./check-store.ts')).checkStoreCommand(context, options, await config()),
    );
}
