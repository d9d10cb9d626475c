import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { createLogger } from './logger.ts';
import { Metrics, serveMetrics } from './metrics.ts';
import { NotReady, Readiness } from './readiness.ts';
import { ThrottledLog } from './throttled-log.ts';

it('counts requests by route and status, and serves them and its readiness on a port of its own', async () => {
  const metrics = new Metrics();
  const meter = metrics.routeMeter('GET', '/things/{id}');
  meter(200, 3);
  meter(200, 30);
  meter(404, 1);
  let open = 7;
  metrics.gauge('strata_test_open', 'A figure', () => open);
  const readiness = new Readiness();
  await using served = await serveMetrics(metrics, { host: '127.0.0.1', port: 0, readiness });
  open = 8;
  const url = `http://127.0.0.1:${served.port}`;
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  assert.match(String(response.headers.get('content-type')), /^text\/plain/);
  for (const line of casesOf<string[]>('http', 'lines of metrics')) assert.ok(text.includes(`${line}\n`), line);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.equal((await fetch(`${url}/`)).status, 404);
  const ask = async (path: string) => fetch(url + path).then(async (each) => `${each.status} ${await each.text()}`);
  assert.match(`${await ask('/health')} ${await ask('/ready')}`, /^200 \{"status":"ok".* 503 \{"status":"starting"/);
  readiness.started();
  assert.match(await ask('/ready'), /^200 \{"status":"ready"/);
  await assert.rejects(serveMetrics(new Metrics(), { host: '127.0.0.1', port: served.port }), /EADDRINUSE/);
});

it('omits metrics that cannot be read, without their cause, publishes the remaining ones, and releases its port', async () => {
  const metrics = new Metrics();
  let [isBroken, total] = [true, 5];
  const read = <T>(value: T) => {
    if (isBroken) throw new Error('the secret of the figure');
    return value;
  };
  metrics.gauge('x_figure', 'A figure', () => read(1));
  metrics.gauges('x_age', 'Age', 'source', async () => read([['nvd', 3]]));
  metrics.total('x_total', 'All', () => total);
  metrics.counter('x_ends_total', 'Ends', 'outcome')('done', 2);
  metrics.durations('x_seconds', 'Time', { label: 'outcome', buckets: [1, 2] })('done', 1_500);
  const served = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${served.port}/metrics`;
  const published = async () => fetch(url).then(async (response) => `${response.status}\n${await response.text()}`);
  const broken = await published();
  assert.match(broken, /^200\n[\s\S]*^process_cpu_seconds_total /m);
  const readable = ['x_total 5', 'x_ends_total{outcome="done"} 2', 'x_seconds_bucket{le="2",outcome="done"} 1'];
  for (const line of [...readable, 'strata_ready 1']) assert.ok(broken.includes(`\n${line}\n`), line);
  assert.doesNotMatch(broken, /^x_figure|^x_age\{|secret/m);
  [isBroken, total] = [false, 7];
  assert.match(await published(), /^200\n(?=.*^x_figure 1$)(?=.*^x_age\{source="nvd"\} 3$).*^x_total 7$/ms);
  await served[Symbol.asyncDispose]();
  await assert.rejects(fetch(url));
});

it('readiness begins with the start and ends for good with the stop', async () => {
  const readiness = new Readiness();
  assert.deepEqual(await readiness.ready(), { status: 503, body: { status: 'starting' } });
  readiness.started();
  assert.deepEqual(await readiness.ready(), { status: 200, body: { status: 'ready' } });
  readiness.stopping();
  readiness.started();
  assert.deepEqual(await readiness.ready(), { status: 503, body: { status: 'stopping' } });
  assert.equal(readiness.health().status, 200);
});

it('readiness ends while a check fails or hangs, and publishes only public causes', async () => {
  let check: () => Promise<unknown> = async () => {};
  const database = () => check();
  const readiness = new Readiness({ database }, { checkMs: 10, keepMs: 0 });
  readiness.report(() => ({ role: 'scanner' }));
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

it('readiness runs its checks once for many requests', async () => {
  let asked = 0;
  const database = async () => asked++;
  const readiness = new Readiness({ database }, { keepMs: 60_000 });
  readiness.started();
  await Promise.all(Array.from({ length: 50 }, () => readiness.ready()));
  await readiness.ready();
  assert.equal(asked, 1);
});

type Logger = ReturnType<typeof createLogger>;

function logged(write: (logger: Logger) => void, level = 'info'): string {
  const lines: string[] = [];
  write(createLogger({ level }, { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

it('logs one JSON object a line, with an ISO time, and nothing below its level', () => {
  const text = logged((logger) => {
    logger.debug('hidden');
    logger.info({ port: 1 }, 'ready');
  });
  const line = JSON.parse(text);
  assert.deepEqual([line.port, line.msg], [1, 'ready']);
  assert.match(line.time, /^\d{4}-\d\d-\d\dT.*Z$/);
});

it('shows no header that is a secret', () => {
  const hidden = { 'x-stack-key': 'other-0123', authorization: 'Bearer 0123', cookie: 'a=0123' };
  const headers = { ...hidden, 'set-cookie': 'a=0123', host: 'shown' };
  const values = [headers, { headers }, { req: { headers } }, { request: { headers } }, { key: 'ssk_0123' }];
  for (const value of values) {
    const text = logged((logger) => logger.info(value, 'request'));
    assert.ok(text.includes('[secret]') && !text.includes('0123'), text);
  }
  const text = logged((logger) => logger.info({ headers }, 'x'));
  assert.match(text, /"host":"shown"/);
});

it('shows no API key in messages, errors, URLs or deep values, and stays JSON', () => {
  const secret = 'ssk_AbC-12_x9';
  for (const write of [
    (logger) => logger.info(`key ${secret} was used`),
    (logger) => logger.error({ err: new Error('wrap', { cause: new Error(`for "${secret}"`) }) }, 'failed'),
    (logger) => logger.warn({ path: `/x?key=${secret}` }, 'path'),
    (logger) => logger.info({ a: { b: { c: [{ d: secret }] } } }, 'deep'),
    (logger) => logger.child({ of: secret }).info('child'),
  ] as ((logger: Logger) => void)[]) {
    const text = logged(write);
    assert.ok(!text.includes('AbC-12_x9') && text.includes('[secret]'), text);
    JSON.parse(text);
  }
});

it('escapes characters that a terminal or an editor would interpret, on one line, so that the text can be read back', () => {
  const marks = [0x61c, 0x200e, 0x2028, 0x2029, 0x202e, 0x2066, 0x2069];
  const codes = [...Array.from({ length: 0xa0 }, (_, code) => code), ...marks];
  const controls = String.fromCharCode(...codes.filter((code) => code < 0x20 || code > 0x7e));
  const evil = `a${controls}\x1b[2J\x9b31m\r\n{"level":60,"msg":"forged"}`;
  const cases: readonly [write: (logger: Logger) => void, read: (line: Record<string, unknown>) => unknown][] = [
    [(logger) => logger.info(evil), ({ msg }) => msg],
    [(logger) => logger.info({ path: evil }, 'path'), ({ path }) => path],
    [(logger) => logger.info({ [evil]: 1 }, 'name'), (line) => Object.keys(line).find((name) => name.startsWith('a'))],
    [(logger) => logger.info({ deep: [evil] }, 'deep'), ({ deep }) => (deep as string[])[0]],
    [(logger) => logger.error({ err: new Error(evil) }, 'failed'), ({ err }) => (err as Error).message],
    [(logger) => logger.child({ of: evil }).info('child'), ({ of }) => of],
  ];
  for (const [write, read] of cases) {
    const text = logged(write);
    assert.match(text, /^[^\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+\n$/u);
    assert.equal(read(JSON.parse(text)), evil);
  }
});

it('logs an error of a kind at most every ten seconds, with the count in between', () => {
  let now = 5;
  const text = logged((logger) => {
    const throttled = new ThrottledLog(logger, () => now);
    for (const [kind, ms] of [['a'], ['a'], ['b'], [undefined], ['a', 9_999], ['a', 1], ['b'], ['a']] as const) {
      now += ms ?? 0;
      throttled.of(typeof kind === 'string' ? new Error(kind) : kind)?.info(`${kind}`);
    }
  });
  const lines = text.trim().split('\n');
  const counted = lines.map((line) => `${JSON.parse(line).msg} ${JSON.parse(line).unreported ?? 0}`);
  assert.equal(counted.join(), 'a 0,b 0,undefined 0,a 2,b 0');
});
