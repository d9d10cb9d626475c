// Following the stream of servers that disconnect, stall, refuse or send invalid data.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { type CheckLedgerOptions, StackClient, StackProblem, type StreamState } from '../index.ts';
import { type Answering, type HttpServer, rejectionOf, STREAM, sends, startHttpServer } from '../test/http-server.ts';
import { type FollowDeps, followEvents } from './stack-events.ts';

const eventText = (id: number) => `id: ${id}\nevent: migration\ndata: {"type":"migration","id":"ev_${id}"}\n\n`;

/** Starts a stream on each request and continues it with the next of these functions; the last one continues all further streams. */
const streaming =
  (...streams: ((response: ServerResponse) => unknown)[]): Answering =>
  (_request, response, count) => {
    response.writeHead(200, STREAM).write('retry: 1\n\n');
    streams[Math.min(count, streams.length) - 1]?.(response);
  };
const streams = (...texts: string[]) => streaming((response) => response.write(texts.join('')));

/** Follows until `count` events have arrived. Returns the requests and reports until then. */
async function follow(server: HttpServer, count: number, options: Partial<CheckLedgerOptions & FollowDeps> = {}) {
  const states: StreamState[] = [];
  const eventIds: string[] = [];
  const ids: string[] = [];
  const events = followEvents(new URL('/stack/v1/stream', server.baseUrl), {
    fetch: globalThis.fetch,
    headers: () => ({}),
    ...options,
    onState: (state) => states.push(state),
    onEventId: (id) => eventIds.push(id),
  });
  for await (const { id } of events) if (ids.push(id) === count) break;
  return { ids, eventIds, asked: server.requests.map(({ headers }) => headers['last-event-id']), states };
}

it('a follower of events resumes after the last complete event when one is cut in the middle', async () => {
  const cut = (response: ServerResponse) => {
    response.write(eventText(1) + eventText(2).slice(0, -1));
    setTimeout(() => response.socket?.destroy(), 20);
  };
  const rest = (response: ServerResponse) => response.write(eventText(2) + eventText(3));
  await using server = await startHttpServer(streaming(cut, rest));
  const { states, ...found } = await follow(server, 3);
  assert.deepEqual(found, { ids: ['ev_1', 'ev_2', 'ev_3'], eventIds: ['1', '2'], asked: [undefined, '1'] });
  assert.equal(states.map(({ kind }) => kind).join(' '), 'connecting open waiting connecting open');
});

it('a follower of events resumes at the start position when the connection breaks before the first event', async () => {
  const joined = (response: ServerResponse) => response.end('id: 41\n\n');
  const events = (response: ServerResponse) => response.write(eventText(42) + eventText(43));
  await using server = await startHttpServer(streaming(joined, events));
  const { states: _, ...found } = await follow(server, 2);
  assert.deepEqual(found, { ids: ['ev_42', 'ev_43'], eventIds: ['41', '42'], asked: [undefined, '41'] });
});

it('a follower of events reports a position only after the loop has processed the event, so that a failing loop loses none', async () => {
  await using server = await startHttpServer((request, response, count) => {
    const from = Number(request.headers['last-event-id'] ?? 0);
    streams(...[1, 2, 3].map((step) => eventText(from + step)))(request, response, count);
  });
  const client = new StackClient(server);
  const handled: string[] = [];
  const kept: string[] = [];
  const onEventId = (id: string) => kept.push(id);
  const run = async (diesAt: string) => {
    for await (const { id } of client.events({}, { lastEventId: kept.at(-1), onEventId })) {
      if (id === diesAt) throw new Error(`died at ${id}`);
      handled.push(id);
    }
  };
  await assert.rejects(run('ev_2'), /died at ev_2/);
  assert.deepEqual(kept, ['1']);
  await assert.rejects(run('ev_4'), /died at ev_4/);
  assert.deepEqual([handled, kept.at(-1)], [['ev_1', 'ev_2', 'ev_3'], '3']);
});

