// Following the stream of servers that break off, stand still, refuse or say nonsense.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FollowOptions, StackClient, StackProblem, type StreamState } from './index.ts';
import { type FollowComponents, followEvents } from './stack-events.ts';
import { type Answering, type HttpServer, rejectionOf, startHttpServer } from './test/http-server.ts';

const HEADERS = { 'content-type': 'text/event-stream' };
const RETRY = 'retry: 1\n\n';
const eventText = (id: number) => `id: ${id}\nevent: migration\ndata: {"type":"migration","id":"ev_${id}"}\n\n`;

/** Follows until so many events have come; the states on the way. */
async function follow(server: HttpServer, count: number, options: Partial<FollowOptions & FollowComponents> = {}) {
  const states: StreamState[] = [];
  const eventIds: string[] = [];
  const ids: string[] = [];
  const url = new URL('/stack/v1/stream', server.baseUrl);
  const events = followEvents(url, {
    fetch: globalThis.fetch,
    headers: () => ({}),
    ...options,
    onState: (state) => states.push(state),
    onEventId: (id) => eventIds.push(id),
  });
  for await (const { id } of events) if (ids.push(id) === count) break;
  return { ids, eventIds, states };
}
/** Streams this text on each request. */
const streams =
  (text: string): Answering =>
  (_request, response) =>
    void response.writeHead(200, HEADERS).write(text);
const pausesOf = (states: readonly StreamState[]) =>
  states.flatMap((state) => (state.kind === 'waiting' ? [state.retryInMs] : []));
const askedFrom = ({ requests }: HttpServer) => requests.map(({ headers }) => headers['last-event-id']);

