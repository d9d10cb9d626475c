// Nodes with keys folders of their own on one database, and whether what one signs holds at another.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { SignedLedger } from '@strata/log';
import { issueReceipt, verifyAnswer } from '@strata/receipts';
import { temporaryDirectory } from '../../../packages/log/src/test/fixture.ts';
import { openLedgerOf } from './database.ts';

/** Gives a node the keys of another, as an operator does. */
export function giveKeys(from: string, to: string): void {
  rmSync(path.join(to, 'keys'), { recursive: true, force: true });
  cpSync(path.join(from, 'keys'), path.join(to, 'keys'), { recursive: true });
}

/** An answer of one node, checked with what another publishes. */
export async function assertHolds(giving: SignedLedger, checking: SignedLedger): Promise<void> {
  const issued = issueReceipt({ said: 'something' }, giving.issuing());
  await giving.log.append(issued.leaf);
  const { provenance } = issued.body;
  const { ok, steps } = await verifyAnswer(issued.body, {
    keySet: checking.keySet(),
    ledgerReceipt: await checking.log.receipt(provenance.ledger_receipt_id),
  });
  assert.ok(ok, JSON.stringify(steps.at(-1)));
}

export interface TwoNodes extends AsyncDisposable {
  readonly url: string;
  readonly clock: () => Date;
  passMinutes(minutes: number): void;
  /** Directories of the nodes; `two` begins with the keys of `one`. */
  readonly one: string;
  readonly two: string;
  readonly a: SignedLedger;
  readonly b: SignedLedger;
  /** A further directory, empty or with the keys that `one` has now. */
  directory(options?: { readonly hasKeys: boolean }): Promise<string>;
}

/** Two nodes with the same keys on a database of their own, under a clock that the test sets. */
export async function openTwoNodes(url: string): Promise<TwoNodes> {
  await using stack = new AsyncDisposableStack();
  let now = Date.now();
  const clock = () => new Date(now);
  const directory = async () => stack.use(await temporaryDirectory()).path;
  const [one, two] = [await directory(), await directory()];
  const a = stack.use(await openLedgerOf(one, url, clock));
  giveKeys(one, two);
  const b = stack.use(await openLedgerOf(two, url, clock));
  const owned = stack.move();
  return {
    ...{ url, clock, one, two, a, b },
    passMinutes(minutes) {
      now += minutes * 60_000;
    },
    async directory({ hasKeys } = { hasKeys: false }) {
      const { path } = owned.use(await temporaryDirectory());
      if (hasKeys) giveKeys(one, path);
      return path;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
