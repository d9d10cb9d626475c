import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { type Channel, ChannelError, type PeerEvent } from '@strata/p2p';
import pino from 'pino';
import { Gateways } from './find-gateways.ts';
import type { ChannelEnd } from './serve-channel.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A network where every peer answers as `speaks` says, and channels last until `end` is called. */
function network(speaks: (peer: string) => boolean, found: readonly string[] = []) {
  const asked: string[] = [];
  const ends = new Map<string, (end: ChannelEnd) => void>();
  let tell: (event: PeerEvent) => void = () => {};
  const gateways = new Gateways({
    node: {
      channels: {
        handle: async () => {},
        open: async (peer) => {
          asked.push(peer);
          if (!speaks(peer)) throw new ChannelError(`no channel to ${peer}`);
          return { peer } as Channel;
        },
      },
      peers: {
        ...{ join: async () => [], connected: () => [], provide: async () => {}, roundTripMs: () => undefined },
        watch: (listener) => {
          tell = listener;
        },
        async *find() {
          yield* found;
        },
      },
    },
    serve: ({ peer }) => new Promise((resolve) => ends.set(peer, resolve)),
    ...{ logger: pino({ level: 'silent' }), random: () => 0.5 },
  });
  return {
    ...{ gateways, asked },
    connect: (peer: string) => tell({ kind: 'connected', peer }),
    end: (peer: string, end: ChannelEnd = 'over') => ends.get(peer)?.(end),
    async [Symbol.asyncDispose]() {
      gateways.stop();
      for (const end of ends.values()) end('over');
      await gateways[Symbol.asyncDispose]();
    },
  };
}

describe('gateways', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
  afterEach(() => mock.timers.reset());

  const passing = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      mock.timers.tick(250);
      await settled();
    }
  };

  it('have one channel each, however often they are met', async () => {
    await using net = network(() => true, ['b', 'a']);
    for (const peer of ['a', 'a', 'b', 'a']) net.connect(peer);
    await passing(61_000);
    assert.deepEqual(net.asked, ['a', 'b']);
    assert.deepEqual([...net.gateways.serving()].sort(), ['a', 'b']);
  });

  it('that speak no protocol are asked ever more seldom', async () => {
    await using net = network(() => false);
    net.connect('a');
    await passing(60_000);
    // At 0, 0.5, 1.5, 3.5, 7.5, 15.5 and 31.5 s.
    assert.equal(net.asked.length, 7);
  });

  it('are asked again soon when a channel ends, and at once when they come back', async () => {
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

  it('are at most 64', async () => {
    await using net = network(() => true);
    for (let i = 0; i < 100; i += 1) net.connect(`peer ${i}`);
    await settled();
    assert.equal(net.gateways.serving().length, 64);
    net.end('peer 3', 'unfit');
    await passing(31_000);
    assert.equal(net.gateways.serving().length, 64, 'another one has its turn');
  });
});
