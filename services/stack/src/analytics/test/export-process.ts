// Exports everything of a store in small blocks, and prints a line after each.
import { openClickHouse } from '@strata/analytics-clickhouse';
import { rulebook } from '../../../../../tests/support/rulebook.ts';
import { openStore } from '../../store/index.ts';
import { Exporting } from '../exporting.ts';

const [url = '', analytics = ''] = process.argv.slice(2);
await using store = await openStore(url);
await using clickhouse = await openClickHouse(analytics);
const maxRows = { domains: 20, page: 10, events: 15, scans: 25 };
const { signal } = new AbortController();
await new Exporting({ store, clickhouse, rulebook, maxRows }).runOnce(signal, ({ stage, seq }) =>
  process.stdout.write(`${stage} ${seq}\n`),
);
