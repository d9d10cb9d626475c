// Hosts for tests: on loopback, with keys in a directory that goes with them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PeerNode, PeerNodeOptions } from '../peer-node.ts';
import { startPeerNode } from '../start-peer-node.ts';

export const LOOPBACK = '/ip4/127.0.0.1/tcp/0';

/** Ends a wait that would not end by itself. */
export const within = (ms = 10_000) => ({ signal: AbortSignal.timeout(ms) });

export interface Hosts extends AsyncDisposable {
  readonly directory: string;
  /** Each name has a key of its own: started again, it is the same peer. */
  start(name: string, options?: Partial<PeerNodeOptions>): Promise<PeerNode>;
}

export async function testHosts(): Promise<Hosts> {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-p2p-'));
  const nodes: PeerNode[] = [];
  return {
    directory,
    async start(name, options = {}) {
      const node = await startPeerNode({
        keyFile: path.join(directory, `${name}.key`),
        listen: [LOOPBACK],
        isMdnsOn: false,
        ...options,
      });
      nodes.push(node);
      return node;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function addressOf(node: PeerNode): string {
  const [address] = node.addresses();
  if (address === undefined) throw new Error('the host listens nowhere');
  return address;
}

export function portOf(node: PeerNode): number {
  return Number(/\/tcp\/(\d+)/.exec(addressOf(node))?.[1]);
}

/** Asks again until it is so; rejects when it takes too long. */
export async function until(isSo: () => boolean | Promise<boolean>, mostMs = 10_000): Promise<void> {
  const deadline = Date.now() + mostMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come about');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
