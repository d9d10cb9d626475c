// Liveness and readiness while a service stops; without a database: tests/full/database/faults.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { startHarness as startGatewayHarness } from '../../../services/gateway/src/test/harness.ts';
import { confirm, GOOGLE, recordScan, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { startHarness } from '../../../services/stack/src/test/harness.ts';
import { sharedInternet } from '../../../services/stack/src/test/shared.ts';
import { until as untilSo } from '../../support/until.ts';

const status = async (port: number | undefined, target: string) =>
  (await fetch(`http://127.0.0.1:${port}${target}`)).status;

/** Asks until it is so; two minutes are enough for a busy machine. */
const until = (isSo: () => Promise<boolean>, what: string) =>
  untilSo(() => isSo().catch(() => false), { what, limitMs: 120_000, intervalMs: 50 });

describe('the stack service', () => {
  it('that stops applies the writes of other nodes for as long as it answers', async () => {
    const internet = await sharedInternet();
    const service = await startHarness({ internet, settings: { STRATA_DRAIN_SECONDS: '10' } });
    await using other = await openStore(`sqlite:${path.join(service.directory, 'strata.db')}`);
    const count = async () => Number((await service.get('/stack/v1/stats')).body.domains);
    const before = await count();
    const stopped = service[Symbol.asyncDispose]();
    try {
      await recordScan(other, scanOf('written-late.com', new Date().toISOString(), GOOGLE), confirm);
      await until(async () => (await count()) === before + 1, 'counted while it stops');
    } finally {
      await stopped;
    }
  });
});

describe('the gateway', () => {
  it('that stops is not ready before a connection closes', async () => {
    const service = await startGatewayHarness({ STRATA_DRAIN_SECONDS: '2', STRATA_INFERENCE_METRICS_PORT: '0' });
    const { port, metricsPort } = service.running;
    assert.deepEqual([await status(port, '/ready'), await status(metricsPort, '/ready')], [200, 200]);
    const open = connect(port, '127.0.0.1');
    await once(open, 'connect');
    const stopped = service[Symbol.asyncDispose]();
    assert.deepEqual([await status(port, '/ready'), open.closed], [503, false]);
    await stopped;
    open.destroy();
  });
});
