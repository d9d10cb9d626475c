import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { type Channel, ChannelError, type PeerEvent } from '@strata/p2p';
import pino from 'pino';
import type { ChannelEnd, NoteWork } from '../serve/serve-channel.ts';
import { Gateways } from './find-gateways.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A network where every peer behaves as `speaks` specifies, and channels last until `end` is called. */
function network(speaks: (peer: string) => boolean, found: readonly string[] = []) {
  const asked: string[] = [];
  const ends = new Map<string, (end: ChannelEnd) => void>();
  const works = new Map<string, NoteWork>();
  let notify: (event: PeerEvent) => void = () => {};
  const open = async (peer: string) => {
    asked.push(peer);
    if (!speaks(peer)) throw new ChannelError(`no channel to ${peer}`);
    return { peer, abort: () => ends.get(peer)?.('over') } as Partial<Channel> as Channel;
  };
  const watch = (listener: typeof notify) => {
    notify = listener;
  };
  async function* find() {
    yield* found;
  }
  const unused = { join: async () => [], connected: () => [], provide: async () => {}, roundTripMs: () => undefined };
  const gateways = new Gateways({
    node: { channels: { handle: async () => {}, open }, peers: { ...unused, watch, find } },
    serve: ({ peer }, onWork) => {
      works.set(peer, onWork);
      return new Promise((resolve) => ends.set(peer, resolve));
    },
    ...{ nowMs: () => Date.now(), logger: pino({ level: 'silent' }), random: () => 0.5 },
  });
  return {
    ...{ gateways, asked },
    connect: (peer: string) => notify({ kind: 'connected', peer }),
    work: (peer: string, running: number) => works.get(peer)?.(running),
    end: (peer: string, end: ChannelEnd = 'over') => ends.get(peer)?.(end),
    async [Symbol.asyncDispose]() {
      gateways.stop();
      for (const end of ends.values()) end('over');
      await gateways[Symbol.asyncDispose]();
    },
  };
}

describe('gateways', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 }));
  afterEach(() => mock.timers.reset());

  const passing = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      mock.timers.tick(250);
      await settled();
    }
  };

  it('have one channel each, however often they connect', async () => {
    await using net = network(() => true, ['b', 'a']);
    for (const peer of ['a', 'a', 'b', 'a']) net.connect(peer);
    await passing(61_000);
    assert.deepEqual(net.asked, ['a', 'b']);
    assert.deepEqual([...net.gateways.serving()].sort(), ['a', 'b']);
  });
  it('without the protocol are retried with exponential backoff', async () => {
    await using net = network(() => false);
    net.connect('a');
    await passing(60_000);
    // At 0, 0.5, 1.5, 3.5, 7.5, 15.5 and 31.5 s.
    assert.equal(net.asked.length, 7);
  });
  it('are retried soon after a channel ends, and immediately when they reconnect', async () => {
    await using net = network(() => true);
    net.connect('a');
    await passing(12_000);
    net.end('a');
    await passing(1_000);
    assert.equal(net.asked.length, 2);
    net.end('a');
    await settled();
    net.connect('a');
    await settled();
    assert.equal(net.asked.length, 3);
  });
  it('that were served are retried every two seconds while they are offline, also when they end again and again', async () => {
    let isOnline = true;
    await using net = network(() => isOnline, ['a']);
    await passing(1_000);
    for (let restarts = 1; restarts <= 20; restarts += 1) {
      await passing(3_000);
      isOnline = false;
      net.end('a');
      await passing(10_000);
      isOnline = true;
      await passing(2_000);
      assert.deepEqual(net.gateways.serving(), ['a'], `restart ${restarts}`);
    }
    isOnline = false;
    net.end('a');
    await passing(120_000);
    const tries = net.asked.length;
    await passing(120_000);
    assert.ok(net.asked.length - tries <= 5, 'rarely after two minutes');
  });
  it('that violated the protocol are retried after a minute, and not sooner when they reconnect', async () => {
    await using net = network(() => true, ['a']);
    await settled();
    net.end('a', 'unfit');
    await settled();
    net.connect('a');
    await passing(29_000);
    assert.equal(net.asked.length, 1);
    await passing(92_000);
    assert.equal(net.asked.length, 2);
  });
  it('that never send hello are retried with exponential backoff', async () => {
    await using net = network(() => true);
    net.connect('a');
    for (let i = 0; i < 480; i += 1) {
      await passing(250);
      net.end('a', 'silent');
    }
    assert.ok(net.asked.length <= 9, `${net.asked.length} times in two minutes`);
  });

  const connectMany = async (net: ReturnType<typeof network>, count: number, name = 'peer') => {
    for (let i = 0; i < count; i += 1) net.connect(`${name} ${i}`);
    await passing(5_000);
  };

  it('are limited to 56, and 8 more that the operator named', async () => {
    await using net = network(() => true);
    await connectMany(net, 100);
    assert.equal(net.gateways.serving().length, 56);
    net.gateways.name(Array.from({ length: 8 }, (_, i) => `named ${i}`));
    await connectMany(net, 8, 'named');
    const serving = net.gateways.serving();
    assert.deepEqual([serving.length, serving.filter((peer) => peer.startsWith('named')).length], [64, 8]);
  });
  it('without requests for a minute are replaced, and those with requests stay', async () => {
    await using net = network(() => true);
    await connectMany(net, 56);
    net.work('peer 7', 1);
    for (const running of [1, 0]) net.work('peer 8', running);
    net.connect('honest');
    await passing(50_000);
    assert.ok(!net.gateways.serving().includes('honest'));
    // An idle one is replaced when the next one connects.
    await passing(120_000);
    assert.ok(net.gateways.serving().includes('honest'));
    net.work('honest', 1);
    await connectMany(net, 120, 'more');
    await passing(300_000);
    const working = net.gateways.serving().filter((peer) => ['honest', 'peer 7'].includes(peer));
    assert.deepEqual([net.gateways.serving().length, working.length], [56, 2]);
  });
  it('that do not answer occupy no capacity', async () => {
    await using net = network((peer) => !peer.startsWith('mute'));
    await connectMany(net, 300, 'mute');
    net.connect('honest');
    await passing(5_000);
    assert.deepEqual(net.gateways.serving(), ['honest']);
  });
});
