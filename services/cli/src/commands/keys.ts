// `strata stack keys`: API keys of any tier, and the rotation of the signing keys.
import { type Config, openConfiguredStore, rotateSigningKeys } from '@strata/stack';
import { isTier, type Store, type StoredKey, TIERS } from '@strata/store';
import { CommandError, type OutputOptions, printJson, printTable } from '../output.ts';

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openConfiguredStore(config);
  return await work(store);
}

export async function createKeyCommand(
  options: OutputOptions & { readonly tier: string; readonly label?: string },
  config: Config,
): Promise<void> {
  const { tier, label } = options;
  if (!isTier(tier))
    throw new CommandError(`there is no tier '${tier}'; there are: ${Object.keys(TIERS).join(', ')}`, { exitCode: 2 });
  const made = await withStore(config, (store) =>
    store.keys.create({ tier, ...(label === undefined ? {} : { label }) }),
  );
  if (options.json) printJson({ key: made.key, ...described(made.stored) });
  else {
    process.stdout.write(`${made.key}\n`);
    process.stderr.write(`${made.stored.id}, ${tier} (${limitText(made.stored)}). The key is shown only now.\n`);
  }
}

export async function listKeysCommand(options: OutputOptions, config: Config): Promise<void> {
  const keys = await withStore(config, (store) => store.keys.list());
  if (options.json) printJson(keys.map(described));
  else if (keys.length === 0) process.stdout.write('no keys yet: strata stack keys create --tier free\n');
  else {
    const rows = keys.map((key) => [
      key.id,
      key.tier,
      limitText(key),
      key.createdAt.toISOString(),
      key.revokedAt ? 'revoked' : 'active',
      key.label ?? '',
    ]);
    printTable(['id', 'tier', 'limit', 'created', 'state', 'label'], rows);
  }
}

export async function revokeKeyCommand(id: string, options: OutputOptions, config: Config): Promise<void> {
  const isRevoked = await withStore(config, (store) => store.keys.revoke(id));
  if (!isRevoked) throw new CommandError(`there is no active key with the id '${id}'`);
  if (options.json) printJson({ id, revoked: true });
  else process.stdout.write(`${id} is revoked; running services refuse it within seconds\n`);
}

export async function rotateSigningCommand(options: OutputOptions, config: Config): Promise<void> {
  const [receipts = '', ledger = ''] = await rotateSigningKeys(config.dataDirectory, () => new Date());
  if (options.json) printJson({ receipt_key_id: receipts, ledger_key_id: ledger });
  else
    process.stdout.write(
      `new receipt key ${receipts}\nnew ledger key ${ledger}\nthe old ones stay in the key set as retired; a running service takes the new ones up within seconds\n`,
    );
}

function described(key: StoredKey) {
  return {
    id: key.id,
    tier: key.tier,
    daily_limit: key.dailyLimit,
    label: key.label,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

function limitText({ dailyLimit }: StoredKey): string {
  return dailyLimit === null ? 'unlimited' : `${dailyLimit} a day`;
}
