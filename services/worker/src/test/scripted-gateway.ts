// A scripted gateway for tests, on its own network node on a loopback port.
import assert from 'node:assert/strict';
import path from 'node:path';
import { decodeFrame, encodeFrame, type Frame, type FrameOf, PROTOCOL, PROTOCOL_VERSION } from '@strata/inference';
import { type Channel, startPeerNode } from '@strata/p2p';
import { temporaryDirectory, until } from '../../../../tests/support/index.ts';

/** The code of a failure, or the reason for the end. */
export const reasonOf = (end: FrameOf<'done' | 'failed'>): string => (end.kind === 'failed' ? end.code : end.reason);

export class ScriptedChannel {
  readonly frames: Frame[] = [];
  readonly channel: Channel;
  /** Resolves when the worker has closed the channel or the connection. */
  readonly ended: Promise<void>;
  #isOver = false;
  #lastId = 0;

  constructor(channel: Channel) {
    this.channel = channel;
    this.ended = this.#read();
  }

  send(frame: Frame): Promise<void> {
    return this.channel.send(encodeFrame(frame));
  }

  hello(change: Partial<FrameOf<'hello'>> = {}): Promise<void> {
    return this.send({ kind: 'hello', version: PROTOCOL_VERSION, software: 'test/1', role: 'gateway', ...change });
  }

  /** The first matching frame, received already or later; rejects when the channel closes without it. */
  async until<Kind extends Frame['kind']>(kind: Kind, isIt: (frame: FrameOf<Kind>) => boolean = () => true) {
    return (await this.#received((frame) => frame.kind === kind && isIt(frame as FrameOf<Kind>))) as FrameOf<Kind>;
  }

  nextId = (): number => ++this.#lastId;

  async endOf(id: number): Promise<FrameOf<'done' | 'failed'>> {
    const isEnd = (frame: Frame) => (frame.kind === 'done' || frame.kind === 'failed') && frame.id === id;
    return (await this.#received(isEnd)) as FrameOf<'done' | 'failed'>;
  }

  async ask(request: FrameOf<'request'>): Promise<FrameOf<'done' | 'failed'>> {
    await this.send(request);
    return this.endOf(request.id);
  }

  framesOf(id: number) {
    return this.frames.filter((frame) => frame.kind === 'tokens' && frame.id === id) as FrameOf<'tokens'>[];
  }

  tokensOf(id: number): readonly number[] {
    return this.framesOf(id).flatMap(({ tokens }) => tokens.map(({ token }) => token));
  }

  async untilTokens(id: number, count: number): Promise<void> {
    await this.until('tokens', (frame) => frame.id === id && this.tokensOf(id).length >= count);
  }

  async #received(isIt: (frame: Frame) => boolean): Promise<Frame> {
    await until(() => this.#isOver || this.frames.some(isIt), { what: `a frame for which ${isIt}` });
    return this.frames.find(isIt) ?? assert.fail(`the channel is over, and no frame came for which ${isIt}`);
  }

  async #read(): Promise<void> {
    try {
      for await (const bytes of this.channel.messages) this.frames.push(decodeFrame(bytes));
    } catch {
      // A broken connection is treated like any other end.
    } finally {
      this.#isOver = true;
      await this.channel.close();
    }
  }
}

export type ScriptedGateway = Awaited<ReturnType<typeof startScriptedGateway>>;

export async function startScriptedGateway() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const options = { keyFile: path.join(directory.path, 'key'), listen: ['/ip4/127.0.0.1/tcp/0'], isMdnsOn: false };
  const node = stack.use(await startPeerNode(options));
  const channels: ScriptedChannel[] = [];
  let taken = 0;
  await node.channels.handle(PROTOCOL, (channel) => void channels.push(new ScriptedChannel(channel)));
  /** The next channel that a worker opens; the test sends hello. */
  const nextChannel = async () => {
    await until(() => channels.length > taken);
    taken += 1;
    return channels[taken - 1] as ScriptedChannel;
  };
  return Object.assign(stack.move(), {
    ...{ node, address: node.addresses()[0] ?? '', nextChannel },
    async greeted() {
      const channel = await nextChannel();
      await channel.hello();
      await channel.until('offer');
      return channel;
    },
    opened: () => channels.length,
  });
}
