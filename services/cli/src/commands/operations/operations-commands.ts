// `strata config` and `strata doctor`: what the settings come to, and whether this machine is fit for them.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { configHelp, doctorHelp } from '../../help.ts';
import { SERVICES } from '../../settings/tables.ts';
import type { ConfigOptions } from './config.ts';
import type { DoctorOptions } from './doctor.ts';

const service = () => new Option('--service <name>', 'of this service alone').choices(SERVICES);

export function addOperationsCommands(strata: Command, context: CommandContext): void {
  const config = strata.command('config').description('the settings: what they come to, and what is wrong with them');
  config
    .command('check')
    .description('tell every problem of the settings, of the environment and of the file that STRATA_CONFIG names')
    .addOption(service())
    .option('--json', 'print as JSON')
    .addHelpText('after', configHelp)
    .action(async (options: ConfigOptions) => (await import('./config.ts')).checkConfigCommand(context, options));
  config
    .command('print')
    .description('every setting with its value and where that comes from; secrets are masked')
    .addOption(service())
    .option('--json', 'print as JSON')
    .action(async (options: ConfigOptions) => (await import('./config.ts')).printConfigCommand(context, options));
  strata
    .command('doctor')
    .description('look whether this machine is fit for the settings, and say what to do where it is not')
    .addOption(service())
    .option('--json', 'print as JSON')
    .addHelpText('after', doctorHelp)
    .action(async (options: DoctorOptions) => (await import('./doctor.ts')).doctorCommand(context, options));
}
