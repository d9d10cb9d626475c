// `strata inference network`: the network of a gateway, and the work that its workers did.
import type { GatewayStoreConfig } from '@strata/gateway';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { days } from '../../option-parsers.ts';
import type { AccountsOptions } from './accounts.ts';
import type { NetworkOptions } from './network.ts';

const networkHelp = `
Examples:
  strata inference network --watch                 shows the gateway of this machine, updated every second
  strata inference network accounts --by model     shows the work of the workers, from the database in STRATA_DATA`;

interface NetworkDeps {
  readonly base: () => Option;
  readonly config: () => Promise<GatewayStoreConfig>;
}

/** Adds the commands to `inference`. */
export function addNetworkCommands(inference: Command, context: CommandContext, { base, config }: NetworkDeps): void {
  const network = inference
    .command('network')
    .description('show the workers of a gateway: peers, models, load and reputation')
    .addOption(base())
    .option('--watch', 'update every second until Ctrl-C')
    .option('--json', 'print as JSON; with --watch, one value a line')
    .addHelpText('after', networkHelp)
    .action(async (options: NetworkOptions) => (await import('./network.ts')).networkCommand(context, options));
  network
    .command('accounts')
    .description('show the work of the workers for this gateway, from receipts that both have signed')
    .addOption(new Option('--by <what>', 'group by').choices(['worker', 'caller', 'model', 'day']).default('worker'))
    .option('--days <number>', 'number of UTC days, including today', days, 30)
    .option('--json', 'print as JSON')
    .action(async (_options: AccountsOptions, command: Command) =>
      // Commander assigns --json to the parent command, which has the same option.
      (await import('./accounts.ts')).accountsCommand(
        context,
        command.optsWithGlobals<AccountsOptions>(),
        await config(),
      ),
    );
}
