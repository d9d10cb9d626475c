// Limits of connections and streams, on real sockets of several addresses of this machine.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { createLogger, type HttpServer, Metrics, type Route, route, type SignedServerDeps } from '../index.ts';
import { StreamLimits } from '../streams/stream-limits.ts';
import { connectionsOf, nothing, plain, plainBytes, rawClient, serverOf, until } from '../test/test-server.ts';
import { DEFAULT_LIMITS } from './connection-settings.ts';
import { Connections } from './connections.ts';

const events = { kind: 'events', description: 'Events.', events: [] } as const;
const contract = { ...plain, output: nothing } as const;
const answers = new EventEmitter();
const routes: readonly Route<object>[] = [
  route({ ...contract, path: '/health' }, (_app: object) => ({})),
  route({ ...contract, path: '/thing' }, (_app: object) => ({})),
  route({ ...contract, path: '/slow' }, async (_app: object) => (await once(answers, 'go'))[0]),
  route({ ...contract, path: '/stream', access: 'key', output: events }, (_app: object) => () => {}),
];
const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

/** The number that opened of `count`, each from another /64. */
const opened = (open: (address: string) => boolean, count: number, subnet: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => open(`2001:db8:0:${subnet(i).toString(16)}::1`)).filter(Boolean).length;

it('limits of IPv6 networks hold for connections of a /56 and of a /48, and leave a quarter of all for other networks', () => {
  for (const [connectionsPerAddress, ofSubnet, ofNetwork] of [[2, 8, 32] as const, [40, 96, 96] as const]) {
    const server = new EventEmitter();
    const sockets: EventEmitter[] = [];
    new Connections(server as Server, { limits: { connections: 128, connectionsPerAddress } });
    const open = (remoteAddress: string) => {
      let isOpen = true;
      const destroySoon = () => {
        isOpen = false;
      };
      const socket = Object.assign(new EventEmitter(), { remoteAddress, write() {}, destroySoon });
      sockets.push(socket);
      server.emit('connection', socket);
      server.emit('request', { socket }, new EventEmitter());
      return isOpen;
    };
    const first = opened(open, 120, (i) => i % 256);
    const further = opened(open, 120, (i) => 256 * (1 + i));
    assert.deepEqual([first, further, open('192.0.2.1')], [ofSubnet, ofNetwork - ofSubnet, true]);
    for (const socket of sockets) socket.emit('close');
  }
});

it('limits of IPv6 networks hold for streams of free keys', () => {
  const limits = new StreamLimits({ limits: DEFAULT_LIMITS, connections: 20_000, report: () => {} });
  const open = (address: string) => {
    const caller = { key: { id: address, tier: 'free' }, address };
    return limits.reachedLimit(caller) === undefined && limits.take(caller) !== undefined;
  };
  const first = opened(open, 200, (i) => i % 256);
  const further = opened(open, 255, (i) => 256 * (1 + i));
  assert.deepEqual([first, further, open('2001:db8:1::1')], [80, 240, true]);
});

