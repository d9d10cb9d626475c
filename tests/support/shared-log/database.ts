// Logs of several nodes in a database of the test's own.
import {
  type DatabaseLog,
  type LedgerTable,
  type LedgerTables,
  openLog,
  openSignedLedger,
  type SignedLedger,
} from '@strata/log';
import { openStore } from '@strata/stack/store';
import { keysOf, ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { exec } from '../../../services/stack/src/store/test/backends.ts';

/** A table with other methods in place of some of its own. */
export function withMethods(table: LedgerTable, methods: Partial<LedgerTable>): LedgerTable {
  return new Proxy(table, { get: (own, name: keyof LedgerTable) => methods[name] ?? own[name].bind(own) });
}

/** The ledger of a database, as the service takes it. */
export async function openShared(url: string): Promise<LedgerTables & AsyncDisposable> {
  const store = await openStore(url, { poolSize: 4 });
  if (!store.ledger) throw new Error('no database of several nodes');
  return { ...store.ledger, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** A node with the test's key, closed with its connections. */
export async function openNode(url: string): Promise<DatabaseLog> {
  await using stack = new AsyncDisposableStack();
  const { log: table } = stack.use(await openShared(url));
  const log = stack.use(await openLog({ origin: ORIGIN, keys: keysOf(2), table }));
  const owned = stack.move();
  return Object.assign(log, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

/** A node's ledger with its signing keys, below a directory of its own. */
export async function openLedgerOf(directory: string, url?: string, now = () => new Date()): Promise<SignedLedger> {
  await using stack = new AsyncDisposableStack();
  const shared = url === undefined ? undefined : stack.use(await openShared(url));
  const ledger = stack.use(await openSignedLedger({ directory, origin: ORIGIN, keySetPath: '/keys', now, shared }));
  const owned = stack.move();
  return { ...ledger, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Keeps rows of tables, and carries out the change; on disposal they are what they were. */
export async function altered(url: string, tables: readonly string[], change: string): Promise<AsyncDisposable> {
  await exec(url, `${tables.map((name) => `create table kept_${name} as select * from ${name};`).join('')} ${change}`);
  const restore = (name: string) =>
    `delete from ${name}; insert into ${name} select * from kept_${name}; drop table kept_${name};`;
  return { [Symbol.asyncDispose]: () => exec(url, tables.map(restore).join('')) };
}
