// `strata log`: commands that anyone can run for any log of this format.
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../../context.ts';
import { logPublishHelp, logWitnessHelp } from '../../help.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import type { LogPublishOptions } from './log-publish.ts';
import type { LogWitnessOptions } from './log-witness.ts';

export function addLogCommands(strata: Command, context: CommandContext): void {
  const log = strata.command('log').description('transparency logs of this format: witness them, and copy them');
  log
    .command('witness')
    .description(
      'cosign checkpoints of logs that go on from what was cosigned before; settings come from STRATA_* variables',
    )
    .option('--print-key', 'print the verifier key of the witness, and end')
    .addHelpText('after', logWitnessHelp)
    .action(async (options: LogWitnessOptions) => {
      const { readWitnessConfig } = await import('./witness-config.ts');
      const config = readWitnessConfig(await effectiveEnvironment(context.env, 'witness'));
      await (await import('./log-witness.ts')).logWitnessCommand(context, options, config);
    });
  log
    .command('publish')
    .description('copy a log into a folder that any file server can serve, and check all of it on the way')
    .argument('<url>', 'the prefix of its paths, such as http://127.0.0.1:8787/ledger')
    .argument('<folder>', 'a new one, or an earlier copy of the same log')
    .requiredOption('--ledger-key <key...>', 'C2SP verifier keys of the log: the current one, and older ones')
    .option('--every <seconds>', 'go on, and bring the copy up to date so often', (text) => {
      const seconds = Number(text);
      if (seconds >= 1 && seconds <= 86_400) return seconds;
      throw new InvalidArgumentError('It is a number from 1 to 86400.');
    })
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', logPublishHelp)
    .action(async (url: string, directory: string, options: LogPublishOptions) =>
      (await import('./log-publish.ts')).logPublishCommand(context, { url, directory }, options),
    );
}
