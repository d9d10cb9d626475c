// Concurrent fetches: kept-alive connections, slots, and the state after aborts.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { stopTime, until } from '../../../../../tests/support/index.ts';
import { a } from '../../test/dns-server.ts';
import { failureOf, PUBLIC, startInternet, textOf } from '../../test/fetching.ts';
import { hello, type WebScript } from '../../test/web-server.ts';

it('connections are kept for the next fetch, over HTTPS and HTTP', async () => {
  await using internet = await startInternet(hello);
  for (let i = 0; i < 10; i++)
    assert.equal(textOf(await internet.fetch(`http${i % 2 ? 's' : ''}://example.com/${i}`)), 'hello');
  assert.equal(internet.web.connections(), 2);
});

it('connections that the server closed are all replaced', async () => {
  let answered = 0;
  await using internet = await startInternet((request, response) => {
    // The first two answers leave connections behind that close at the next request.
    if (answered++ < 2) return void setTimeout(() => response.end('first'), 50);
    if (internet.web.connections() <= 2) request.socket.destroy();
    else response.end('again');
  });
  await Promise.all([1, 2].map((i) => internet.fetch(`http://example.com/${i}`)));
  assert.equal(internet.web.connections(), 2);
  assert.equal(textOf(await internet.fetch('http://example.com/3')), 'again');
  assert.equal(internet.web.connections(), 3);
});

it('connections that are idle are at most a quarter of all, over all hosts', async () => {
  const hosts = Array.from({ length: 12 }, (_, i) => `host${i}.example.com`);
  const records = hosts.map((host) => a(host, PUBLIC));
  await using internet = await startInternet(hello, { records, fetcher: { maxSockets: 16 } });
  for (const host of hosts) assert.equal(textOf(await internet.fetch(`https://${host}/`)), 'hello');
  assert.equal(internet.web.connections(), 12);
  await until(() => internet.web.open() === 4);
});

it('connections that are idle for too long are closed', async () => {
  await using internet = await startInternet(hello, { fetcher: { idleMs: 50 } });
  for (const scheme of ['http', 'https']) {
    assert.equal(textOf(await internet.fetch(`${scheme}://example.com/`)), 'hello');
    await until(() => internet.web.open() === 0);
  }
});

it('connections that break under their first request are a failure', async () => {
  await using internet = await startInternet((request) => request.socket.destroy());
  assert.equal(failureOf(await internet.fetch('http://example.com/')), 'failed');
  assert.equal(internet.web.asked.length, 1);
});

it('connections stay few over 600 fetches from 50 hosts, and all are closed', async () => {
  const hosts = Array.from({ length: 50 }, (_, i) => `host${i}.test`);
  const open = new Set<unknown>();
  let max = 0;
  const answer: WebScript = ({ url, socket }, response) => {
    if (!open.has(socket)) socket.once('close', () => open.delete(socket));
    max = Math.max(max, open.add(socket).size);
    if (url?.endsWith('7')) response.writeHead(302, { location: '/moved' });
    response.end('x'.repeat(2_000));
  };
  const records = hosts.map((host, i) => a(host, `93.184.217.${i}`));
  await using internet = await startInternet(answer, { records, fetcher: { maxSockets: 24 } });
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  const { signal } = new AbortController();
  const fetches = Array.from({ length: 600 }, (_, i) => internet.fetch(`http://${hosts[i % 50]}/${i}`, { signal }));
  for (const fetched of await Promise.all(fetches)) assert.equal(textOf(fetched).length, 2_000);
  assert.ok(max > 4 && max <= 24, `${max} connections at once`);
  await internet.fetcher[Symbol.asyncDispose]();
  await until(() => internet.web.open() === 0);
  process.off('warning', warned);
  assert.deepEqual(warnings, []);
});

