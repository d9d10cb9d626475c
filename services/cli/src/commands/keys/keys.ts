// `strata stack keys` and `strata inference keys`: API keys, and the rotation of the signing keys.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isPriority, isTier, type NewKey, PRIORITIES, type StoredKey, sqliteFileOf, TIERS } from '@strata/db';
import { type SpendLimit, spendText } from '@strata/gateway/store';
import { rotateSigningKeys } from '@strata/log';
import { KEY_OVERLAP_MS } from '@strata/receipts';
import type { Store } from '@strata/stack/store';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { type OutputOptions, printJson, printTable } from '../../output.ts';
import { masked } from '../operations/config.ts';

interface ListedKey extends StoredKey {
  /** Only of keys of the gateway; null: without limits of its own and team. */
  readonly access?: {
    readonly team: string | null;
    readonly policy: {
      readonly isAdmin: boolean;
      readonly expiresAt: number | null;
      readonly spend: SpendLimit | null;
    };
  } | null;
}

/** The stores of a service that have its keys. */
interface KeyStore extends Partial<Pick<Store, 'clock' | 'ledger'>> {
  readonly keys: {
    create(key: NewKey): Promise<{ readonly key: string; readonly stored: ListedKey }>;
    list(): Promise<readonly ListedKey[]>;
    revoke(id: string): Promise<boolean>;
  };
}
export type OpenKeys = () => Promise<KeyStore & AsyncDisposable>;

interface CreateOptions extends OutputOptions {
  readonly tier: string;
  readonly priority?: string;
  readonly label?: string;
  /** Fields that only keys of the gateway have. */
  readonly access?: object;
}

export async function createKeyCommand(
  { stdout, stderr }: CommandContext,
  options: CreateOptions,
  open: OpenKeys,
  databaseUrl: string,
): Promise<void> {
  const { tier, priority = 'normal', label, access = {} } = options;
  if (!isTier(tier)) throw usageError(`unknown tier '${tier}'; tiers: ${Object.keys(TIERS).join(', ')}`);
  if (!isPriority(priority)) throw usageError(`unknown priority '${priority}'; priorities: ${PRIORITIES.join(', ')}`);
  await using store = await open();
  const created = await store.keys.create({ tier, priority, ...(label === undefined ? {} : { label }), ...access });
  if (options.json) printJson(stdout, { key: created.key, ...described(created.stored) });
  else {
    stdout.write(`${created.key}\n`);
    stderr.write(`${created.stored.id}, ${kindText(created.stored)}. The key is not shown again.\n`);
    // A service with another database does not accept the key.
    stderr.write(`Database: ${databaseText(databaseUrl)}\n`);
  }
}

/** Throws CommandError where the database is a file that does not exist: commands that only read do not create it. */
export function requireDatabase(databaseUrl: string): void {
  const file = sqliteFileOf(databaseUrl);
  if (file === undefined || existsSync(file)) return;
  throw new CommandError(
    `database ${path.resolve(file)} does not exist; set STRATA_CONFIG, STRATA_DATA or STRATA_DATABASE_URL as the service has them`,
  );
}

function databaseText(databaseUrl: string): string {
  const file = sqliteFileOf(databaseUrl);
  return file === undefined ? masked('STRATA_DATABASE_URL', databaseUrl) : path.resolve(file);
}

export async function listKeysCommand(
  { stdout }: CommandContext,
  options: OutputOptions,
  open: OpenKeys,
  databaseUrl: string,
): Promise<void> {
  requireDatabase(databaseUrl);
  await using store = await open();
  const keys = await store.keys.list();
  if (options.json) printJson(stdout, keys.map(described));
  else if (keys.length === 0) stdout.write('no keys; create one with `keys create --tier free`\n');
  else {
    const isOfGateway = keys.some(({ access }) => access !== undefined);
    const rows = keys.map((key) => [
      key.id,
      key.access?.policy.isAdmin ? '–' : key.tier,
      limitText(key),
      key.priority,
      key.createdAt.toISOString(),
      stateOf(key),
      ...(isOfGateway ? accessCells(key) : []),
      key.label ?? '',
    ]);
    const more = isOfGateway ? ['team', 'expires', 'spend limit'] : [];
    printTable(stdout, ['id', 'tier', 'limit', 'priority', 'created', 'state', ...more, 'label'], rows);
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
  await using store = await open();
  if (!(await store.keys.revoke(id))) throw new CommandError(`no active key with the id '${id}'`);
  if (options.json) printJson(stdout, { id, revoked: true });
  else stdout.write(`${id} is revoked; running services reject it within seconds\n`);
}

/** The name of a ledger, and the database that may contain it. */
export interface LedgerName {
  /** Undefined for a service whose ledger is always in a directory. */
  readonly url?: string;
  readonly origin: string;
}

/** `directory` contains the keys of the service. */
export async function rotateSigningCommand(
  { stdout, stderr }: CommandContext,
  options: OutputOptions,
  open: OpenKeys,
  { directory, ledger }: { readonly directory: string; readonly ledger: LedgerName },
): Promise<void> {
  const isShared = ledger.url !== undefined && sqliteFileOf(ledger.url) === undefined;
  await using store = isShared ? await open() : undefined;
  // Dated by the clock that dates receipts. Otherwise a receipt could be dated outside of the validity of its key.
  const now = store?.clock ?? (() => new Date());
  const log = store ? { origin: ledger.origin, shared: store.ledger } : ledger;
  const [receiptKey = '', ledgerKey = ''] = await rotateSigningKeys(directory, now, log);
  if (options.json) printJson(stdout, { receipt_key_id: receiptKey, ledger_key_id: ledgerKey });
  else
    stdout.write(
      `new receipt key ${receiptKey}\nnew ledger key ${ledgerKey}\nThe old keys remain in the key set as retired keys. A running service uses the new keys within seconds${isShared ? ' of their arrival in its folder' : ''}.\n`,
    );
  // On standard error, so that it also appears with --json.
  if (isShared)
    stderr.write(
      `Copy ${path.join(directory, 'keys')} to every other API node and scheduler of this database within ${KEY_OVERLAP_MS / 60_000} minutes, into its STRATA_DATA and owned by its user. Until then they sign with the old keys; afterwards a node without the new keys issues no receipts, and its /ready returns 503.\n`,
    );
}

function stateOf({ revokedAt, access }: ListedKey): string {
  if (revokedAt) return 'revoked';
  if ((access?.policy.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now()) return 'expired';
  return access?.policy.isAdmin ? 'admin' : 'active';
}

function accessCells({ access }: ListedKey): readonly string[] {
  const { expiresAt = null, spend = null } = access?.policy ?? {};
  return [
    access?.team ?? '–',
    expiresAt === null ? '–' : new Date(expiresAt).toISOString(),
    spend === null ? '–' : spendText(spend),
  ];
}

function described(key: ListedKey) {
  return {
    id: key.id,
    tier: key.tier,
    priority: key.priority,
    daily_limit: key.dailyLimit,
    label: key.label,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
    ...(key.access ? { team: key.access.team, policy: key.access.policy } : {}),
  };
}

function kindText(key: ListedKey): string {
  return key.access?.policy.isAdmin ? 'an admin key: no quota, asks no model' : `${key.tier} (${limitText(key)})`;
}

function limitText({ dailyLimit, access }: ListedKey): string {
  if (access?.policy.isAdmin) return 'none';
  return dailyLimit === null ? 'unlimited' : `${dailyLimit} a day`;
}
