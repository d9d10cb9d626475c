import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Stream } from '@libp2p/interface';
import type { Libp2p } from 'libp2p';
import { casesOf, until } from '../../../../tests/support/index.ts';
import { LOOPBACK, startForeignNode } from '../test/hosts.ts';
import { ByteBudget } from './byte-budget.ts';
import { type Channel, openChannel } from './channel.ts';
import { ChannelError } from './inbox.ts';
import { MAX_MESSAGE_BYTES, MessageReader } from './message-reader.ts';

const MIB = 1024 * 1024;
/** The length of a message of 4 MiB, and of one of 900,000 bytes. */
const LONGEST = Uint8Array.of(0x80, 0x80, 0x80, 0x02);
const LONG = Uint8Array.of(0xa0, 0xf7, 0x36);

describe('the memory that unread messages of peers take', () => {
  let host: Libp2p;
  let sender: Libp2p;
  let unread: ByteBudget;
  let messageTimeoutMs: number;
  let arrived = Promise.withResolvers<Channel>();
  const start = () => startForeignNode({ addresses: { listen: [LOOPBACK] } });
  /** A channel at the host and the bare stream of the sender; the host accounts it to `name`. */
  let name = '';
  const open = async (peer: string) => {
    name = peer;
    arrived = Promise.withResolvers();
    const connection = await sender.dial(host.getMultiaddrs());
    const stream = await connection.newStream('/test/1');
    return { stream, channel: await arrived.promise };
  };
  const fill = async (stream: Stream, bytes: number) => {
    const piece = new Uint8Array(64 * 1024);
    for (let rest = bytes; rest > 0 && stream.status === 'open'; rest -= piece.byteLength) {
      stream.send(piece.subarray(0, Math.min(rest, piece.byteLength)));
      await until(() => !stream.writableNeedsDrain || stream.status !== 'open');
    }
  };
  const next = async (channel: Channel) => (await channel.messages[Symbol.asyncIterator]().next()).value;

  before(async () => {
    [host, sender] = await Promise.all([start(), start()]);
    await host.handle('/test/1', (stream) => {
      const unsent = new ByteBudget({ maxBytes: 6 * MIB, maxBytesPerPeer: 6 * MIB });
      arrived.resolve(openChannel(stream, name, { unread, unsent, messageTimeoutMs }));
    });
  });
  after(() => Promise.all([host.stop(), sender.stop()]));
  beforeEach(() => {
    messageTimeoutMs = 60_000;
  });
  it('is freed by aborting a channel of the peer that uses the most, and the channel of a later peer stays open', async () => {
    unread = new ByteBudget({ maxBytes: 6 * MIB, maxBytesPerPeer: 5 * MIB });
    const greedy = await open('greedy');
    const lost = assert.rejects(next(greedy.channel), ChannelError);
    greedy.stream.send(LONGEST);
    // Past 2 MiB its buffer has all 4 MiB.
    await fill(greedy.stream, 3 * MIB);
    const other = await open('also greedy');
    other.stream.send(LONGEST);
    await fill(other.stream, 1.2 * MIB);
    const honest = await open('honest');
    honest.stream.send(LONG);
    await Promise.all([fill(honest.stream, 900_000), lost]);
    assert.equal((await next(honest.channel))?.byteLength, 900_000);
  });
  it('is freed when a message is not completed in time, while a channel without a begun message may be silent', async () => {
    unread = new ByteBudget({ maxBytes: 100 * MIB, maxBytesPerPeer: 100 * MIB });
    messageTimeoutMs = 300;
    const silent = await open('silent');
    const slow = await open('slow');
    slow.stream.send(Uint8Array.of(5, 1, 2));
    const isLate = (error: unknown) => error instanceof ChannelError && /was not completed/.test(`${error.cause}`);
    await assert.rejects(next(slow.channel), isLate);
    silent.stream.send(Uint8Array.of(2, 1, 2));
    assert.equal((await next(silent.channel))?.byteLength, 2);
  });
  it('is freed when a peer does not read what this host sends', async () => {
    unread = new ByteBudget({ maxBytes: 100 * MIB, maxBytesPerPeer: 100 * MIB });
    const { channel, stream } = await open('deaf');
    stream.pause();
    const sending = Array.from({ length: 4 }, () => channel.send(new Uint8Array(3 * MIB)));
    for (const outcome of await Promise.allSettled(sending)) assert.equal(outcome.status, 'rejected');
  });
});

const BUDGETS = casesOf<[number, number, string, string][]>('p2p', 'byte budgets');
for (const [maxBytes, maxBytesPerPeer, what, steps] of BUDGETS)
  it(`a byte budget ${what}`, () => {
    const budget = new ByteBudget({ maxBytes, maxBytesPerPeer });
    const cut: string[] = [];
    const held: Record<string, (bytes: number) => void> = {};
    for (const step of steps.split(', ')) {
      const [owner = '', bytes, expected] = step.split(' ');
      const [peer = '', name = ''] = owner.split('/');
      held[owner] ??= budget.hold(peer, () => cut.push(name));
      held[owner](Number(bytes));
      assert.equal(cut.join('+') || '-', expected, step);
    }
  });

const framed = (message: Uint8Array) => {
  const head: number[] = [];
  let rest = message.byteLength;
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Uint8Array.of(...head, rest), message]);
};

it('a message reader gives the same messages, however the bytes are cut', () => {
  const sizes = [1, 127, 128, 5_000, 0, 20_000];
  const sent = sizes.map((size, at) => Buffer.alloc(size, at + 1));
  const bytes = Buffer.concat(sent.map(framed));
  for (const step of [1, 2, 3, 7, 1_000, 4_096, bytes.byteLength]) {
    const reader = new MessageReader();
    const received: Uint8Array[] = [];
    for (let at = 0; at < bytes.byteLength; at += step)
      received.push(...reader.read(bytes.subarray(at, Math.min(at + step, bytes.byteLength))));
    assert.deepEqual(received, sent, `pieces of ${step}`);
    assert.equal(reader.heldBytes, 0);
  }
});

it('a message reader holds no more than twice what came of a message, in whatever pieces', () => {
  const reader = new MessageReader();
  assert.deepEqual([...reader.read(Uint8Array.of(0x80, 0x80, 0x80))], []);
  assert.equal(reader.heldBytes, 3);
  assert.deepEqual([...reader.read(Uint8Array.of(0x02))], []);
  assert.ok(reader.heldBytes <= 4_096, 'a length alone takes no memory');
  for (let count = 1; count <= 100_000; count += 1) {
    assert.equal([...reader.read(Uint8Array.of(7))].length, 0);
    assert.ok(reader.heldBytes <= Math.max(4_096, 2 * count));
  }
});

it('a message reader refuses a length that is too long or does not end', () => {
  const longest = framed(Buffer.alloc(MAX_MESSAGE_BYTES));
  assert.equal([...new MessageReader().read(longest)][0]?.byteLength, MAX_MESSAGE_BYTES);
  for (const head of ['81808002', '8080808001', 'ffffffff'])
    assert.throws(() => [...new MessageReader().read(Buffer.from(head, 'hex'))], RangeError);
});
