// The export while ClickHouse does not respond.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openClickHouse } from '@strata/analytics-clickhouse';
import { createLogger } from '@strata/http';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { openStore } from '../store/index.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from '../store/test/scans.ts';
import { Exporting } from './exporting.ts';

it('while ClickHouse does not respond, the store goes on, its events count as lag, and the failure is logged once', async () => {
  await using store = await openStore('sqlite::memory:');
  // The port of discard: no server listens there.
  await using clickhouse = await openClickHouse('http://127.0.0.1:9/strata');
  const lines: string[] = [];
  const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const exporting = new Exporting({ store, clickhouse, rulebook });
  assert.equal(await exporting.lag(), undefined);
  const stopping = new AbortController();
  const lags: (number | undefined)[] = [];
  const wait = async () => {
    await recordScan(store, scanOf(`d${lags.length}.com`, day(0), GOOGLE), confirm);
    lags.push(await exporting.lag());
    if (lags.length === 3) stopping.abort();
  };
  await exporting.run({ logger, signal: stopping.signal, wait });
  assert.deepEqual([...lags, await exporting.lag()], [1, 2, 3, undefined], 'another process may export now');
  assert.equal(lines.filter((line) => line.includes('the export into ClickHouse failed')).length, 1);
});

it('the end of a term does not wait for a statement of the export; the end of the process does', async () => {
  await using store = await openStore('sqlite::memory:');
  await using clickhouse = await openClickHouse('http://127.0.0.1:9/strata');
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const command = () => {
    begun.resolve();
    return ended.promise;
  };
  const order: string[] = [];
  const stopping = new AbortController();
  {
    await using exporting = new Exporting({ store, clickhouse: { ...clickhouse, command }, rulebook });
    const term = exporting.runInTerm({ logger: createLogger({ level: 'silent' }), signal: stopping.signal });
    await begun.promise;
    stopping.abort();
    await term;
    order.push('term');
    setImmediate(() => {
      order.push('statement');
      ended.resolve();
    });
  }
  assert.deepEqual([...order, 'process'], ['term', 'statement', 'process']);
});