describe('limits', { timeout: 120_000 }, () => {
  let server: HttpServer | undefined;
  let metrics = new Metrics();
  let [port, counted] = [0, 0];
  const log: string[] = [];
  const clients: { destroy(): void }[] = [];
  afterEach(async () => {
    for (const socket of clients.splice(0)) socket.destroy();
    answers.emit('go', {});
    await server?.[Symbol.asyncDispose]();
  });

  async function serve(limits: SignedServerDeps<object>['limits'], ...trustedProxies: string[]): Promise<void> {
    metrics = new Metrics();
    log.length = counted = 0;
    const logger = createLogger({ level: 'info' }, { write: (line: string) => void log.push(line) });
    const find = async (id: string) => ({ id, tier: id.split('-')[0] ?? '', dailyLimit: 50 });
    const gate = { take: async () => ({ isAllowed: true, used: ++counted }), revision: () => 0 };
    const keys = { find, ...gate, used: async () => counted, stillValid: async () => new Set<string>() };
    server = serverOf(routes, { logger, metrics, limits: limits ?? {}, trustedProxies, keys });
    port = await server.listen({ host: '127.0.0.1', port: 0 });
  }

  /** Connections from an address, one after the other, and what came over each. */
  const open = (localAddress: string, count: number, sent = '') =>
    Array.fromAsync({ length: count }, async () => {
      const { socket, text } = await rawClient({ port, localAddress }, sent);
      clients.push(socket);
      return { socket, status: () => /^HTTP\/1.1 (\d+)/.exec(text())?.[1] };
    });
  async function statusOf(path: string, from = '127.0.0.9') {
    const [client] = await open(from, 1, request(path, 'connection: close\r\n'));
    await until(() => client?.socket.closed === true, 'the connection is closed');
    return client?.status();
  }
  const figure = async (line: string) =>
    Number(new RegExp(`^strata_${line} (\\d+)$`, 'm').exec(await metrics.registry.metrics())?.[1] ?? 0);
  const isOpen = async (idle: number, busy: number) =>
    (await figure('connections{state="idle"}')) === idle && (await figure('connections{state="busy"}')) === busy;

  it('of an address close its longest idle connection for a new one, or the new one while all are busy', async () => {
    await serve({ connections: 20, connectionsPerAddress: 5 }, '127.0.0.3/32');
    const [other] = await open('127.0.0.2', 1);
    const [first, ...more] = await open('127.0.0.1', 12, request('/thing'));
    await until(() => isOpen(6, 0), 'five of the one are left, and the other');
    const areClosed = [first, more.at(-1), other].map((each) => each?.socket.closed);
    assert.deepEqual(areClosed, [true, false, false]);
    await open('127.0.0.3', 10);
    await until(() => isOpen(16, 0), 'a trusted proxy has no such bound');
    await open('127.0.0.1', 5, request('/slow'));
    await until(() => isOpen(11, 5), 'all of the address are busy');
    assert.deepEqual([await statusOf('/thing', '127.0.0.1'), await statusOf('/thing')], ['503', '200']);
    assert.equal(await figure('bounds_met_total{bound="connections-per-address"}'), 13);
    const logged = { bound: 'connections-per-address', address: '127.0.0.1', max: 5 };
    assert.partialDeepStrictEqual(JSON.parse(log[0] ?? ''), logged);
    assert.ok(log.length < 13, 'one line for many');
  });

  it('in total reserve capacity for probes, and close idle connections first', async () => {
    await serve({ connections: 3, connectionsPerAddress: 100 });
    const busy = await open('127.0.0.1', 3, request('/slow'));
    await until(() => isOpen(0, 3), 'as many are busy as may be');
    const idle = await open('127.0.0.6', 40);
    await until(() => isOpen(32, 3), 'the reserve is full of idle ones');
    assert.deepEqual([idle[0]?.socket.closed, idle.at(-1)?.socket.closed], [true, false]);
    const statuses = [];
    for (const path of ['/thing', '/slow?/health', '/health', '/health?x']) statuses.push(await statusOf(path));
    assert.deepEqual(statuses, ['503', '503', '200', '400']);
    answers.emit('go', {});
    await until(() => busy.every((each) => each.status() === '200'), 'requests in progress are answered');
    assert.equal(await statusOf('/thing'), '200');
    assert.ok(log.some((text) => text.includes('"bound":"connections"')));
  });

  // A quarter of all is for free keys.
  it('of streams hold for a key, the free keys of an address and all free keys; no refusal is counted', async () => {
    const perKey = { freeStreamsPerKey: 3, freeStreamsPerAddress: 5, streamsPerKey: 4 };
    await serve({ connections: 40, ...perKey }, '127.0.0.1');
    const keys = casesOf<[string, string, number, string][]>('http', 'streams of keys');
    for (const [key, client, count, expected] of keys) {
      const headers = `x-stack-key: ${key}\r\nx-forwarded-for: ${client}\r\n`;
      const opened = await open('127.0.0.1', count, request('/stream', headers));
      await until(() => opened.every((each) => each.status() !== undefined), 'each has an answer');
      const statuses = opened.map((each) => each.status()).sort();
      assert.equal(statuses.join(' '), expected, key);
    }
    assert.deepEqual([await figure('open_streams'), counted], [23, 23]);
    for (const bound of ['key', 'address', 'tier'])
      assert.ok((await figure(`bounds_met_total{bound="streams-per-${bound}"}`)) > 0, bound);
    for (const socket of clients.splice(0)) socket.destroy();
    await until(async () => (await figure('open_streams')) === 0, 'all have left');
    const [again] = await open('127.0.0.1', 1, request('/stream', 'x-stack-key: free-1\r\n'));
    await until(() => again?.status() === '200', 'a stream is accepted again');
  });
});

/** More than the system buffers for a client that does not read. */
const LARGE = Buffer.alloc(8 * 1024 * 1024, 'x');
let begun = 0;
const large = route({ ...plainBytes, path: '/large' }, (_app: object) => {
  begun += 1;
  return { bytes: LARGE };
});
const make = route({ ...plainBytes, method: 'POST', path: '/make' }, (_app: object) => ({ bytes: 'made' }));

it('a client that sends many requests on one connection is disconnected where it reads no response, and few of its requests are started', async () => {
  const timeouts = { headersMs: 300, requestMs: 600, idleMs: 60_000, checkMs: 50 };
  await using http = serverOf([large], { timeouts });
  const socket = connect(await http.listen({ host: '127.0.0.1', port: 0 }), '127.0.0.1');
  socket.pause().on('error', () => {});
  begun = 0;
  socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5_000));
  await until(async () => begun > 0 && (await connectionsOf(http)) === 0, 'it was cut');
  assert.ok(begun <= 17, `${begun} were begun`);
  socket.destroy();
});

it('a client that sends many requests on one connection receives all answers in order where it sends a few at once, and more when it has read them', async () => {
  await using http = serverOf([make]);
  const { socket, text } = await rawClient({ port: await http.listen({ host: '127.0.0.1', port: 0 }) }, '');
  for (let round = 1; round <= 5; round += 1) {
    socket.write('POST /make HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'.repeat(16));
    await until(() => text().match(/\r\n\r\nmade/g)?.length === round * 16, `round ${round} was answered`);
  }
  socket.destroy();
});
