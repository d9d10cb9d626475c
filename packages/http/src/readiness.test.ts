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

  it('ends while a check fails or hangs, and publishes no cause but those for strangers', async () => {
    let check: () => Promise<unknown> = async () => {};
    const database = () => check();
    const readiness = new Readiness({ database }, { facts: () => ({ role: 'scanner' }), checkMs: 10, keepMs: 0 });
    readiness.started();
    for (const [failing, problem] of [
      [() => Promise.reject(new Error('db.internal refused')), 'does not answer'],
      [() => new Promise(() => {}), 'does not answer'],
      [() => Promise.reject(new NotReady('cannot sign')), 'cannot sign'],
    ] as const) {
      check = failing;
      const body = { status: 'not ready', problems: { database: problem } };
      assert.deepEqual(await readiness.ready(), { status: 503, body });
      check = async () => {};
      assert.deepEqual(await readiness.ready(), { status: 200, body: { status: 'ready', role: 'scanner' } });
    }
  });

  it('asks once for many requests', async () => {
    let asked = 0;
    const database = async () => asked++;
    const readiness = new Readiness({ database }, { keepMs: 60_000 });
    readiness.started();
    await Promise.all(Array.from({ length: 50 }, () => readiness.ready()));
    await readiness.ready();
    assert.equal(asked, 1);
  });

  it('is served with the metrics', async () => {
    const readiness = new Readiness();
    await using served = await serveMetrics(new Metrics(), { host: '127.0.0.1', port: 0, readiness });
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${served.port}${path}`);
      return `${response.status} ${(await response.text()).slice(0, 25)}`;
    };
    assert.deepEqual([await ask('/health'), await ask('/ready')], ['200 {"status":"ok"}', '503 {"status":"starting"}']);
    assert.match(await ask('/metrics'), /^200 # HELP/);
    readiness.started();
    assert.equal(await ask('/ready'), '200 {"status":"ready"}');
    assert.match(await ask('/other'), /^404/);
  });
});