it('requests to one host run perHost at a time; another host does not wait, and waiting counts towards no time-out', async (t) => {
  const held: ServerResponse[] = [];
  const running = { count: 0, max: 0 };
  const script: WebScript = ({ headers }, response) => {
    if (headers.host === 'other.test') return void response.end('done');
    running.max = Math.max(running.max, ++running.count);
    response.on('close', () => running.count--);
    if (held.length < 3) held.push(response);
    else response.end('done');
  };
  await using internet = await startInternet(script, { fetcher: { perHost: 3 } });
  const fetched = (url: string, timeoutMs: number) => internet.fetch(url, { timeoutMs });
  const pass = stopTime(t);
  const first = [1, 2, 3].map(() => fetched('http://example.com/', 60_000));
  await until(() => held.length === 3);
  const waiting = Array.from({ length: 6 }, () => fetched('http://example.com/', 1_000));
  assert.equal(textOf(await fetched('http://other.test/', 30_000)), 'done');
  pass(1_100);
  for (const response of held) response.end('done');
  for (const each of await Promise.all([...first, ...waiting])) assert.equal(textOf(each), 'done');
  assert.equal(running.max, 3);
});

const aborted = { kind: 'failed', reason: 'aborted', detail: 'aborted by the caller', redirects: [] };

it('giving up works before the start, in line, in a look-up, before an answer and in a body, and leaves no slot taken', async () => {
  let held = 0;
  const script: WebScript = (request, response) => {
    held += 1;
    if (request.url === '/body') response.write('begun');
    if (request.url === '/quick') response.end('hello');
  };
  const fetcher = { perHost: 1, allowAddresses: ['10.0.0.0/8'] };
  await using internet = await startInternet(script, { dnsScript: () => [], fetcher });
  const [first, second] = [new AbortController(), new AbortController()];
  const fetched = (host: string, { signal }: { signal: AbortSignal }) => internet.fetch(`http://${host}`, { signal });
  assert.deepEqual(await fetched('10.0.0.1/', { signal: AbortSignal.abort() }), aborted);
  const holding = fetched('10.0.0.1/silent', first);
  const pending = ['10.0.0.1/never', 'example.com/', '10.0.0.2/body'].map((host) => fetched(host, second));
  await until(() => held === 2);
  second.abort();
  assert.deepEqual(await Promise.all(pending), [aborted, aborted, aborted]);
  first.abort();
  assert.deepEqual(await holding, aborted);
  for (const host of ['10.0.0.1', '10.0.0.2'])
    assert.equal(textOf(await internet.fetch(`http://${host}/quick`)), 'hello');
  assert.equal(internet.web.asked.includes('http 10.0.0.1 /never'), false);
});

it('giving up is done for all by disposing the fetcher, which then asks nothing', async () => {
  await using internet = await startInternet(() => {});
  const pending = [1, 2, 3, 4].map((i) => internet.fetch(`https://example.com/${i}`));
  await until(() => internet.web.connections() === 2);
  await internet.fetcher[Symbol.asyncDispose]();
  for (const fetched of await Promise.all(pending)) assert.deepEqual(fetched, aborted);
  assert.deepEqual(await internet.fetch('https://example.com/late'), aborted);
});

it('giving up on a silent server, a silent resolver, or a chain of slow redirects happens in time', async () => {
  await using internet = await startInternet(({ url }, response) => {
    if (url === '/silent') return;
    setTimeout(() => response.writeHead(302, { location: `${url}x` }).end(), 100);
  });
  await using mute = await startInternet(hello, { dnsScript: () => [] });
  const late = await Promise.all([
    internet.fetch('http://example.com/silent', { timeoutMs: 250 }),
    internet.fetch('http://other.test/slow', { timeoutMs: 250 }),
    mute.fetch('http://example.com/', { timeoutMs: 250 }),
  ]);
  assert.deepEqual(late.map(failureOf), ['timeout', 'timeout', 'timeout']);
});

it('giving up on a port where nothing listens is at once', async () => {
  await using internet = await startInternet(hello, { only: 'https' });
  assert.equal(failureOf(await internet.fetch('http://example.com/')), 'refused');
});
