// A service whose companies move and are scanned while clients ask, with every receipt that reached one of them.
import assert from 'node:assert/strict';
import type { World } from '@strata/stack';
import type { Internet } from '@strata/testnet';
import { moveDns, startHarness } from '../../services/stack/src/test/harness.ts';

const HOUR_MS = 3_600_000;

export type Busy = Awaited<ReturnType<typeof startBusy>>;

export async function startBusy(internet: Internet, settings: Readonly<Record<string, string>> = {}) {
  await using stack = new AsyncDisposableStack();
  let now = Date.parse('2026-03-01T00:00:00Z');
  const world: World = { now: () => new Date(now) };
  const harness = stack.use(await startHarness({ internet, settings, world }));
  const domains = internet.domains().slice(0, 6);
  /** The ledger's ids of every receipt that reached a client. */
  const receiptIds: string[] = [];
  /** Companies move and are scanned, clients ask. */
  const step = async () => {
    moveDns(internet);
    for (const hours of [24, 7]) {
      now += hours * HOUR_MS;
      await harness.scan(...domains);
      await harness.running.updateLoop.run();
      const answers = await Promise.all(domains.map((domain) => harness.get(`/stack/v1/domains/${domain}`)));
      for (const { body } of answers) receiptIds.push(body.provenance.ledger_receipt_id ?? assert.fail('no receipt'));
    }
  };
  // The first scan starts the history; later changes are published in the stream.
  for (const _ of [1, 2]) await step();
  const env = { STRATA_DATA: harness.directory, ...settings };
  return Object.assign(stack.move(), { harness, env, world, receiptIds, domains, step });
}