describe('following events', () => {
  it('goes on after the last whole event when one is cut in the middle', async () => {
    await using server = await startHttpServer((_request, response, count) => {
      response.writeHead(200, HEADERS).write(RETRY);
      if (count === 1) {
        response.write(eventText(1) + eventText(2).slice(0, -1));
        setTimeout(() => response.socket?.destroy(), 20);
      } else response.write(eventText(2) + eventText(3));
    });
    const { ids, eventIds, states } = await follow(server, 3);
    assert.deepEqual(ids, ['ev_1', 'ev_2', 'ev_3']);
    assert.deepEqual(eventIds, ['1', '2']);
    assert.deepEqual(askedFrom(server), [undefined, '1']);
    assert.deepEqual(
      states.map(({ kind }) => kind),
      ['connecting', 'open', 'waiting', 'connecting', 'open'],
    );
  });

  it('goes on where it joined when the line breaks before the first event', async () => {
    await using server = await startHttpServer((_request, response, count) => {
      response.writeHead(200, HEADERS).write(RETRY);
      if (count === 1) response.end('id: 41\n\n');
      else response.write(eventText(42) + eventText(43));
    });
    const { ids, eventIds } = await follow(server, 2);
    assert.deepEqual(ids, ['ev_42', 'ev_43']);
    assert.deepEqual(askedFrom(server), [undefined, '41']);
    assert.deepEqual(eventIds, ['41', '42']);
  });

  it('tells a place only once the loop is done with its event, so that none is lost with a loop that dies', async () => {
    await using server = await startHttpServer((request, response) => {
      const from = Number(request.headers['last-event-id'] ?? 0);
      response.writeHead(200, HEADERS).write(RETRY + [1, 2, 3].map((step) => eventText(from + step)).join(''));
    });
    const client = new StackClient(server);
    const handled: string[] = [];
    let kept: string | undefined;
    const run = async (diesAt: string) => {
      const options = {
        lastEventId: kept,
        onEventId: (id: string) => {
          kept = id;
        },
      };
      for await (const { id } of client.events({}, options)) {
        if (id === diesAt) throw new Error(`died at ${id}`);
        handled.push(id);
      }
    };
    await assert.rejects(run('ev_2'), /died at ev_2/);
    assert.equal(kept, '1');
    await assert.rejects(run('ev_4'), /died at ev_4/);
    assert.deepEqual([handled, kept], [['ev_1', 'ev_2', 'ev_3'], '3']);
  });

  it('asks no second time where the caller is at fault', async () => {
    await using server = await startHttpServer(streams(RETRY + eventText(1) + eventText(2)));
    const client = new StackClient(server);
    const oops = () => {
      throw new TypeError('oops');
    };
    const faults: [() => ReturnType<typeof client.events>, RegExp][] = [
      [() => client.events({}, { lastEventId: 'not\na header' }), /./],
      [() => client.events({}, { lastEventId: 'ключ' }), /./],
      [() => client.events({}, { signal: {} as AbortSignal }), /./],
      [() => client.events({}, { onEventId: oops }), /oops/],
      [() => client.events({}, { onState: oops }), /oops/],
      [() => new StackClient({ ...server, key: oops }).events(), /oops/],
    ];
    for (const [begin, words] of faults) {
      const before = server.requests.length;
      const follow = async () => {
        for await (const _event of begin());
      };
      await assert.rejects(follow(), (error) => error instanceof TypeError && words.test(error.message));
      assert.ok(server.requests.length <= before + 1, `${server.requests.length - before} requests`);
    }
    const thrown = client.events();
    await thrown.next();
    await assert.rejects(thrown.throw(new TypeError('given up')), /given up/);
    await assert.rejects(async () => {
      for await (const _event of client.events()) throw new TypeError('of the loop');
    }, /of the loop/);
  });

  it('leaves a line on which nothing comes, and one on which heartbeats come it keeps', async () => {
    await using server = await startHttpServer((_request, response, count) => {
      response.writeHead(200, HEADERS).write(RETRY);
      if (count === 1) return;
      // Heartbeats for longer than the silence that is allowed, then an event.
      let beats = 0;
      const beat = setInterval(() => response.write(beats++ < 24 ? ':\n\n' : eventText(1)), 25);
      response.on('close', () => clearInterval(beat));
    });
    const { ids, states } = await follow(server, 1, { silentMs: 500 });
    assert.deepEqual([ids, server.requests.length], [['ev_1'], 2]);
    const [waiting] = states.filter((state) => state.kind === 'waiting');
    assert.match(waiting?.reason ?? '', /nothing came for 0\.5 s/);
  });

  it('neither storms nor sleeps for ever, whatever pause a server asks for', async () => {
    const pauses: number[][] = [];
    for (const retry of ['0', '1', '99999999999999999999', '-5', 'soon']) {
      const stop = new AbortController();
      await using server = await startHttpServer((_request, response) =>
        response.writeHead(200, HEADERS).end(`retry: ${retry}\n\n`),
      );
      const states: StreamState[] = [];
      const onState = (state: StreamState) => {
        states.push(state);
        if (state.kind === 'waiting') stop.abort(new Error('seen'));
      };
      const events = new StackClient(server).events({}, { signal: stop.signal, onState });
      await assert.rejects(events.next(), /seen/);
      pauses.push(pausesOf(states));
    }
    const [none, one, huge, negative, word] = pauses.map(([first = Number.NaN]) => first);
    for (const short of [none, one]) assert.ok(short !== undefined && short >= 125 && short <= 250, String(short));
    assert.ok(huge !== undefined && huge >= 30_000 && huge <= 60_000, String(huge));
    for (const ignored of [negative, word]) assert.ok(ignored !== undefined && ignored >= 1_500 && ignored <= 3_000);
  });

  it('waits longer after each failure in a row, and as before once events come again', async () => {
    await using server = await startHttpServer((_request, response, count) => {
      if (count === 1) return void response.writeHead(200, HEADERS).end(RETRY);
      if (count === 2) return void response.writeHead(503).end();
      if (count === 3) return void response.socket?.destroy();
      response.writeHead(200, HEADERS).end(eventText(count));
    });
    const [first = 0, second = 0, third = 0, fourth = 0] = pausesOf(
      (await follow(server, 2, { wait: async () => {} })).states,
    );
    assert.ok(first <= 250 && second > 250 && second <= 500 && third > 500 && third <= 1_000 && fourth <= 250);
  });

  it('gives up where asking again would not help, and tells why', async () => {
    const refusal =
      (status: number, code: string): Answering =>
      (_request, response) => {
        const body = JSON.stringify({ status, title: 'No', code, detail: 'No.' });
        response.writeHead(status, { 'retry-after': '3600' }).end(body);
      };
    for (const [status, code] of [
      [401, 'invalid_key'],
      [400, 'invalid_domain'],
      [429, 'quota_exceeded'],
    ] as const) {
      await using server = await startHttpServer(refusal(status, code));
      const problem = await rejectionOf(new StackClient(server).events().next(), StackProblem);
      assert.deepEqual([problem.status, problem.code, server.requests.length], [status, code, 1]);
      assert.equal(problem.retryAfterSeconds, 3_600);
    }
    await using page = await startHttpServer((_request, response) => response.writeHead(200).end('<html>'));
    assert.equal((await rejectionOf(new StackClient(page).events().next(), StackProblem)).code, 'invalid_answer');
    for (const data of ['nonsense', '[]', '{']) {
      await using odd = await startHttpServer(streams(`event: anomaly\ndata: ${data}\n\n`));
      assert.equal((await rejectionOf(new StackClient(odd).events().next(), StackProblem)).code, 'invalid_answer');
    }
  });

  it('tells of a reset, asks with the refused id no more, and leaves out kinds that it does not know', async () => {
    await using server = await startHttpServer((_request, response, count) => {
      response.writeHead(200, HEADERS).write(RETRY);
      if (count === 1) response.end('event: reset\ndata: {"reason":"gone"}\n\n');
      else response.write(`event: weather\ndata: {}\n\nevent: __proto__\ndata: {}\n\n${eventText(9)}`);
    });
    const { ids, states } = await follow(server, 1, { lastEventId: '5' });
    assert.deepEqual(ids, ['ev_9']);
    assert.deepEqual(askedFrom(server), ['5', undefined]);
    assert.deepEqual(states[2], { kind: 'reset', reason: 'gone' });
  });

  it('goes on after a reset whose reason is no text', async () => {
    const reset = 'id: 6\nevent: reset\ndata: {"reason":{"toString":1,"valueOf":1}}\n\n';
    await using server = await startHttpServer(streams(reset + eventText(7)));
    const { ids, states } = await follow(server, 1);
    assert.deepEqual([ids, states.at(-1)], [['ev_7'], { kind: 'reset', reason: 'events were missed' }]);
  });

  it('gives nothing more after an abort, though more had come, nor tells that it was done with', async () => {
    await using server = await startHttpServer(streams(eventText(1) + eventText(2) + eventText(3)));
    const stop = new AbortController();
    const told: string[] = [];
    const seen: string[] = [];
    const following = (async () => {
      const events = new StackClient(server).events({}, { signal: stop.signal, onEventId: (id) => told.push(id) });
      for await (const { id } of events) {
        seen.push(id);
        stop.abort(new Error('enough'));
      }
    })();
    await assert.rejects(following, /enough/);
    assert.deepEqual([seen, told], [['ev_1'], ['1']]);
  });

  it('stops at once, with the reason, whether it reads, waits or has not begun; leaving the loop closes the line', async () => {
    let closed = Promise.withResolvers<void>();
    await using server = await startHttpServer((request, response) => {
      request.socket.on('close', () => closed.resolve());
      response.writeHead(200, HEADERS).write(eventText(1));
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
    await using away = await startHttpServer((_request, response) => response.writeHead(503).end());
    const onState = ({ kind }: StreamState) =>
      kind === 'waiting' && setImmediate(() => later.abort(new Error('later')));
    const waiting = new StackClient(away).events({}, { signal: later.signal, onState });
    await assert.rejects(waiting.next(), /later/);
  });

  it('asks for what the filter says', async () => {
    await using server = await startHttpServer(streams(eventText(1)));
    const client = new StackClient({ ...server, key: 'ssk_1' });
    await client.events({ types: ['migration', 'anomaly'], domain: 'a.test', provider: undefined }).next();
    await client.events({ types: [] }).next();
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      ['/stack/v1/stream?domain=a.test&types=migration%2Canomaly', '/stack/v1/stream'],
    );
    assert.equal(server.requests[0]?.headers['x-stack-key'], 'ssk_1');
  });
});
