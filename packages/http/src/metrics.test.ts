import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Metrics, serveMetrics } from './metrics.ts';
import { Readiness } from './readiness.ts';

it('counts requests by route and status, and serves them where it is asked to', async () => {
  const metrics = new Metrics();
  const meter = metrics.routeMeter('GET', '/things/{id}');
  meter(200, 3);
  meter(200, 30);
  meter(404, 1);
  let open = 7;
  metrics.gauge('strata_test_open', 'A figure', () => open);
  await using served = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
  open = 8;
  const url = `http://127.0.0.1:${served.port}`;
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  assert.match(String(response.headers.get('content-type')), /^text\/plain/);
  for (const line of [
    'strata_http_requests_total{method="GET",route="/things/{id}",status="200"} 2',
    'strata_http_requests_total{method="GET",route="/things/{id}",status="404"} 1',
    'strata_http_request_seconds_bucket{le="0.005",route="/things/{id}"} 2',
    'strata_http_request_seconds_count{route="/things/{id}"} 3',
    'strata_test_open 8',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.equal((await fetch(`${url}/`)).status, 404);
});

it('leaves out a figure that cannot be read, without its cause, and lets go of its port', async () => {
  const metrics = new Metrics();
  let isBroken = true;
  metrics.gauge('strata_test_broken', 'A figure', () => {
    if (isBroken) throw new Error('the secret of the figure');
    return 1;
  });
  const served = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${served.port}/metrics`;
  const response = await fetch(url);
  const told = await response.text();
  assert.equal(response.status, 200);
  assert.match(told, /^process_cpu_seconds_total /m);
  assert.doesNotMatch(told, /^strata_test_broken|secret/m);
  isBroken = false;
  const again = await fetch(url);
  assert.equal(again.status, 200);
  assert.match(await again.text(), /^strata_test_broken 1$/m);
  await served[Symbol.asyncDispose]();
  await assert.rejects(fetch(url));
});

it('fails to start on a port that is taken', async () => {
  await using first = await serveMetrics(new Metrics(), { host: '127.0.0.1', port: 0 });
  await assert.rejects(serveMetrics(new Metrics(), { host: '127.0.0.1', port: first.port }), /EADDRINUSE/);
});

it('says of a process that serves nothing else that it lives, and whether it is ready', async () => {
  let database: () => Promise<unknown> = async () => {};
  const options = { facts: () => ({ role: 'scanner' }), checkMs: 50, keepMs: 0 };
  const readiness = new Readiness({ database: () => database() }, options);
  await using served = await serveMetrics(new Metrics(), { host: '127.0.0.1', port: 0, readiness });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${served.port}${path}`);
    return [response.status, await response.json()];
  };
  assert.deepEqual(await ask('/ready'), [503, { status: 'starting' }]);
  readiness.started();
  assert.deepEqual(await ask('/ready'), [200, { status: 'ready', role: 'scanner' }]);
  for (const failing of [() => Promise.reject(new Error('a secret')), () => new Promise<never>(() => {})]) {
    database = failing;
    assert.deepEqual(await ask('/ready'), [503, { status: 'not ready', problems: { database: 'does not answer' } }]);
    assert.deepEqual(await ask('/health'), [200, { status: 'ok' }]);
  }
});
