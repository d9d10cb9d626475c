// The gateway's store: keys and quotas, receipts and usage of answers, receipts and reputations of workers.
import {
  counterOf,
  fileLock,
  guardOf,
  KeyTable,
  ledgerCheckpoint,
  openDatabase,
  type PostgresOptions,
  type Quota,
  QuotaBlocks,
  QuotaTable,
  SharedClock,
  sessionLock,
  type TermLock,
  TextTable,
  unguarded,
} from '@strata/db';
import type { CheckpointCopy } from '@strata/log';
import { type Segments, SegmentTable } from '@strata/segments';
import { AnswerTable } from './answers.ts';
import { migrations } from './migrations.ts';
import { type Reputations, ReputationTable } from './reputations.ts';
import type { GatewayDatabase } from './tables.ts';

/** Tables that only the gateway writes, and caches in memory. */
export interface GatewayTables {
  readonly answers: AnswerTable;
  readonly reputations: Reputations;
}

/** The persistent state. Methods reject with StoreError when the database fails. A resolved write is committed and survives a kill. */
export interface GatewayStore extends GatewayTables, AsyncDisposable {
  readonly keys: KeyTable;
  /** On PostgreSQL large quotas are leased in blocks; disposing of the store returns unspent blocks. */
  readonly quota: Quota;
  readonly segments: Segments;
  /** Held by the one gateway of the store while it runs. */
  readonly gatewayLock: TermLock;
  /** The tables for the gateway of this term, read at each write; they reject with StoreError `superseded` otherwise. */
  inGatewayTerm(term: () => number): GatewayTables;
  /** Counts revoked keys. Another value than the last time: a process has revoked one. */
  revocations(): Promise<number>;
  /** Names of the models of the network that were served last. */
  readonly networkModels: { read(): Promise<readonly string[]>; write(ids: readonly string[]): Promise<void> };
  /** The copy of the newest checkpoint of the ledger. */
  ledgerCheckpoint(origin: string): CheckpointCopy;
}

/** Name of the setting with the names of the network models, a JSON array. */
const NETWORK_MODELS = 'network-models';
const GATEWAY = { name: 'gateway', number: 0x5354_5247, counter: 'gateway-term' } as const;

/** Opens the store at a URL as `openDatabase` does. */
export async function openStore(url: string, options: PostgresOptions = {}): Promise<GatewayStore> {
  const { db, pool, file } = await openDatabase<GatewayDatabase>(url, migrations, options);
  let keys: KeyTable;
  try {
    const now = pool ? (await SharedClock.open(db)).now : () => new Date();
    keys = await KeyTable.open(db, { now, prefix: 'sk-' });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const counted = new QuotaTable(db);
  const blocks = pool ? new QuotaBlocks(counted) : undefined;
  const texts = new TextTable(db);
  const gatewayLock = pool ? sessionLock(db, GATEWAY, url) : fileLock(db, GATEWAY, file ?? '');
  return {
    keys,
    quota: blocks ?? counted,
    answers: new AnswerTable(db),
    segments: new SegmentTable(db),
    reputations: new ReputationTable(db),
    gatewayLock,
    inGatewayTerm(term) {
      // A file lock is held until the process ends, so no later term can begin.
      const guard = pool ? guardOf(GATEWAY.counter, term) : unguarded;
      return { answers: new AnswerTable(db, guard), reputations: new ReputationTable(db, guard) };
    },
    networkModels: {
      read: async () => JSON.parse((await texts.get(NETWORK_MODELS)) ?? '[]') as string[],
      write: (ids) => texts.put(NETWORK_MODELS, JSON.stringify(ids)),
    },
    revocations: () => counterOf(db, 'keys'),
    ledgerCheckpoint: (origin) => ledgerCheckpoint(texts, origin),
    async [Symbol.asyncDispose]() {
      await blocks?.[Symbol.asyncDispose]();
      await gatewayLock[Symbol.asyncDispose]();
      await db.destroy();
    },
  };
}
