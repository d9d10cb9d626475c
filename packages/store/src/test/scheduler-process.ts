// Takes the scheduler's lock when it can, says so, writes as long as it may, and says when it hears that the lock is lost.
import { openStore, StoreError } from '../index.ts';

const [url = ''] = process.argv.slice(2);
const store = await openStore(url);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let hold = await store.schedulerLock.tryTake();
for (; !hold; hold = await store.schedulerLock.tryTake()) await pause(50);
const { term, lost } = hold;
const { signals } = store.inTerm(term);
process.stdout.write(`held ${term}\n`);
let written = 0;
try {
  for (; ; written += 1) {
    // Where it stood still in the middle of a transaction, the server has ended that connection first.
    await signals.setWatched({ seq: term, day: written }).catch((error: unknown) => {
      if (!(error instanceof StoreError) || error.code !== 'connection-lost') throw error;
    });
    await pause(5);
  }
} catch (error) {
  if (!(error instanceof StoreError) || error.code !== 'superseded') throw error;
  process.stdout.write('refused\n');
}
while (!lost.aborted) await pause(20);
process.stdout.write('lost\n');
await store[Symbol.asyncDispose]();
