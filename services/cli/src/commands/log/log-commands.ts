// `strata log`: commands for any transparency log of this format.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { numberBetween } from '../../option-parsers.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import type { LogPublishOptions } from './log-publish.ts';
import type { LogWitnessOptions } from './log-witness.ts';

const witnessHelp = `
Settings:
  STRATA_WITNESS_NAME   name of the witness key, which is permanent: witness.example/w1
  STRATA_WITNESS_LOGS   verifier keys of the logs, comma-separated; each log publishes its own in its key set
  STRATA_DATA           the folder witness in it stores the key and the latest checkpoint of each log; never restore an older copy
The command prints its verifier key first; operators of logs and verifiers need it. All settings: docs/witnesses.md.`;

const publishHelp = `
Example:
  strata log publish https://strata.example/ledger /var/www/ledger --every 10 --ledger-key strata.example/ledger+31fece9c+AYE5...
Serve the folder under any prefix. A client needs only the prefix and the verifier key.`;

export function addLogCommands(strata: Command, context: CommandContext): void {
  const log = strata.command('log').description('witness and copy transparency logs');
  log
    .command('witness')
    .description('cosign checkpoints of logs that are consistent with earlier ones; configured by STRATA_* variables')
    .option('--print-key', 'print the verifier key of the witness and exit')
    .addHelpText('after', witnessHelp)
    .action(async (options: LogWitnessOptions) => {
      const { readWitnessConfig } = await import('./witness-config.ts');
      const config = readWitnessConfig(await effectiveEnvironment(context, 'witness'));
      await (await import('./log-witness.ts')).logWitnessCommand(context, options, config);
    });
  log
    .command('publish')
    .description('copy a log to a folder that any file server can serve, and verify it')
    .argument('<url>', 'URL prefix of the log, such as http://127.0.0.1:8787/ledger')
    .argument('<folder>', 'a new folder, or an earlier copy of the same log')
    .requiredOption('--ledger-key <key...>', 'C2SP verifier keys of the log: the current one and older ones')
    .option('--every <seconds>', 'keep running and update the copy at this interval', numberBetween(1, 86_400))
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', publishHelp)
    .action(async (url: string, directory: string, options: LogPublishOptions) =>
      (await import('./log-publish.ts')).logPublishCommand(context, { url, directory }, options),
    );
}
