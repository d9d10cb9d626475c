// Capacity for workers: an idle worker is evicted for another one, a busy one is not.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { encodeFrame, PROTOCOL_VERSION } from '@strata/inference';
import { pino } from 'pino';
import { Sessions, type SessionsDeps } from './sessions.ts';

const hello = encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software: 'w', role: 'worker' });

/** Capacity for one worker; `connect` returns whether a peer was accepted. */
function scene(deps: Partial<SessionsDeps>) {
  const left: string[] = [];
  const sessions: Sessions = new Sessions({
    ...{ software: 'g', max: 1, roundTripMs: () => 1, trustOf: () => 0.5, hasModels: () => true },
    ...{ onOffer: () => {}, onBreach: () => {}, logger: pino({ level: 'silent' }) },
    onChange: (peer) => sessions.all.has(peer) || left.push(peer),
    ...deps,
  });
  const connect = async (peer: string): Promise<boolean> => {
    const over = Promise.withResolvers<void>();
    async function* messages() {
      yield hello;
      await over.promise;
    }
    const end = async () => over.resolve();
    await sessions.take({ peer, messages: messages(), send: async () => {}, close: end, abort: end });
    return sessions.all.has(peer);
  };
  return { left, connect, peers: () => [...sessions.all.keys()], sessions };
}

it('capacity for workers is reassigned when a worker gets no requests', async () => {
  const trust = new Map([['a', 0.5]]);
  const { left, connect, peers, sessions } = scene({ trustOf: (peer) => trust.get(peer) ?? 0.5 });
  await using _sessions = sessions;
  assert.ok(await connect('a'));
  assert.ok(!(await connect('b')), 'trusted as far, and after no time');
  trust.set('a', 0);
  assert.ok(await connect('b'));
  trust.set('c', 0);
  assert.ok(!(await connect('c')), 'a worker that gets no work gets no slot');
  assert.deepEqual([left, peers()], [['a'], ['b']]);
});
it('capacity for workers is reassigned after a while when a worker offers nothing', async (context) => {
  const { connect, peers, sessions } = scene({ hasModels: () => false });
  await using _sessions = sessions;
  assert.ok(await connect('a'));
  assert.ok(!(await connect('b')));
  const now = performance.now.bind(performance);
  context.mock.method(performance, 'now', () => now() + 11_000);
  assert.ok(await connect('b'));
  assert.deepEqual(peers(), ['b']);
});
