// Nodes with keys folders of their own on one database, and whether what one signs holds at another.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type LedgerTables, rotateSigningKeys, type SignedLedger } from '@strata/log';
import { issueReceipt, verifyAnswer } from '@strata/receipts';
import { ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { openLedgerOf, openShared } from './database.ts';

/** Gives a node the keys of another, as an operator does. */
export function giveKeys(from: string, to: string): void {
  rmSync(path.join(to, 'keys'), { recursive: true, force: true });
  cpSync(path.join(from, 'keys'), path.join(to, 'keys'), { recursive: true });
}

/** An answer of one node, checked with what another publishes; it may be entered after `before`. */
export async function assertHolds(
  giving: SignedLedger,
  checking: SignedLedger,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const { body, leaf } = issueReceipt({ text: 'an answer' }, giving.issuing());
  await giving.log.append(leaf);
  await before();
  const ledgerReceipt = await checking.log.receipt(body.provenance.ledger_receipt_id);
  const { ok, steps } = await verifyAnswer(body, { keySet: checking.keySet(), ledgerReceipt });
  assert.ok(ok, JSON.stringify(steps.at(-1)));
}

export async function reload(...ledgers: readonly SignedLedger[]): Promise<void> {
  for (const ledger of ledgers) await ledger.reload();
}

/** The same of each, checked with what the other publishes. */
export async function assertBothHold(one: SignedLedger, other: SignedLedger): Promise<void> {
  await assertHolds(one, other);
  await assertHolds(other, one);
}

/** Nodes on a database of their own, under a clock that the test sets; all of it is closed with it. */
export class Nodes implements AsyncDisposable {
  readonly url: string;
  readonly shared: LedgerTables;
  readonly #owned: AsyncDisposableStack;
  #now = Date.now();

  private constructor(url: string, shared: LedgerTables, owned: AsyncDisposableStack) {
    this.url = url;
    this.shared = shared;
    this.#owned = owned;
  }

  static async open(): Promise<Nodes> {
    await using stack = new AsyncDisposableStack();
    const url = await postgres.fresh();
    return new Nodes(url, stack.use(await openShared(url)), stack.move());
  }

  readonly clock = (): Date => new Date(this.#now);

  passMinutes(minutes: number): void {
    this.#now += minutes * 60_000;
  }

  /** A new directory, empty or with the keys that another has now. */
  async directory(keysOf?: string): Promise<string> {
    const directory = this.#owned.use(await temporaryDirectory()).path;
    if (keysOf !== undefined) giveKeys(keysOf, directory);
    return directory;
  }

  /** A node below a directory. */
  async node(directory: string): Promise<SignedLedger> {
    return this.#owned.use(await openLedgerOf(directory, this.url, this.clock));
  }

  /** A node in a new directory. */
  async one() {
    const one = await this.directory();
    return { one, a: await this.node(one) };
  }

  /** Two nodes with the same keys, each in a directory of its own. */
  async two() {
    const { one, a } = await this.one();
    const two = await this.directory(one);
    return { one, two, a, b: await this.node(two) };
  }

  /** Rotates the keys of a directory, and names the new ones to the database. */
  rotate(directory: string, shared = this.shared) {
    return rotateSigningKeys(directory, this.clock, { origin: ORIGIN, shared });
  }

  /** No node publishes before each has read the key that it retires: one after the other, the later ones would be refused. */
  async rotateAtOnce(directories: readonly string[]): Promise<void> {
    const { keys } = this.shared;
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const put: typeof keys.put = async (id, text) => {
      waiting += 1;
      if (waiting === directories.length) all.resolve();
      await all.promise;
      await keys.put(id, text);
    };
    const shared = { ...this.shared, keys: { all: () => keys.all(), put } };
    await Promise.all(directories.map((directory) => this.rotate(directory, shared)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}