it('a follower of events does not retry after an error of the caller', async () => {
  await using server = await startHttpServer(streams(eventText(1), eventText(2)));
  const client = new StackClient(server);
  const oops = () => {
    throw new TypeError('oops');
  };
  const faults: [() => ReturnType<typeof client.events>, RegExp][] = [
    [() => client.events({}, { lastEventId: 'ключ' }), /./],
    [() => client.events({}, { signal: {} as AbortSignal }), /./],
    [() => client.events({}, { onEventId: oops }), /oops/],
    [() => client.events({}, { onState: oops }), /oops/],
    [() => new StackClient({ ...server, key: oops }).events(), /oops/],
  ];
  for (const [begin, message] of faults) {
    const before = server.requests.length;
    await assert.rejects(Array.fromAsync(begin()), { name: 'TypeError', message });
    assert.ok(server.requests.length <= before + 1, `${server.requests.length - before} requests`);
  }
  const thrown = client.events();
  await thrown.next();
  await assert.rejects(thrown.throw(new TypeError('given up')), /given up/);
  await assert.rejects(async () => {
    for await (const _event of client.events()) throw new TypeError('of the loop');
  }, /of the loop/);
});

it('a follower of events closes an idle connection, and keeps one with heartbeats', async () => {
  // Heartbeats for longer than the idle timeout, then an event.
  const withHeartbeats = (response: ServerResponse) => {
    let count = 0;
    const timer = setInterval(() => response.write(count++ < 24 ? ':\n\n' : eventText(1)), 25);
    response.on('close', () => clearInterval(timer));
  };
  await using server = await startHttpServer(streaming(() => {}, withHeartbeats));
  const { ids, asked, states } = await follow(server, 1, { silentMs: 500 });
  assert.deepEqual([ids, asked.length], [['ev_1'], 2]);
  assert.match(states.find((state) => state.kind === 'waiting')?.reason ?? '', /no data received for 0\.5 s/);
});

for (const [retry, min] of Object.entries({ '0': 125, '99999999999999999999': 30_000, soon: 1_500 }))
  it(`a follower of events bounds the delay when a server requests a retry after ${retry}`, async () => {
    const stop = new AbortController();
    await using server = await startHttpServer(sends(`retry: ${retry}\n\n`, 200, STREAM));
    const onState = (state: StreamState) => state.kind === 'waiting' && stop.abort(state.retryInMs);
    const events = new StackClient(server).events({}, { signal: stop.signal, onState });
    const pause = await events.next().catch((reason: unknown) => Number(reason));
    assert.ok(typeof pause === 'number' && pause >= min && pause <= 2 * min, String(pause));
  });

it('a follower of events increases the delay after each consecutive failure, and resets it after an event', async () => {
  await using server = await startHttpServer((_request, response, count) => {
    if (count === 1) return response.writeHead(200, STREAM).end('retry: 1\n\n');
    if (count === 2) return response.writeHead(503).end();
    if (count === 3) return response.socket?.destroy();
    return response.writeHead(200, STREAM).end(eventText(count));
  });
  const { states } = await follow(server, 2, { wait: async () => {} });
  const pauses = states.flatMap((state) => (state.kind === 'waiting' ? [state.retryInMs] : []));
  const [first = 0, second = 0, third = 0, fourth = 0] = pauses;
  assert.ok(first <= 250 && second >= 250 && second <= 500, pauses.join());
  assert.ok(third >= 500 && third <= 1_000 && fourth <= 250, pauses.join());
});

