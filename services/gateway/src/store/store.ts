// The gateway's store: keys and quotas, receipts and usage of answers, receipts and reputations of workers.
import {
  counterOf,
  fileLock,
  KeyTable,
  ledgerCheckpoint,
  openDatabase,
  openPool,
  type PostgresOptions,
  pooledDialect,
  type Quota,
  QuotaBlocks,
  QuotaTable,
  SharedClock,
  sessionLock,
  type TermLock,
  TextTable,
} from '@strata/db';
import { type CheckpointCopy, type LedgerTables, ledgerTablesIn } from '@strata/log';
import { type Segments, SegmentTable } from '@strata/segments';
import { Kysely } from 'kysely';
import { AuditTable } from './access/audit.ts';
import { GatewayKeys } from './access/keys.ts';
import { TeamTable } from './access/teams.ts';
import { UsageTable } from './access/usage.ts';
import { AnswerTable } from './answers/answers.ts';
import { StoredAnswerTable } from './answers/stored-answers.ts';
import { GatewayTable } from './gateways.ts';
import { migrations } from './migrations.ts';
import { MinuteUsage } from './minute-usage.ts';
import { NetworkModelNames } from './network-model-names.ts';
import { type Reputations, ReputationTable } from './reputations.ts';
import type { GatewayDatabase } from './tables.ts';
import { TokenReservations } from './token-reservations.ts';

/** The persistent state. Methods reject with StoreError when the database fails. A resolved write is committed and survives a kill. */
export interface GatewayStore extends AsyncDisposable {
  /** The clock of the database, by which keys expire. */
  readonly now: () => Date;
  /** Receipts and usage; its records belong to no running gateway. */
  readonly answers: AnswerTable;
  /** The same table, for the records of a gateway whose id is read at each call. */
  answersOf(gateway: () => number): AnswerTable;
  readonly reputations: Reputations;
  /** Answers that clients asked to store. */
  readonly stored: StoredAnswerTable;
  /** Tokens of each key's day that gateways have reserved. */
  readonly tokens: TokenReservations;
  /** What keys have used of limits a minute; undefined on SQLite, where a single gateway counts it. */
  readonly minutes: MinuteUsage | undefined;
  /** The running gateways. */
  readonly gateways: GatewayTable;
  /** Whether several gateways can share the database: on PostgreSQL. */
  readonly isShared: boolean;
  readonly keys: GatewayKeys;
  /** Teams of keys, and the prices of models. */
  readonly teams: TeamTable;
  /** What operators have changed. */
  readonly audit: AuditTable;
  readonly usage: UsageTable;
  /** On PostgreSQL large quotas are leased in blocks; disposing of the store returns unspent blocks. */
  readonly quota: Quota;
  readonly segments: Segments;
  /** Held by the only gateway of a SQLite file while it runs, and by gateways of earlier versions on PostgreSQL. */
  readonly gatewayLock: TermLock;
  /** Counts changes of keys, teams and prices, except new keys. Another value than the last time: a process has made one. */
  revocations(): Promise<number>;
  readonly networkModels: NetworkModelNames;
  /** The ledger of all gateways of this database; undefined on SQLite, where the ledger is a file of one process. */
  readonly ledger: LedgerTables | undefined;
  /** The copy of the newest checkpoint of a ledger that is not in this database. */
  ledgerCheckpoint(origin: string): CheckpointCopy;
}

const GATEWAY = { name: 'gateway', number: 0x5354_5247, counter: 'gateway-term' } as const;

/** A separate pool, connected on first use, so that appends to the ledger do not wait for other statements. */
const LEDGER_POOL_SIZE = 2;

/** Opens the store at a URL as `openDatabase` does. */
export async function openStore(url: string, options: PostgresOptions = {}): Promise<GatewayStore> {
  const { db, pool, file } = await openDatabase<GatewayDatabase>(url, migrations, { ...options, isBusy: true });
  let keys: KeyTable;
  let now = () => new Date();
  try {
    if (pool) now = (await SharedClock.open(db)).now;
    keys = await KeyTable.open(db, { now, prefix: 'sk-' });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const counted = new QuotaTable(db);
  const blocks = pool ? new QuotaBlocks(counted) : undefined;
  const texts = new TextTable(db);
  const ledgerDb = pool
    ? new Kysely<GatewayDatabase>({
        dialect: pooledDialect(openPool(url, { poolSize: LEDGER_POOL_SIZE, isPipelined: true })),
      })
    : undefined;
  const gatewayLock = pool ? sessionLock(db, GATEWAY, url) : fileLock(db, GATEWAY, file ?? '');
  return {
    now,
    keys: new GatewayKeys(db, { keys, now }),
    teams: new TeamTable(db, { now }),
    audit: new AuditTable(db, { now }),
    usage: new UsageTable(db),
    quota: blocks ?? counted,
    answers: new AnswerTable(db),
    segments: new SegmentTable(db),
    reputations: new ReputationTable(db),
    stored: new StoredAnswerTable(db, now),
    answersOf: (gateway) => new AnswerTable(db, gateway),
    gateways: new GatewayTable(db, ledgerDb),
    tokens: new TokenReservations(db),
    minutes: pool && new MinuteUsage(db),
    isShared: pool !== undefined,
    gatewayLock,
    // A gateway that was suspended may append what another one has appended for it.
    ledger: ledgerDb && ledgerTablesIn(ledgerDb, { isUnique: true }),
    networkModels: new NetworkModelNames(db, now),
    revocations: () => counterOf(db, 'keys'),
    ledgerCheckpoint: (origin) => ledgerCheckpoint(texts, origin),
    async [Symbol.asyncDispose]() {
      await blocks?.[Symbol.asyncDispose]();
      await gatewayLock[Symbol.asyncDispose]();
      await ledgerDb?.destroy();
      await db.destroy();
    },
  };
}
