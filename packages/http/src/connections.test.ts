// Bounds on connections and streams, on real sockets of several addresses of this machine.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { z } from 'zod';
import { createLogger, type HttpServer, type HttpServerParts, Metrics, type Route, route } from './index.ts';
import { serverOf, until } from './test/test-server.ts';

const json = { kind: 'json', schema: z.object({}), description: 'Nothing.' } as const;
const events = { kind: 'events', description: 'Events.', events: [] } as const;
const contract = {
  method: 'GET',
  tag: 'Things',
  summary: 'A thing',
  errors: [],
  access: 'open',
  output: json,
} as const;
const answers = new EventEmitter();
const routes: readonly Route<object>[] = [
  route({ ...contract, path: '/health' }, (_app: object) => ({})),
  route({ ...contract, path: '/thing' }, (_app: object) => ({})),
  route({ ...contract, path: '/slow' }, async (_app: object) => (await once(answers, 'go'))[0]),
  route({ ...contract, path: '/stream', access: 'key', output: events }, (_app: object) => () => {}),
];
const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

describe('bounds', { timeout: 120_000 }, () => {
  let server: HttpServer | undefined;
  let metrics = new Metrics();
  let counted = 0;
  const log: string[] = [];
  const clients: Client[] = [];
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    answers.emit('go', {});
    await server?.[Symbol.asyncDispose]();
  });
  type Client = Awaited<ReturnType<typeof open>>;

  async function serve(options: Partial<HttpServerParts<object>>): Promise<number> {
    metrics = new Metrics();
    log.length = 0;
    counted = 0;
    const logger = createLogger({ level: 'info' }, { write: (line: string) => void log.push(line) });
    const find = async (id: string) => ({
      id,
      tier: id.split('-')[0] ?? '',
      dailyLimit: id.startsWith('free') ? 50 : null,
    });
    const take = async () => {
      counted += 1;
      return { isAllowed: true, used: counted };
    };
    server = serverOf(routes, { logger, metrics, keys: { find, take }, ...options });
    return server.listen({ host: '127.0.0.1', port: 0 });
  }

  /** A connection from an address, and what came over it. */
  async function open(port: number, localAddress: string, sent = '') {
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress });
    let text = '';
    socket.on('error', () => {}).setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    const client = { socket, text: () => text, status: () => /^HTTP\/1.1 (\d+)/.exec(text)?.[1] };
    clients.push(client);
    await once(socket, 'connect');
    if (sent !== '') socket.write(sent);
    return client;
  }
  const openMany = async (port: number, address: string, { count, sent = '' }: { count: number; sent?: string }) => {
    const opened: Client[] = [];
    for (let i = 0; i < count; i += 1) opened.push(await open(port, address, sent));
    return opened;
  };
  const statusOf = async (port: number, path: string, { from = '127.0.0.9', headers = '' } = {}) => {
    const client = await open(port, from, request(path, `${headers}connection: close\r\n`));
    await once(client.socket, 'close');
    return client.status();
  };
  const figure = async (line: string) =>
    Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(await metrics.registry.metrics())?.[1] ?? 0);
  const connections = async () => [
    await figure('strata_connections{state="idle"}'),
    await figure('strata_connections{state="busy"}'),
  ];

  it('of one address close its longest idle connection for a new one, and leave those of others alone', async () => {
    const port = await serve({
      bounds: { connections: 20, connectionsPerAddress: 5 },
      trustedProxies: ['127.0.0.3/32'],
    });
    const [other] = await openMany(port, '127.0.0.2', { count: 1 });
    const [used, ...idle] = await openMany(port, '127.0.0.1', { count: 12, sent: request('/thing') });
    await until(async () => (await connections()).join() === '6,0', 'five of the one are left, and the other');
    assert.deepEqual([used?.socket.closed, idle.at(-1)?.socket.closed, other?.socket.closed], [true, false, false]);
    assert.equal(await statusOf(port, '/thing', { from: '127.0.0.1' }), '200');
    await openMany(port, '127.0.0.3', { count: 10 });
    await until(async () => (await connections()).join() === '15,0', 'a trusted proxy has no such bound');
    assert.equal(await figure('strata_bounds_met_total{bound="connections-per-address"}'), 8);
    const [line, ...more] = log.map((text) => JSON.parse(text) as object);
    assert.partialDeepStrictEqual(line, { bound: 'connections-per-address', address: '127.0.0.1', max: 5 });
    assert.deepEqual(more, [], 'one line for many');
  });

  it('of one address refuse a new connection while all have a request under way', async () => {
    const port = await serve({ bounds: { connections: 20, connectionsPerAddress: 2 } });
    await openMany(port, '127.0.0.1', { count: 2, sent: request('/slow') });
    await until(async () => (await connections()).join() === '0,2', 'both are busy');
    const refused = await open(port, '127.0.0.1');
    await once(refused.socket, 'close');
    assert.deepEqual([refused.status(), await statusOf(port, '/thing')], ['503', '200']);
  });

  it('of all keep room for probes, and close idle connections first', async () => {
    const port = await serve({ bounds: { connections: 3, connectionsPerAddress: 100 } });
    const busy = await openMany(port, '127.0.0.1', { count: 3, sent: request('/slow') });
    await until(async () => (await connections()).join() === '0,3', 'as many are busy as may be');
    const [first, ...flood] = await openMany(port, '127.0.0.6', { count: 40 });
    await until(async () => (await connections()).join() === '32,3', 'the reserve is full of idle ones');
    assert.deepEqual([first?.socket.closed, flood.at(-1)?.socket.closed], [true, false]);
    const statuses = [];
    for (const path of ['/thing', '/slow?/health', '/health', '/health?x']) statuses.push(await statusOf(port, path));
    assert.deepEqual(statuses, ['503', '503', '200', '200']);
    answers.emit('go', {});
    await until(() => busy.every((each) => each.status() === '200'), 'requests under way are answered');
    assert.equal(await statusOf(port, '/thing'), '200');
    assert.ok(log.some((text) => text.includes('"bound":"connections"')));
  });

  const streamOf = (key: string, client = '203.0.113.1') =>
    request('/stream', `x-stack-key: ${key}\r\nx-forwarded-for: ${client}\r\n`);

  it('of streams hold for a key, for the free keys of an address and for all free keys, and are counted by no quota', async () => {
    const perAddress = { freeStreamsPerKey: 3, freeStreamsPerAddress: 5, streamsPerKey: 4 };
    const port = await serve({ bounds: { connections: 40, ...perAddress }, trustedProxies: ['127.0.0.1'] });
    const tried = async (key: string, count: number, client?: string) => {
      const opened = await openMany(port, '127.0.0.1', { count, sent: streamOf(key, client) });
      await until(() => opened.every((each) => each.status() !== undefined), 'each has an answer');
      return opened
        .map((each) => each.status())
        .sort()
        .join(' ');
    };
    assert.equal(await tried('free-1', 4), '200 200 200 429');
    assert.equal(await tried('free-2', 4), '200 200 429 429', 'five at the address');
    assert.equal(counted, 5, 'a refused stream is not counted');
    assert.equal(await tried('free-3', 3, '203.0.113.2'), '200 200 200');
    assert.equal(await tried('free-4', 3, '2001:db8:0:1::1'), '200 200 503', 'a quarter is for free keys');
    assert.equal(await tried('standard-1', 6), '200 200 200 200 429 429');
    assert.equal(await tried('unlimited-1', 9), Array(9).fill('200').join(' '), 'beside those of free keys');
    assert.equal(await figure('strata_open_streams'), 23);
    for (const bound of ['key', 'address', 'tier'])
      assert.ok((await figure(`strata_bounds_met_total{bound="streams-per-${bound}"}`)) > 0, bound);
    clients[0]?.socket.destroy();
    await until(async () => (await figure('strata_open_streams')) === 22, 'one has left');
    assert.equal(await tried('free-1', 1), '200');
  });
});
