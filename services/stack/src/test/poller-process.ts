// Polls feeds that answer at once, each with one item, until it is killed; prints when it has begun to record. Its clock may be ahead.
import { createLogger } from '@strata/http';
import { EventBus } from '../events.ts';
import { createPoller } from '../feeds/poller.ts';
import { openStore } from '../store/index.ts';
import { NOTHING, readsOne } from './polling.ts';

const [url = '', aheadMs = '0'] = process.argv.slice(2);
const store = await openStore(url);
const logger = createLogger({ level: 'silent' });
const events = new EventBus(logger);
const poller = createPoller(
  {
    store,
    poll: readsOne,
    ask: () => new Promise((resolve) => setImmediate(resolve, NOTHING)),
    logger,
    events,
    now: () => new Date(Date.now() + Number(aheadMs)),
    random: () => 0.5,
    scan: async () => {},
  },
  { concurrency: 32, keepMs: 400 * 86_400_000 },
);
events.subscribe('feed-polled', () => {
  if (poller.counts().polls % 100 === 0) process.stdout.write(`${poller.counts().polls}\n`);
});
await poller.runDue({ onDone: () => {}, signal: new AbortController().signal });
await store[Symbol.asyncDispose]();
