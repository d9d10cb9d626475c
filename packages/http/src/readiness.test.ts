// Ready is: started, not stopping, and everything beneath answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics, serveMetrics } from './metrics.ts';
import { NotReady, Readiness } from './readiness.ts';

describe('readiness', () => {
  it('comes with the start and goes for good with the stop', async () => {
    const readiness = new Readiness();
    assert.deepEqual(await readiness.ready(), { status: 503, body: { status: 'starting' } });
    readiness.started();
    assert.deepEqual(await readiness.ready(), { status: 200, body: { status: 'ready' } });
    readiness.stopping();
    readiness.started();
    assert.deepEqual(await readiness.ready(), { status: 503, body: { status: 'stopping' } });
    assert.equal(readiness.health().status, 200);
  });

  it('ends when a check fails or hangs, comes back with it, and tells strangers no cause', async () => {
    let fails = true;
    const readiness = new Readiness(
      {
        database: async () => {
          if (fails) throw new Error('db.internal refused');
        },
        ledger: () => (fails ? new Promise(() => {}) : Promise.resolve()),
      },
      { checkMs: 10, keepMs: 0 },
    );
    readiness.started();
    assert.deepEqual(await readiness.ready(), {
      status: 503,
      body: { status: 'not ready', problems: { database: 'does not answer', ledger: 'does not answer' } },
    });
    fails = false;
    assert.equal((await readiness.ready()).status, 200);
  });

  it('says what is amiss where a check has words for strangers', async () => {
    const readiness = new Readiness({ ledger: () => Promise.reject(new NotReady('cannot sign')) });
    readiness.started();
    assert.deepEqual((await readiness.ready()).body, { status: 'not ready', problems: { ledger: 'cannot sign' } });
  });

  it('asks once for many', async () => {
    let asked = 0;
    const readiness = new Readiness(
      {
        database: async () => {
          asked += 1;
        },
      },
      { keepMs: 60_000 },
    );
    readiness.started();
    await Promise.all(Array.from({ length: 50 }, () => readiness.ready()));
    await readiness.ready();
    assert.equal(asked, 1);
  });

  it('is served beside the metrics', async () => {
    const readiness = new Readiness();
    await using served = await serveMetrics(new Metrics(), { host: '127.0.0.1', port: 0, readiness });
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${served.port}${path}`)).status;
    assert.deepEqual([await status('/health'), await status('/ready'), await status('/metrics')], [200, 503, 200]);
    readiness.started();
    assert.deepEqual([await status('/ready'), await status('/other')], [200, 404]);
  });
});

describe('metrics', () => {
  it('of a source that fails are left out, and the others told', async () => {
    const metrics = new Metrics();
    let isBroken = true;
    metrics.gauges('x_age', 'Age', 'source', async () => {
      if (isBroken) throw new Error('gone');
      return [['nvd', 3]];
    });
    let total = 5;
    metrics.total('x_total', 'All', () => total);
    metrics.counter('x_ends_total', 'Ends', 'outcome')('done', 2);
    metrics.durations('x_seconds', 'Time', { label: 'outcome', buckets: [1, 2] })('done', 1_500);
    const broken = await metrics.registry.metrics();
    assert.doesNotMatch(broken, /x_age\{/);
    assert.match(broken, /^x_total 5$/m);
    assert.match(broken, /^x_ends_total\{outcome="done"\} 2$/m);
    assert.match(broken, /^x_seconds_bucket\{le="2",outcome="done"\} 1$/m);
    isBroken = false;
    total = 7;
    const mended = await metrics.registry.metrics();
    assert.match(mended, /^x_age\{source="nvd"\} 3$/m);
    assert.match(mended, /^x_total 7$/m);
  });
});
