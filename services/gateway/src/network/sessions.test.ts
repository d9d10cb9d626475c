// Places for workers: who holds one for nothing gives way, and who works keeps it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeFrame, PROTOCOL, PROTOCOL_VERSION } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';
import { pino } from 'pino';
import { Sessions, type SessionsParts } from './sessions.ts';

const LISTEN = ['/ip4/127.0.0.1/tcp/0'];
const hello = encodeFrame({ kind: 'hello', version: PROTOCOL_VERSION, software: 'w', role: 'worker' });

let directory: string;
let gateway: PeerNode;
let workers: readonly PeerNode[];
let sessions: Sessions;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-sessions-'));
  const start = (name: string, join: readonly string[]) =>
    startPeerNode({ keyFile: path.join(directory, name), listen: LISTEN, isMdnsOn: false, join });
  gateway = await start('gateway', []);
  workers = await Promise.all(['a', 'b', 'c'].map((name) => start(name, gateway.addresses())));
  await gateway.channels.handle(PROTOCOL, (channel) => void sessions.take(channel));
});
after(async () => {
  for (const node of [...(workers ?? []), gateway]) await node?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** Says hello; resolves with whether the gateway has it among its workers, or refused it. */
async function come(node: PeerNode): Promise<boolean> {
  const channel: Channel = await node.channels.open(gateway.id, PROTOCOL, {
    signal: AbortSignal.timeout(5_000),
  });
  await channel.send(hello).catch(() => {});
  const messages = channel.messages[Symbol.asyncIterator]();
  const isRefused = messages.next().then(
    ({ done }) => done === true,
    () => true,
  );
  if (await isRefused) return false;
  // What the gateway says comes before it has entered the worker.
  while (!sessions.all.has(node.id)) await new Promise((resolve) => setTimeout(resolve, 5));
  return true;
}

const scene = (parts: Partial<SessionsParts>) => {
  const left: string[] = [];
  sessions = new Sessions({
    ...{ software: 'g', most: 1, roundTripMs: () => 1, trustOf: () => 0.5, offersAnything: () => true },
    ...{ onOffer: () => {}, onBreach: () => {}, logger: pino({ level: 'silent' }) },
    onChange: (peer) => {
      if (!sessions.all.has(peer)) left.push(peer);
    },
    ...parts,
  });
  return { left, sessions };
};

describe('places for workers', () => {
  it('are given to others when those who have them get no work', async () => {
    const [first, second, third] = workers as [PeerNode, PeerNode, PeerNode];
    const trust = new Map([[first.id, 0.5]]);
    const { left, sessions: own } = scene({ trustOf: (peer) => trust.get(peer) ?? 0.5 });
    await using _own = own;
    assert.ok(await come(first));
    assert.ok(!(await come(second)), 'trusted as far, and after no time');
    trust.set(first.id, 0);
    assert.ok(await come(second));
    assert.deepEqual(left, [first.id]);
    trust.set(third.id, 0);
    assert.ok(!(await come(third)), 'who gets no work gets no place');
    assert.deepEqual([...own.all.keys()], [second.id]);
  });

  it('are given to others after a while when those who have them offer nothing', async (context) => {
    const [first, second] = workers as [PeerNode, PeerNode, PeerNode];
    const { sessions: own } = scene({ offersAnything: () => false });
    await using _own = own;
    assert.ok(await come(first));
    assert.ok(!(await come(second)));
    const now = performance.now.bind(performance);
    context.mock.method(performance, 'now', () => now() + 11_000);
    assert.ok(await come(second));
    assert.deepEqual([...own.all.keys()], [second.id]);
  });
});
