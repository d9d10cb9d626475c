// Records scans as fast as it can and says each that is acknowledged, until it is killed.
import { openStore } from '../index.ts';
import { confirm, GOOGLE, scanOf } from './scans.ts';

const [url = '', prefix = ''] = process.argv.slice(2);
const store = await openStore(url);
for (let i = 0; ; i += 1) {
  const domain = `${prefix}-${i}.com`;
  await store.recordScan(scanOf(domain, '2026-01-01T00:00:00.000Z', GOOGLE), confirm);
  process.stdout.write(`${domain}\n`);
}
