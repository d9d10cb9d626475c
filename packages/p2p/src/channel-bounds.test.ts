import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Stream } from '@libp2p/interface';
import type { Libp2p } from 'libp2p';
import { until } from '../../../tests/support/until.ts';
import { ByteBudget } from './byte-budget.ts';
import { type Channel, openChannel } from './channel.ts';
import { ChannelError } from './inbox.ts';
import { LOOPBACK, startStranger } from './test/hosts.ts';

const MIB = 1024 * 1024;
/** The length of a message of 4 MiB, and of one of 900,000 bytes. */
const LONGEST = Uint8Array.of(0x80, 0x80, 0x80, 0x02);
const LONG = Uint8Array.of(0xa0, 0xf7, 0x36);

describe('what others make a host hold', () => {
  let host: Libp2p;
  let stranger: Libp2p;
  let unread: ByteBudget;
  let messageTimeoutMs = 60_000;
  const channels: Channel[] = [];
  const start = () => startStranger({ addresses: { listen: [LOOPBACK] } });
  const arrived = async () => {
    await until(() => channels.length > 0);
    return channels.pop() as Channel;
  };
  /** A channel at the host and the bare stream at whoever fills it; `name` is whom the host takes it for. */
  let name = '';
  const open = async (peer: string): Promise<{ readonly channel: Channel; readonly stream: Stream }> => {
    name = peer;
    const connection = await stranger.dial(host.getMultiaddrs());
    const stream = await connection.newStream('/test/1');
    return { stream, channel: await arrived() };
  };
  const fill = async (stream: Stream, bytes: number) => {
    const piece = new Uint8Array(64 * 1024);
    for (let rest = bytes; rest > 0 && stream.status === 'open'; rest -= piece.byteLength) {
      stream.send(piece.subarray(0, Math.min(rest, piece.byteLength)));
      while (stream.writableNeedsDrain && stream.status === 'open')
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const next = async (channel: Channel) => (await channel.messages[Symbol.asyncIterator]().next()).value;

  before(async () => {
    [host, stranger] = await Promise.all([start(), start()]);
    await host.handle('/test/1', (stream) => {
      const unsent = new ByteBudget({ mostBytes: 6 * MIB, mostBytesPerPeer: 6 * MIB });
      channels.push(openChannel(stream, name, { unread, unsent, messageTimeoutMs }));
    });
  });
  after(() => Promise.all([host.stop(), stranger.stop()]));

  it('is cut at who holds most, and the channel of who comes after it is whole', async () => {
    unread = new ByteBudget({ mostBytes: 6 * MIB, mostBytesPerPeer: 5 * MIB });
    const greedy = await open('greedy');
    const lost = assert.rejects(next(greedy.channel), ChannelError);
    greedy.stream.send(LONGEST);
    // Past 2 MiB its buffer has the whole 4 MiB.
    await fill(greedy.stream, 3 * MIB);
    const other = await open('also greedy');
    other.stream.send(LONGEST);
    await fill(other.stream, 1.2 * MIB);
    const honest = await open('honest');
    honest.stream.send(LONG);
    await Promise.all([fill(honest.stream, 900_000), lost]);
    assert.equal((await next(honest.channel))?.byteLength, 900_000);
  });

  it('is not a message that was begun and never ends, while a channel without one may be silent', async () => {
    unread = new ByteBudget({ mostBytes: 100 * MIB, mostBytesPerPeer: 100 * MIB });
    messageTimeoutMs = 300;
    const silent = await open('silent');
    const slow = await open('slow');
    slow.stream.send(Uint8Array.of(5, 1, 2));
    const isLate = (error: unknown) => error instanceof ChannelError && /did not end/.test(`${error.cause}`);
    await assert.rejects(next(slow.channel), isLate);
    silent.stream.send(Uint8Array.of(2, 1, 2));
    assert.equal((await next(silent.channel))?.byteLength, 2);
    messageTimeoutMs = 60_000;
  });

  it('is cut where nobody takes what this host sends', async () => {
    unread = new ByteBudget({ mostBytes: 100 * MIB, mostBytesPerPeer: 100 * MIB });
    const { channel, stream } = await open('deaf');
    stream.pause();
    const sending = Array.from({ length: 4 }, () => channel.send(new Uint8Array(3 * MIB)));
    for (const outcome of await Promise.allSettled(sending)) assert.equal(outcome.status, 'rejected');
  });
});
