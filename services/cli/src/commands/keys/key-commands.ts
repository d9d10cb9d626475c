// `keys create | list | revoke | rotate-signing`, the same for both services.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { LedgerName, OpenKeys } from './keys.ts';

export interface KeyLocations {
  readonly open: OpenKeys;
  /** The configured database. Only `create` creates it if it does not exist. */
  readonly databaseUrl: () => Promise<string>;
  /** Directory of the service's signing keys. */
  readonly signingDirectory: () => Promise<string>;
  readonly ledger: () => Promise<LedgerName>;
  /** Further options of `create`, and the fields of the new key that they give. */
  readonly extended?: {
    readonly options: (create: Command) => void;
    readonly fields: (options: Readonly<Record<string, unknown>>) => Promise<object>;
  };
}

const commands = () => import('./keys.ts');

export function addKeyCommands(
  keys: Command,
  context: CommandContext,
  { open, databaseUrl, signingDirectory, ledger, extended }: KeyLocations,
): Command {
  const create = keys
    .command('create')
    .description('create an API key; it is shown only once')
    .option('--tier <tier>', 'free, standard or unlimited', 'free')
    .option('--label <text>', 'label, such as the name of the owner')
    .option('--json', 'print as JSON')
    .action(async (options) => {
      const fields = await extended?.fields(options);
      await (await commands()).createKeyCommand(context, { ...options, ...fields }, open, await databaseUrl());
    });
  extended?.options(create);
  keys
    .command('list')
    .description('list API keys')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).listKeysCommand(context, options, open, await databaseUrl()));
  keys
    .command('revoke')
    .description('revoke an API key')
    .argument('<id>', 'id of the key, from the list')
    .option('--json', 'print as JSON')
    .action(async (id: string, options) =>
      (await commands()).revokeKeyCommand(context, id, options, open, await databaseUrl()),
    );
  keys
    .command('rotate-signing')
    .description('replace the signing keys by new ones; old receipts stay valid')
    .option('--json', 'print as JSON')
    .action(async (options) =>
      (await commands()).rotateSigningCommand(context, options, open, {
        directory: await signingDirectory(),
        ledger: await ledger(),
      }),
    );
  return keys;
}