it('a follower of events throws errors that a retry cannot resolve', async () => {
  const refused = async (answering: Answering) => {
    await using server = await startHttpServer(answering);
    const problem = await rejectionOf(new StackClient(server).events().next(), StackProblem);
    assert.equal(server.requests.length, 1);
    return problem;
  };
  for (const [code, status] of Object.entries({ invalid_key: 401, invalid_domain: 400, quota_exceeded: 429 })) {
    const body = JSON.stringify({ status, title: 'No', code, detail: 'No.' });
    const problem = await refused(sends(body, status, { 'retry-after': '3600' }));
    assert.deepEqual([problem.status, problem.code, problem.retryAfterSeconds], [status, code, 3_600]);
  }
  const nonsense = ['nonsense', '[]', '{'].map((data) => streams(`event: anomaly\ndata: ${data}\n\n`));
  for (const odd of [sends('<html>'), ...nonsense]) assert.equal((await refused(odd)).code, 'invalid_answer');
});

it('a follower of events reports resets, drops the refused id, and skips unknown types', async () => {
  const reset = (response: ServerResponse) => response.end('event: reset\ndata: {"reason":"expired"}\n\n');
  const unknown = 'event: weather\ndata: {}\n\nevent: __proto__\ndata: {}\n\n';
  const odd = 'id: 6\nevent: reset\ndata: {"reason":{"toString":1,"valueOf":1}}\n\n';
  const events = (response: ServerResponse) => response.write(unknown + odd + eventText(9));
  await using server = await startHttpServer(streaming(reset, events));
  const { ids, asked, states } = await follow(server, 1, { lastEventId: '5' });
  assert.deepEqual([ids, asked], [['ev_9'], ['5', undefined]]);
  const reasons = states.flatMap((state) => (state.kind === 'reset' ? [state.reason] : []));
  assert.deepEqual(reasons, ['expired', 'events were missed']);
});

it('a follower of events yields and reports nothing after an abort, even if more events have arrived', async () => {
  await using server = await startHttpServer(streams(eventText(1), eventText(2), eventText(3)));
  const stop = new AbortController();
  const done: string[] = [];
  const events = new StackClient(server).events({}, { signal: stop.signal, onEventId: (id) => done.push(id) });
  assert.partialDeepStrictEqual(await events.next(), { value: { id: 'ev_1' } });
  stop.abort(new Error('enough'));
  await assert.rejects(events.next(), /enough/);
  assert.deepEqual(done, ['1']);
});

it('a follower of events stops with the reason while it reads, waits or has not started; leaving the loop closes the connection', async () => {
  let closed = Promise.withResolvers<void>();
  await using server = await startHttpServer((request, response) => {
    request.socket.on('close', () => closed.resolve());
    response.writeHead(200, STREAM).write(eventText(1));
  });
  const client = new StackClient(server);
  const stop = new AbortController();
  const reading = client.events({}, { signal: stop.signal });
  await reading.next();
  const next = reading.next();
  stop.abort(new Error('enough'));
  await assert.rejects(next, /enough/);
  await closed.promise;
  await assert.rejects(client.events({}, { signal: stop.signal }).next(), /enough/);
  closed = Promise.withResolvers();
  for await (const _event of client.events()) break;
  await closed.promise;

  const later = new AbortController();
  await using away = await startHttpServer(sends('', 503));
  const onState = ({ kind }: StreamState) => kind === 'waiting' && setImmediate(() => later.abort(new Error('later')));
  const waiting = new StackClient(away).events({}, { signal: later.signal, onState });
  await assert.rejects(waiting.next(), /later/);
});

it('a follower of events sends the filter', async () => {
  await using server = await startHttpServer(streams(eventText(1)));
  const client = new StackClient({ ...server, key: 'ssk_1' });
  await client.events({ types: ['migration', 'anomaly'], domain: 'a.test', provider: undefined }).next();
  await client.events({ types: [] }).next();
  const urls = server.requests.map(({ url }) => url);
  assert.deepEqual(urls, ['/stack/v1/stream?domain=a.test&types=migration%2Canomaly', '/stack/v1/stream']);
  assert.equal(server.requests[0]?.headers['x-stack-key'], 'ssk_1');
});
