// With ClickHouse no process reads all domains, whether it serves requests or runs the scheduler.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { it, mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { readNvdRecord } from '@strata/advisories';
import { createLogger } from '@strata/http';
import { until } from '../../../../tests/support/until.ts';
import { readConfig } from '../config.ts';
import { Exposures } from '../enrichment/exposure/exposures.ts';
import { startScheduler } from '../roles/start-scheduler.ts';
import { IndexFeed } from '../store/events/index-feed.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../store/test/scans.ts';
import { settingsFor, smallInternet, startHarness } from '../test/harness.ts';

it('an API node and a scheduler with ClickHouse start without an index, also while it is away', async () => {
  await using internet = await smallInternet();
  const reads = mock.method(IndexFeed.prototype, 'readAll');
  const built = () => reads.mock.calls.filter(({ arguments: [reader] }) => reader.domains).length;
  await using service = await startHarness({ internet });
  const [first = '', ...rest] = internet.domains();
  await service.scan(first, ...rest.slice(0, 5));
  const snapshot = path.join(service.directory, 'index.snapshot');
  await service.running.updateLoop.run();
  assert.deepEqual([built(), service.running.index?.size], [1, 6], 'without it, an index is built');
  // The port of discard: no server listens there.
  const settings = { STRATA_ANALYTICS_URL: 'http://127.0.0.1:9/strata' };
  await service.restart(settings);
  rmSync(snapshot, { force: true });
  await service.running.updateLoop.run();
  const suggested = async (q: string) => (await service.ask(`/suggest?q=${q}`)).body.domains;
  assert.deepEqual(
    [(await service.get(`/stack/v1/domains/${first}`)).status, await suggested(first[0] ?? '')],
    [
      200,
      internet
        .domains()
        .slice(0, 6)
        .filter((name) => name[0] === first[0])
        .toSorted(),
    ],
  );
  const affected = await service.get(`/stack/v1/enrichment/affected?domain=${first}`);
  assert.deepEqual([affected.status, (await service.get('/stack/v1/enrichment/advisories')).status], [200, 503]);
  await service.scan(first);
  assert.equal((await service.get(`/stack/v1/domains/${first}`)).status, 200);
  assert.equal(service.running.index, undefined);
  // A ClickHouse that accepts statements and never responds delays neither the logs nor the stream.
  await using hanging = createServer().listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const port = (hanging.address() as AddressInfo).port;
  await service.restart({ STRATA_ANALYTICS_URL: `http://127.0.0.1:${port}/strata` });
  const { store, log } = service.running.app;
  // Another scheduler announced an advisory that this one reads late.
  const { changes } = Exposures.prototype;
  const late = mock.method(Exposures.prototype, 'changes', async function* (this: Exposures) {
    await setTimeout(500);
    yield* changes.call(this);
  });
  const [advisoryId, time] = ['CVE-2026-90001', '2026-01-01T00:00:00'];
  const criteria = 'cpe:2.3:a:wordpress:wordpress:*:*:*:*:*:*:*:*';
  const configurations = [{ nodes: [{ operator: 'OR', cpeMatch: [{ vulnerable: true, criteria }] }] }];
  const cve = { id: advisoryId, published: time, lastModified: time, descriptions: [], configurations };
  await store.advisories.putRecords([readNvdRecord({ cve }).record ?? assert.fail()]);
  const payload = { advisoryId, reason: 'exploited' } as const;
  await store.advisories.addEvent(advisoryId, { kind: 'advisory-touched', at: new Date(), domain: '', payload });
  for (const [n, exchange] of [GOOGLE, MICROSOFT, MICROSOFT].entries())
    await recordScan(store, scanOf('moved.com', day(n), exchange), confirm);
  const stream = async () => JSON.stringify((await service.get('/stack/v1/stream/json')).body);
  // Far less than its limit of a statement.
  await until(async () => (await stream()).includes('moved.com'), { limitMs: 4_000, intervalMs: 50 });
  assert.ok((await stream()).includes(advisoryId));
  late.mock.restore();
  assert.equal(log.position.seq, await store.events.latestSeq());
  const begun = internet.domains().filter((name) => name.startsWith(first.slice(0, 4)));
  assert.deepEqual(
    await suggested(first.slice(0, 4)),
    begun.filter((name) => rest.slice(0, 5).includes(name) || name === first).toSorted(),
  );
  const stoppedAt = performance.now();
  await service.running[Symbol.asyncDispose]();
  assert.ok(performance.now() - stoppedAt < 8_000, 'a stop does not wait for its limit of a statement');
  const config = readConfig({ ...settingsFor(internet, service.directory), ...settings });
  await using scheduler = await startScheduler({ ...config, role: 'scheduler' }, createLogger({ level: 'silent' }));
  assert.ok(scheduler.metricsPort > 0);
  assert.deepEqual([built(), existsSync(snapshot)], [1, false]);
  reads.mock.restore();
});
