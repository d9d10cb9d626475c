// Keys folders of several nodes, and whether what one signs holds at another.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { SignedLedger } from '@strata/log';
import { issueReceipt, verifyAnswer } from '@strata/receipts';

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
