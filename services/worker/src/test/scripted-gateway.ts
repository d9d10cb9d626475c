// A gateway for tests that says exactly what it is told to, over a host of its own on a loopback port.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeFrame, encodeFrame, type Frame, type FrameOf, PROTOCOL, PROTOCOL_VERSION } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';

export class ScriptedChannel {
  readonly frames: Frame[] = [];
  readonly channel: Channel;
  /** Resolves when the worker has ended it, or the connection. */
  readonly ended: Promise<void>;
  #isOver = false;
  #waiting = new Set<() => void>();
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

  /** The first frame that is so, come already or to come; rejects when the channel is over without it. */
  async until<Kind extends Frame['kind']>(
    kind: Kind,
    isIt: (frame: FrameOf<Kind>) => boolean = () => true,
  ): Promise<FrameOf<Kind>> {
    for (;;) {
      const found = this.frames.find(
        (frame): frame is FrameOf<Kind> => frame.kind === kind && isIt(frame as FrameOf<Kind>),
      );
      if (found) return found;
      if (this.#isOver) throw new Error(`the channel is over, and no ${kind} came`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** How it ended: `done` or `failed`. */
  async endOf(id: number): Promise<FrameOf<'done'> | FrameOf<'failed'>> {
    const done = this.until('done', (frame) => frame.id === id);
    const failed = this.until('failed', (frame) => frame.id === id);
    done.catch(() => {});
    failed.catch(() => {});
    return Promise.race([done, failed]);
  }

  /** Sends a request; how it ended. */
  async ask(request: FrameOf<'request'>): Promise<FrameOf<'done'> | FrameOf<'failed'>> {
    await this.send(request);
    return this.endOf(request.id);
  }

  tokensOf(id: number): readonly number[] {
    return this.frames.flatMap((frame) =>
      frame.kind === 'tokens' && frame.id === id ? frame.tokens.map(({ token }) => token) : [],
    );
  }

  /** Resolves when so many tokens have come. */
  async untilTokens(id: number, count: number): Promise<void> {
    await this.until('tokens', (frame) => frame.id === id && this.tokensOf(id).length >= count);
  }

  async #read(): Promise<void> {
    try {
      for await (const bytes of this.channel.messages) {
        this.frames.push(decodeFrame(bytes));
        this.#wake();
      }
    } catch {
      // A broken connection is an end like another.
    } finally {
      this.#isOver = true;
      this.#wake();
      await this.channel.close();
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const resolve of waiting) resolve();
  }
}

export interface ScriptedGateway extends AsyncDisposable {
  readonly node: PeerNode;
  /** With its peer id. */
  readonly address: string;
  /** The next channel that a worker opens; the greeting is left to the test. */
  nextChannel(): Promise<ScriptedChannel>;
  /** Greeted, and offered. */
  greeted(): Promise<ScriptedChannel>;
  /** Channels opened in all. */
  readonly opened: number;
}

/** `keyFile` and `port`: of a gateway that was there before. */
export async function startScriptedGateway(
  options: { readonly keyFile?: string; readonly port?: number } = {},
): Promise<ScriptedGateway> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-gateway-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const node = stack.use(
    await startPeerNode({
      keyFile: options.keyFile ?? path.join(directory, 'peer.key'),
      listen: [`/ip4/127.0.0.1/tcp/${options.port ?? 0}`],
      isMdnsOn: false,
    }),
  );
  const ready: ScriptedChannel[] = [];
  let opened = 0;
  let wake = () => {};
  await node.channels.handle(PROTOCOL, (channel) => {
    opened += 1;
    ready.push(new ScriptedChannel(channel));
    wake();
  });
  const nextChannel = async () => {
    for (;;) {
      const channel = ready.shift();
      if (channel) return channel;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const owned = stack.move();
  return {
    node,
    address: node.addresses()[0] ?? '',
    nextChannel,
    async greeted() {
      const channel = await nextChannel();
      await channel.hello();
      await channel.until('offer');
      return channel;
    },
    get opened() {
      return opened;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
