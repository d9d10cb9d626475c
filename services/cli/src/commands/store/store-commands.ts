// `strata stack backup | restore | check-store`.
import type { Config } from '@strata/stack';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { backupHelp, restoreHelp } from '../../help.ts';
import type { OutputOptions } from '../../output.ts';
import type { BackupCommandOptions, RestoreCommandOptions } from './backup.ts';

const commands = () => import('./backup.ts');
const LEDGER_KEY = 'verifier key of the ledger (C2SP: name+id+key): accept no other signer of the backup';

/** Adds the commands to `stack`. */
export function addStoreCommands(stack: Command, context: CommandContext, config: () => Promise<Config>): void {
  stack
    .command('backup')
    .description('back up store, ledger and public keys as one set, while the service runs; or verify such a set')
    .argument('<folder>', 'a new folder; with --verify, a backup')
    .option('--verify', 'read a backup through, and say whether it is whole')
    .option('--keys <file>', 'write the private signing keys too, to a new file of mode 0600 outside of the set')
    .option('--ledger-key <key>', LEDGER_KEY)
    .option('--unverified', 'with --verify, check everything but the signature')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', backupHelp)
    .action(async (folder: string, options: BackupCommandOptions) =>
      (await commands()).backupCommand(context, folder, options, await config()),
    );
  stack
    .command('restore')
    .description('verify a backup and put it in the place of the configured data; the service must be stopped')
    .argument('<folder>', 'a backup')
    .option(
      '--keys <file>',
      'the private signing keys that backup wrote; without them new ones are made where none are',
    )
    .option('--replace', 'move what is there aside')
    .option('--keep-ledger', 'keep the ledger in the data directory, if it goes on from that of the backup')
    .option('--origin <name>', 'begin the log of the backup under a new name')
    .option('--published <file>', 'the newest checkpoint that anybody has of the log, to refuse an older log')
    .option('--ledger-key <key>', LEDGER_KEY)
    .option('--unverified', 'restore a backup that is not signed, or by an unknown key')
    .option('--json', 'print as JSON')
    .addHelpText('after', restoreHelp)
    .action(async (folder: string, options: RestoreCommandOptions) =>
      (await commands()).restoreCommand(context, folder, options, await config()),
    );
  stack
    .command('check-store')
    .description('look for damage in the configured database, and say what to do about it; changes nothing')
    .option('--json', 'print the findings as JSON')
    .action(async (options: OutputOptions) =>
      (await import('./check-store.ts')).checkStoreCommand(context, options, await config()),
    );
}
