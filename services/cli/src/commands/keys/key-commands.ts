// `keys create | list | revoke | rotate-signing`, the same for each service.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { LedgerName, OpenKeys } from './keys.ts';

export interface KeyPlaces {
  readonly open: OpenKeys;
  /** The configured database: only `create` makes one that is not there. */
  readonly databaseUrl: () => Promise<string>;
  /** Where the service's signing keys are. */
  readonly signingDirectory: () => Promise<string>;
  readonly ledger: () => Promise<LedgerName>;
  /** Whether requests of its keys wait for each other. */
  readonly hasPriorities: boolean;
}

const commands = () => import('./keys.ts');

/** Adds the commands to `keys`; returns it. */
export function addKeyCommands(
  keys: Command,
  context: CommandContext,
  { open, databaseUrl, signingDirectory, ledger, hasPriorities }: KeyPlaces,
): Command {
  const create = keys
    .command('create')
    .description('make an API key; it is shown once')
    .option('--tier <tier>', 'free, standard or unlimited', 'free')
    .option('--label <text>', 'whose it is')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).createKeyCommand(context, options, open, await databaseUrl()));
  if (hasPriorities)
    create.option(
      '--priority <priority>',
      'low, normal or high: whose answers come first when places are short',
      'normal',
    );
  keys
    .command('list')
    .description('list API keys')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).listKeysCommand(context, options, open, await databaseUrl()));
  keys
    .command('revoke')
    .description('revoke an API key')
    .argument('<id>', 'the id that list shows')
    .option('--json', 'print as JSON')
    .action(async (id: string, options) =>
      (await commands()).revokeKeyCommand(context, id, options, open, await databaseUrl()),
    );
  keys
    .command('rotate-signing')
    .description('retire the signing keys and make new ones')
    .option('--json', 'print as JSON')
    .action(async (options) =>
      (await commands()).rotateSigningCommand(context, options, open, {
        directory: await signingDirectory(),
        ledger: await ledger(),
      }),
    );
  return keys;
}
