// Hosts for tests: on loopback, with keys in a temporary directory.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before } from 'node:test';
import { generateKeyPair } from '@libp2p/crypto/keys';
import { peerIdFromPrivateKey } from '@libp2p/peer-id';
import { tcp } from '@libp2p/tcp';
import { tls } from '@libp2p/tls';
import { yamux } from '@libp2p/yamux';
import { createLibp2p, type Libp2pOptions } from 'libp2p';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import type { PeerNode, PeerNodeOptions } from '../peer-node.ts';
import { startPeerNode } from '../start-peer-node.ts';

export const LOOPBACK = '/ip4/127.0.0.1/tcp/0';

/** Aborts a wait that would not end by itself. */
export const within = (ms = 30_000) => ({ signal: AbortSignal.timeout(ms) });

/** A temporary directory for a suite, removed afterwards; `path` is known once its tests run. */
export function useDirectory(): { readonly path: string } {
  const directory = { path: '', remove: async () => {} };
  before(async () => void Object.assign(directory, await temporaryDirectory()));
  after(() => directory.remove());
  return directory;
}

export function useHosts() {
  const nodes: PeerNode[] = [];
  after(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
  const directory = useDirectory();
  return {
    get directory() {
      return directory.path;
    },
    /** Each name has its own key: restarted, it is the same peer. */
    async start(name: string, options: Partial<PeerNodeOptions> = {}): Promise<PeerNode> {
      const keyFile = path.join(directory.path, `${name}.key`);
      const node = await startPeerNode({ keyFile, listen: [LOOPBACK], isMdnsOn: false, ...options });
      nodes.push(node);
      return node;
    },
  };
}

export const newPeerId = async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'));

/** A libp2p node that is not a host of ours, without the limits and protocols that ours have. */
export const startForeignNode = (options: Libp2pOptions = {}) =>
  createLibp2p({ transports: [tcp()], connectionEncrypters: [tls()], streamMuxers: [yamux()], ...options });

export const addressOf = (node: PeerNode) => node.addresses()[0] ?? assert.fail('the host listens nowhere');
export const portOf = (node: PeerNode) => Number(/\/tcp\/(\d+)/.exec(addressOf(node))?.[1]);
