// Records polls as fast as it can and says each that is acknowledged, until it is killed.
import { openStore } from '../index.ts';
import { poll } from './polls.ts';

const [url = '', start = '0'] = process.argv.slice(2);
const store = await openStore(url);
for (let i = Number(start); ; i += 1) {
  const feed = `https://feed-${i}.example/rss`;
  const at = new Date('2026-01-01T00:00:00Z');
  await store.feeds.add([{ url: feed }], at);
  const stored = await store.feeds.find(feed);
  if (!stored) throw new Error('a feed that was added is not there');
  const items = Array.from({ length: 20 }, (_, item) => ({
    key: `${item}`,
    domains: [`d${item}.com`, `only-${i}.com`],
  }));
  await store.feeds.record(stored.id, poll(feed, items), { at, keepFrom: new Date(0) });
  process.stdout.write(`${feed}\n`);
}
