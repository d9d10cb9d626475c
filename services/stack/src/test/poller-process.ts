// Polls feeds that answer at once, each with one item, until it is killed; prints when it has begun to record. Its clock may be ahead.
import { createLogger } from '@strata/http';
import { createPoller } from '../feeds/poller.ts';
import { openStore } from '../store/index.ts';
import { NOTHING, readsOne } from './polling.ts';

const [url = '', aheadMs = '0'] = process.argv.slice(2);
const store = await openStore(url);
const poller = createPoller(
  {
    store,
    poll: readsOne,
    ask: () => new Promise((resolve) => setImmediate(resolve, NOTHING)),
    logger: createLogger({ level: 'silent' }),
    now: () => new Date(Date.now() + Number(aheadMs)),
    random: () => 0.5,
    onRecorded: () => {
      if (poller.counts().polls % 100 === 0) process.stdout.write(`${poller.counts().polls}\n`);
    },
  },
  { concurrency: 32, keepMs: 400 * 86_400_000 },
);
await poller.runDue({ onDone: () => {}, signal: new AbortController().signal });
await store[Symbol.asyncDispose]();
