// `strata inference network`: a gateway's network, and its accounts with workers.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { networkHelp } from '../../help.ts';
import type { AccountsOptions } from './accounts.ts';
import type { NetworkOptions } from './network.ts';

export interface NetworkPlaces {
  readonly base: () => Option;
  readonly wholeDays: (text: string) => number;
  readonly config: () => Promise<Parameters<typeof import('./accounts.ts')['accountsCommand']>[2]>;
}

/** Adds the commands to `inference`. */
export function addNetworkCommands(
  inference: Command,
  context: CommandContext,
  { base, wholeDays, config }: NetworkPlaces,
): void {
  const network = inference
    .command('network')
    .description('the network of workers as a gateway sees it: peers, models, load and standing')
    .addOption(base())
    .option('--watch', 'anew every second, until Ctrl-C')
    .option('--json', 'print as JSON; with --watch one value a line')
    .addHelpText('after', networkHelp)
    .action(async (options: NetworkOptions) => (await import('./network.ts')).networkCommand(context, options));
  network
    .command('accounts')
    .description('what workers made for the gateway of this data directory, by receipts that both have signed')
    .addOption(
      new Option('--by <what>', 'summed by this').choices(['worker', 'caller', 'model', 'day']).default('worker'),
    )
    .option('--days <number>', 'so many UTC days, today included', wholeDays, 30)
    .option('--json', 'print as JSON')
    .action(async (_options: AccountsOptions, command: Command) =>
      // `--json` is taken by the command above it, which has it too.
      (await import('./accounts.ts')).accountsCommand(
        context,
        command.optsWithGlobals<AccountsOptions>(),
        await config(),
      ),
    );
}
