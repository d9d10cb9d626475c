// Logs of several nodes in a database of the test's own.
import {
  openSharedLog,
  openSignedLedger,
  type SharedLedger,
  type SharedLog,
  type SharedPlace,
  type SignedLedger,
} from '@strata/log';
import { openStore } from '@strata/store';
import { ORIGIN, testSigner } from '../../../packages/log/src/test/fixture.ts';

/** A node's keys, from a seed byte each; the first is the current one. */
export function keysOf(...seeds: readonly number[]) {
  let signers = seeds.map(testSigner);
  return {
    get signer() {
      return signers[0] ?? testSigner();
    },
    publicKeys: () => signers.map(({ publicKey }) => publicKey),
    async reload() {
      const [before] = signers;
      signers = this.onDisk.map(testSigner);
      return before !== signers[0];
    },
    /** What `reload` reads. */
    onDisk: seeds,
  };
}

/** A node's own way to the database. */
export async function openPlace(url: string): Promise<SharedPlace & AsyncDisposable> {
  const store = await openStore(url, { poolSize: 4 });
  if (!store.ledger) throw new Error('no database of several nodes');
  const { log } = store.ledger;
  return { turns: log, rows: log, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

export interface NodeOptions {
  readonly origin?: string;
  readonly keys?: ReturnType<typeof keysOf>;
}

/** A node with the test's key, closed with its connections. */
export async function openNode(
  url: string,
  { origin = ORIGIN, keys = keysOf(2) }: NodeOptions = {},
): Promise<SharedLog> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPlace(url));
  const log = stack.use(await openSharedLog({ origin, keys, place }));
  const owned = stack.move();
  return Object.assign(log, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

/** The ledger of a database, as the service takes it. */
export async function openShared(url: string): Promise<SharedLedger & AsyncDisposable> {
  const store = await openStore(url, { poolSize: 4 });
  if (!store.ledger) throw new Error('no database of several nodes');
  const { log, keys } = store.ledger;
  return { place: { turns: log, rows: log }, keys, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** A node's ledger with its signing keys, below a directory of its own. */
export async function openLedgerOf(
  directory: string,
  url?: string,
  now: () => Date = () => new Date(),
): Promise<SignedLedger> {
  await using stack = new AsyncDisposableStack();
  const shared = url === undefined ? undefined : stack.use(await openShared(url));
  const ledger = stack.use(await openSignedLedger({ directory, origin: ORIGIN, keySetPath: '/keys', now, shared }));
  const owned = stack.move();
  return { ...ledger, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
