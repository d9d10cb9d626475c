// `strata stack watch`: the watchlists of a key.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { ofService } from '../../option-parsers.ts';
import type { ServiceOptions } from '../records/service-client.ts';
import type { CreateOptions } from './watch.ts';

const createHelp = `
Rules: gained_provider, lost_provider, migrated_to, posture_fell, advisory_known_exploited, expires_soon, named_in_feed; with
conditions after a colon, as migrated_to:provider=cloudflare,from=fastly or posture_fell:points=5.

Example:
  strata stack watch create Customers names.csv --rule lost_provider:category=cdn --webhook https://hooks.example.com/strata`;

const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function addWatchCommands(stack: Command, context: CommandContext): void {
  const watch = stack.command('watch').description('watchlists: rules about domains that notify channels');
  const add = (name: string, description: string) => ofService(watch.command(name).description(description));
  const commands = () => import('./watch.ts');
  add('create', 'create a watchlist, and print it with the secrets of its webhooks')
    .argument('<name>', 'name of the list')
    .argument('[target...]', 'domain names, files with one name a line or CSV, or - for standard input')
    .option('--query <query>', 'follow the domains that match instead of targets')
    .requiredOption('--rule <rule>', 'what to report; repeatable', repeated)
    .option('--webhook <url>', 'signed webhook; repeatable', repeated)
    .option('--slack <url>', 'incoming webhook of Slack; repeatable', repeated)
    .option('--teams <url>', 'webhook of a Teams workflow; repeatable', repeated)
    .option('--email <address>', 'e-mail, after its owner has confirmed the address; repeatable', repeated)
    .addOption(new Option('--digest <digest>', 'together instead of at once').choices(['none', 'hourly', 'daily']))
    .addHelpText('after', createHelp)
    .action(async (name: string, targets: string[], options: CreateOptions) =>
      (await commands()).createWatchlist(context, { name, targets }, options),
    );
  add('list', 'print the watchlists of the key').action(async (options: ServiceOptions) =>
    (await commands()).listWatchlists(context, options),
  );
  add('deliveries', 'print the latest messages of a watchlist')
    .argument('<id>', 'id of the list')
    .addOption(new Option('--state <state>', 'only these').choices(['pending', 'delivered', 'dead']))
    .action(async (id: string, options: ServiceOptions & { state?: string }) =>
      (await commands()).listDeliveries(context, id, options),
    );
  add('replay', 'send a message again')
    .argument('<id>', 'id of the list')
    .argument('<delivery>', 'id of the message')
    .action(async (id: string, delivery: string, options: ServiceOptions) =>
      (await commands()).replayDelivery(context, { id, delivery }, options),
    );
  add('test', 'send a test message to each channel')
    .argument('<id>', 'id of the list')
    .action(async (id: string, options: ServiceOptions) => (await commands()).testWatchlist(context, id, options));
  add('delete', 'delete a watchlist')
    .argument('<id>', 'id of the list')
    .action(async (id: string, options: ServiceOptions) => (await commands()).deleteWatchlist(context, id, options));
}
