// `strata stack keys` and `strata inference keys`: API keys of any tier; and the rotation of the signing keys.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { sqliteFileOf } from '@strata/db';
import { rotateSigningKeys } from '@strata/log';
import { KEY_OVERLAP_MS } from '@strata/receipts';
import { isPriority, isTier, PRIORITIES, type Store, type StoredKey, TIERS } from '@strata/store';
import type { CommandContext } from '../../context.ts';
import { CommandError, type OutputOptions, printJson, printTable } from '../../output.ts';
import { shown } from '../operations/config.ts';

/** Where the keys of a service are kept. */
type KeyStore = Pick<Store, 'keys'> & Partial<Pick<Store, 'clock' | 'ledger'>>;
export type OpenKeys = () => Promise<KeyStore & AsyncDisposable>;

async function withStore<T>(open: OpenKeys, work: (store: KeyStore) => Promise<T>): Promise<T> {
  await using store = await open();
  return await work(store);
}

export async function createKeyCommand(
  { stdout, stderr }: CommandContext,
  options: OutputOptions & { readonly tier: string; readonly priority?: string; readonly label?: string },
  open: OpenKeys,
  databaseUrl: string,
): Promise<void> {
  const { tier, priority = 'normal', label } = options;
  if (!isTier(tier))
    throw new CommandError(`there is no tier '${tier}'; there are: ${Object.keys(TIERS).join(', ')}`, { exitCode: 2 });
  if (!isPriority(priority))
    throw new CommandError(`there is no priority '${priority}'; there are: ${PRIORITIES.join(', ')}`, { exitCode: 2 });
  const made = await withStore(open, (store) =>
    store.keys.create({ tier, priority, ...(label === undefined ? {} : { label }) }),
  );
  if (options.json) printJson(stdout, { key: made.key, ...described(made.stored) });
  else {
    stdout.write(`${made.key}\n`);
    stderr.write(`${made.stored.id}, ${tier} (${limitText(made.stored)}). The key is shown only now.\n`);
    // A service on another database does not know it.
    stderr.write(`It is in ${placeOf(databaseUrl)}.\n`);
  }
}

/** Looking makes nothing: throws CommandError where the database is a file that is not there. */
export function requireDatabase(databaseUrl: string): void {
  const file = sqliteFileOf(databaseUrl);
  if (file === undefined || existsSync(file)) return;
  throw new CommandError(
    `there is no database ${path.resolve(file)}: no service has run with these settings; STRATA_CONFIG, STRATA_DATA and STRATA_DATABASE_URL say where it is, as the service has them`,
  );
}

function placeOf(databaseUrl: string): string {
  const file = sqliteFileOf(databaseUrl);
  return file === undefined ? shown('STRATA_DATABASE_URL', databaseUrl) : path.resolve(file);
}

export async function listKeysCommand(
  { stdout }: CommandContext,
  options: OutputOptions,
  open: OpenKeys,
  databaseUrl: string,
): Promise<void> {
  requireDatabase(databaseUrl);
  const keys = await withStore(open, (store) => store.keys.list());
  if (options.json) printJson(stdout, keys.map(described));
  else if (keys.length === 0) stdout.write('no keys yet; `keys create --tier free` makes one\n');
  else {
    const rows = keys.map((key) => [
      key.id,
      key.tier,
      limitText(key),
      key.priority,
      key.createdAt.toISOString(),
      key.revokedAt ? 'revoked' : 'active',
      key.label ?? '',
    ]);
    printTable(stdout, ['id', 'tier', 'limit', 'priority', 'created', 'state', 'label'], rows);
  }
}

export async function revokeKeyCommand(
  { stdout }: CommandContext,
  id: string,
  options: OutputOptions,
  open: OpenKeys,
  databaseUrl: string,
): Promise<void> {
  requireDatabase(databaseUrl);
  const isRevoked = await withStore(open, (store) => store.keys.revoke(id));
  if (!isRevoked) throw new CommandError(`there is no active key with the id '${id}'`);
  if (options.json) printJson(stdout, { id, revoked: true });
  else stdout.write(`${id} is revoked; running services refuse it within seconds\n`);
}

const localNow = () => new Date();

/** A ledger, and the database that it may be in. */
export interface LedgerName {
  /** Left out for a service that always keeps its ledger in a directory. */
  readonly url?: string;
  readonly origin: string;
}

/** `directory` holds the keys of the service. */
export async function rotateSigningCommand(
  { stdout, stderr }: CommandContext,
  options: OutputOptions,
  open: OpenKeys,
  { directory, ledger }: { readonly directory: string; readonly ledger: LedgerName },
): Promise<void> {
  const isShared = ledger.url !== undefined && sqliteFileOf(ledger.url) === undefined;
  const [receiptKey = '', ledgerKey = ''] = isShared
    ? await withStore(open, (store) => rotateShared(directory, store, ledger))
    : await rotateSigningKeys(directory, localNow, ledger);
  if (options.json) printJson(stdout, { receipt_key_id: receiptKey, ledger_key_id: ledgerKey });
  else
    stdout.write(
      `new receipt key ${receiptKey}\nnew ledger key ${ledgerKey}\nthe old ones stay in the key set as retired; a running service takes the new ones up within seconds${isShared ? ' of finding them in its folder' : ''}\n`,
    );
  // To standard error, since scripts that print JSON must hear it too.
  if (isShared)
    stderr.write(
      `every other API node and scheduler of this database signs with the old keys for ${KEY_OVERLAP_MS / 60_000} minutes more and then gives no receipts: copy ${path.join(directory, 'keys')} to each of them by then, under STRATA_DATA and of its user; after that /ready of one without them says 503\n`,
    );
}

async function rotateShared(
  directory: string,
  { clock, ledger }: KeyStore,
  { origin }: LedgerName,
): Promise<readonly string[]> {
  const shared = ledger && (await import('@strata/stack')).sharedLedgerOf(ledger);
  // Dated by the clock that receipts go by: else some would lie before or behind the time of their key.
  return rotateSigningKeys(directory, clock ?? localNow, { origin, shared });
}

function described(key: StoredKey) {
  return {
    id: key.id,
    tier: key.tier,
    priority: key.priority,
    daily_limit: key.dailyLimit,
    label: key.label,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

function limitText({ dailyLimit }: StoredKey): string {
  return dailyLimit === null ? 'unlimited' : `${dailyLimit} a day`;
}
