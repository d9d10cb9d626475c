// Records scans and polls, creates keys and counts requests at full speed, and prints each acknowledged one, until it is killed.
import { openStore } from '../index.ts';
import { poll } from './records.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from './scans.ts';

const [url = '', prefix = '', counted = ''] = process.argv.slice(2);
const store = await openStore(url);
const at = new Date(day(0));
const say = (line: string) => process.stdout.write(`${line}\n`);
for (let i = 0; ; i += 1) {
  const domain = `${prefix}-${i}.com`;
  await recordScan(store, scanOf(domain, day(0), GOOGLE), confirm);
  say(`scan ${domain}`);
  const { stored } = await store.keys.create({ tier: 'free', label: domain });
  say(`key ${stored.id}`);
  // Counted one by one, as small limits are; of a larger one a killed process loses what it had leased.
  const { used } = await store.quota.take(counted, '2026-01-01', 1_000);
  say(`used ${used}`);
  const feed = `https://${domain}/feed`;
  await store.feeds.add([{ url: feed }], at);
  const found = await store.feeds.find(feed);
  if (!found) throw new Error('a feed that was added is not there');
  const items = Array.from({ length: 20 }, (_, n) => ({ key: `${n}`, domains: [`d${n}.com`, `only-${domain}`] }));
  await store.feeds.record(found.id, poll(feed, items), { at, keepFrom: new Date(0) });
  say(`feed ${feed}`);
}
