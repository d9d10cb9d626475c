// Acquires the lock of the scheduler, writes until it is lost, and reports both.
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@strata/db';
import { taken } from '../../../../../tests/support/database/locks.ts';
import { openStore } from '../index.ts';

const [url = ''] = process.argv.slice(2);
const store = await openStore(url);
const { term, lost } = await taken(store.schedulerLock);
process.stdout.write(`held ${term}\n`);
const alive = setInterval(() => {}, 1_000);
const { signals } = store.inTerm(term);
try {
  for (let written = 0; ; written += 1) {
    // If it was stopped within a transaction, the server has ended that connection first.
    await signals.setWatched({ seq: term, day: written }).catch((error: unknown) => {
      if (!(error instanceof StoreError) || error.code !== 'connection-lost') throw error;
    });
    await delay(5);
  }
} catch (error) {
  if (!(error instanceof StoreError) || error.code !== 'superseded') throw error;
  process.stdout.write('refused\n');
}
while (!lost.aborted) await delay(20);
process.stdout.write('lost\n');
clearInterval(alive);
await store[Symbol.asyncDispose]();
