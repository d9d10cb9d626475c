import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import { until } from '../../../../tests/support/until.ts';
import { STREAMS } from '../limits.ts';
import type { PeerNode } from '../peer-node.ts';
import { addressOf, startForeignNode, useHosts, within } from '../test/hosts.ts';
import type { Channel } from './channel.ts';
import { ChannelError } from './inbox.ts';
import { MAX_MESSAGE_BYTES } from './message-reader.ts';

let protocols = 0;

async function pair(from: PeerNode, to: PeerNode) {
  const protocol = `/test/${protocols++}`;
  const { promise, resolve } = Promise.withResolvers<Channel>();
  await to.channels.handle(protocol, resolve);
  const near = await from.channels.open(to.id, protocol, within());
  return { near, far: await promise };
}

const all = (channel: Channel): Promise<Uint8Array[]> => Array.fromAsync(channel.messages);

async function sendAll(channel: Channel, messages: Iterable<Uint8Array>): Promise<void> {
  for (const message of messages) await channel.send(message);
  await channel.close();
}

describe('channel', () => {
  const hosts = useHosts();
  let a: PeerNode;
  let b: PeerNode;
  before(async () => {
    [a, b] = await Promise.all([hosts.start('a'), hosts.start('b')]);
    await a.peers.join(addressOf(b), within());
  });
  it('yields each message once, complete and in order, and ends after the last one', async () => {
    const sizes = [1, 127, 128, 16_383, 16_384, 300_000, MAX_MESSAGE_BYTES, 2];
    // The small pieces of a long answer go on past the first time that the channel is full.
    const pieces = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`token ${at}`));
    for (const sent of [sizes.map((size) => randomBytes(size)), pieces]) {
      const { near, far } = await pair(a, b);
      assert.deepEqual([near.peer, far.peer], [b.id, a.id]);
      const [received] = await Promise.all([all(far), sendAll(near, sent)]);
      assert.equal(received.length, sent.length);
      for (const [at, message] of received.entries()) assert.ok(sent[at]?.equals(message), `message ${at}`);
    }
  });
  it('carries messages in both directions, and one side may end before the other', async () => {
    const { near, far } = await pair(a, b);
    await sendAll(near, [Buffer.from('question')]);
    assert.equal((await all(far)).length, 1);
    await sendAll(far, [Buffer.from('answer')]);
    assert.deepEqual((await all(near)).map(String), ['answer']);
    await assert.rejects(near.send(Buffer.from('late')), ChannelError);
  });
  it('delivers everything to a slow reader, and makes the sender wait', async () => {
    const { near, far } = await pair(a, b);
    const message = randomBytes(64 * 1024);
    let sent = 0;
    const messages = function* () {
      for (; sent < 512; sent += 1) yield message;
    };
    const sending = sendAll(near, messages());
    // No more is sent once the windows and the inbox are full.
    let before = -1;
    await until(async () => {
      const isStill = sent === before;
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isStill;
    });
    assert.ok(sent * message.length < 8 * 1024 * 1024, `${sent} messages were sent without a reader`);
    const received = await all(far);
    await sending;
    assert.equal(Buffer.concat(received).length, 512 * message.length);
  });
  it('throws when the other side aborts, after the messages that had arrived', async () => {
    const { near, far } = await pair(a, b);
    await near.send(Buffer.from('one'));
    const messages = far.messages[Symbol.asyncIterator]();
    assert.equal(String((await messages.next()).value), 'one');
    near.abort(new Error('enough'));
    await assert.rejects(messages.next(), ChannelError);
    await assert.rejects(all(near), ChannelError);
    await assert.rejects(far.send(Buffer.from('two')), ChannelError);
  });
  it('throws when the connection is closed in the middle of an answer', async () => {
    const c = await hosts.start('c');
    await c.peers.join(addressOf(a), within());
    await until(() => a.peers.connected().some(({ id }) => id === c.id));
    const { near, far } = await pair(a, c);
    await far.send(Buffer.from('half'));
    const messages = near.messages[Symbol.asyncIterator]();
    await messages.next();
    const lost = assert.rejects(messages.next(), ChannelError);
    await c[Symbol.asyncDispose]();
    await lost;
    await assert.rejects(a.channels.open(c.id, '/test/none', within()), ChannelError);
  });
  it('refuses messages that are empty or too long before anything is sent', async () => {
    const { near, far } = await pair(a, b);
    for (const size of [0, MAX_MESSAGE_BYTES + 1]) await assert.rejects(near.send(new Uint8Array(size)), ChannelError);
    await near.close();
    assert.deepEqual(await all(far), []);
  });
  it('has one listener for a protocol, also after the start', async () => {
    await b.channels.handle('/test/one', () => {});
    const again = b.channels.handle('/test/one', () => {});
    await assert.rejects(again, ChannelError);
    await assert.rejects(a.channels.open(b.id, '/test/unhandled', within()), ChannelError);
  });
  it('shares one connection with other channels, up to a limit for each peer', async () => {
    const accepted: Channel[] = [];
    await b.channels.handle('/test/many', (channel) => accepted.push(channel));
    const opened: Channel[] = [];
    const open = async () => opened.push(await a.channels.open(b.id, '/test/many', within()));
    await Promise.allSettled(Array.from({ length: STREAMS.maxChannelsPerPeer + 8 }, open));
    await until(() => accepted.length >= 32);
    assert.ok(accepted.length <= STREAMS.maxChannelsPerPeer);
    assert.equal(a.peers.connected().filter(({ id }) => id === b.id).length, 1);
    for (const channel of opened) channel.abort(new Error('done'));
    // What one peer had taken is free again.
    await until(async () => (await a.channels.open(b.id, '/test/many', within()).catch(() => undefined)) !== undefined);
  });
  it('fails on invalid bytes, and on an end without an end message', async () => {
    const foreign = await startForeignNode();
    try {
      const connection = await foreign.dial(multiaddr(addressOf(b)));
      let opened = Promise.withResolvers<Channel>();
      await b.channels.handle('/test/hostile', (channel) => opened.resolve(channel));
      for (const [name, bytes, isClosed] of [
        ['a length above the maximum', Uint8Array.of(0x81, 0x80, 0x80, 0x02), false],
        ['half a message', Uint8Array.of(5, 1, 2), true],
        ['no end message', Uint8Array.of(1, 7), true],
      ] as const) {
        opened = Promise.withResolvers();
        const stream = await connection.newStream('/test/hostile');
        stream.send(bytes);
        if (isClosed) await stream.close();
        await assert.rejects(all(await opened.promise), ChannelError, name);
      }
    } finally {
      await foreign.stop();
    }
  });
});
