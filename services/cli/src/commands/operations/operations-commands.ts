// `strata config` and `strata doctor`: the effective settings, and checks of this machine.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { SERVICES } from '../../settings/tables.ts';
import type { ConfigOptions } from './config.ts';
import type { DoctorOptions } from './doctor.ts';

const configHelp = `
Settings are environment variables, or lines of the YAML file that STRATA_CONFIG names. The environment takes precedence:
  STRATA_STACK_PORT=8787 STRATA_RESOLVERS=192.0.2.1,192.0.2.2
  stack_port: 8787
  resolvers: [192.0.2.1, 192.0.2.2]
A secret can be in a file of its own: STRATA_DATABASE_URL_FILE=/run/secrets/database-url, or database_url_file: in the YAML file.

Exit codes:
  0  the settings are valid
  1  at least one setting is invalid`;

const doctorHelp = `
Checks settings, ports, clock, resolvers, database, disk, keys, limits, memory, models and connected services. It changes nothing,
except that it writes and removes a file in the data directory. Without --service it checks the stack service, and the gateway if
the settings give it something to serve.

Exit codes:
  0  no problems; there may be warnings
  1  at least one problem`;

const service = () => new Option('--service <name>', 'only this service').choices(SERVICES);

export function addOperationsCommands(strata: Command, context: CommandContext): void {
  const config = strata.command('config').description('check and print the effective settings');
  config
    .command('check')
    .description('report every problem in the environment and in the file that STRATA_CONFIG names')
    .addOption(service())
    .option('--json', 'print as JSON')
    .addHelpText('after', configHelp)
    .action(async (options: ConfigOptions) => (await import('./config.ts')).checkConfigCommand(context, options));
  config
    .command('print')
    .description('print every setting with its value and source; secrets are masked')
    .addOption(service())
    .option('--json', 'print as JSON')
    .action(async (options: ConfigOptions) => (await import('./config.ts')).printConfigCommand(context, options));
  strata
    .command('doctor')
    .description('check this machine against the settings, and say how to fix problems')
    .addOption(service())
    .option('--json', 'print as JSON')
    .addHelpText('after', doctorHelp)
    .action(async (options: DoctorOptions) => (await import('./doctor.ts')).doctorCommand(context, options));
}
