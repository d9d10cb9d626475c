// Options of `inference keys create`, and `inference keys rotate`, `teams` and `prices`: who may use what, and at which price.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { integerBetween } from '../../option-parsers.ts';
import type { OutputOptions } from '../../output.ts';
import type { KeyLocations } from '../keys/key-commands.ts';
import type { AccessDeps, AccessOptions, PriceOptions, RotateOptions } from './access.ts';

const commands = () => import('./access.ts');
const MAX_TOKENS = 1_000_000_000_000;

function addPolicyOptions(command: Command): Command {
  return command
    .option('--models <names>', 'models that requests may use, comma-separated; names are not checked')
    .option('--tokens-per-day <number>', 'limit of tokens per UTC day', integerBetween(1, MAX_TOKENS))
    .option('--warn-at <amount>', 'log and count when so much of the spend limit is used')
    .option('--spend-limit <amount/period>', 'limit in the currency of the prices, as 25.50/month, 2/day or 100/total');
}

export const keyAccess = ({ open }: Pick<AccessDeps, 'open'>): NonNullable<KeyLocations['extended']> => ({
  options: (create) => {
    create.option('--priority <priority>', 'low, normal or high: order in the queue', 'normal');
    addPolicyOptions(create)
      .option(
        '--expires <time>',
        'when it expires: 2026-12-31 (the end of that day, UTC), a time with its zone, or 30d',
      )
      .option('--team <name>', 'a team, whose limits apply to all of its keys together')
      .option('--admin', 'a key for the admin API; it asks no model');
  },
  fields: async (options: AccessOptions) => (await commands()).keyFields(options, open),
});

export function addAccessCommands(
  { inference, keys }: { readonly inference: Command; readonly keys: Command },
  context: CommandContext,
  deps: AccessDeps,
): void {
  keys
    .command('rotate')
    .description('give a key another secret; limits and usage stay')
    .argument('<id>', 'id of the key, from the list')
    .option('--overlap <hours>', 'how long the secret before stays valid', integerBetween(0, 720), 24)
    .option('--json', 'print as JSON')
    .action(async (id: string, options: RotateOptions) =>
      (await commands()).rotateKeyCommand(context, id, options, deps),
    );
  const teams = inference.command('teams').description('teams, which limit all of their keys together');
  addPolicyOptions(teams.command('set'))
    .description('create a team, or replace its limits')
    .argument('<name>', 'lower-case letters, digits, `.`, `_` and `-`')
    .option('--json', 'print as JSON')
    .action(async (name: string, options: AccessOptions) =>
      (await commands()).setTeamCommand(context, name, options, deps),
    );
  teams
    .command('remove')
    .description('remove a team without active keys; its usage stays')
    .argument('<name>', 'name of the team')
    .option('--revoke-keys', 'also revoke its keys')
    .action(async (name: string, options: { readonly revokeKeys?: boolean }) =>
      (await commands()).removeTeamCommand(context, name, options, deps),
    );
  teams
    .command('list')
    .description('list teams and their limits')
    .option('--json', 'print as JSON')
    .action(async (options: OutputOptions) => (await commands()).listTeamsCommand(context, options, deps));
  const prices = inference.command('prices').description('prices of models, for spend limits and usage');
  prices
    .command('set')
    .description('set the price of a million tokens; answers in progress keep theirs')
    .argument('<model>', 'a model or alias; * for all without a price')
    .requiredOption('--input <amount>', 'of prompt tokens, as 0.15')
    .requiredOption('--output <amount>', 'of answer tokens')
    .option('--cached <amount>', 'of prompt tokens from the cache (default: as --input)')
    .action(async (model: string, options: PriceOptions) =>
      (await commands()).setPriceCommand(context, model, options, deps),
    );
  prices
    .command('remove')
    .description('remove the price of a model')
    .argument('<model>', 'a model or alias, or *')
    .action(async (model: string) => (await commands()).removePriceCommand(context, model, deps));
  prices
    .command('list')
    .description('list prices')
    .option('--json', 'print as JSON')
    .action(async (options: OutputOptions) => (await commands()).listPricesCommand(context, options, deps));
}
