// Addresses at which peers were reached, or which they announced: kept in a file, so that a restart needs no bootstrap
// node. Announced addresses are untrusted: they are only dialled, and the handshake authenticates the peer.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Libp2p } from '@libp2p/interface';
import { replaceFile } from '@strata/files';
import { z } from 'zod';
import { KNOWN_PEERS } from '../limits.ts';

const KnownPeer = z.object({
  id: z.string().max(128),
  addresses: z.array(z.string().max(512)).min(1).max(KNOWN_PEERS.maxAddresses),
  seenAt: z.iso.datetime(),
  /** Whether this host once dialled it successfully. */
  isReached: z.boolean().default(false),
});
const KnownPeersFile = z.object({ version: z.literal(1), peers: z.array(KnownPeer).max(KNOWN_PEERS.max) });

export type KnownPeer = Readonly<z.infer<typeof KnownPeer>>;

const WRITE_DELAY_MS = 1_000;

/** A missing, damaged or outdated file is treated as empty and rewritten. */
export class KnownPeers implements AsyncDisposable {
  readonly #file: string | undefined;
  #peers: ReadonlyMap<string, KnownPeer>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: string | undefined, peers: readonly KnownPeer[]) {
    this.#file = file;
    this.#peers = new Map(peers.map((peer) => [peer.id, peer]));
  }

  static async load(file: string | undefined): Promise<KnownPeers> {
    if (file === undefined) return new KnownPeers(file, []);
    try {
      const { peers } = KnownPeersFile.parse(JSON.parse(await readFile(file, 'utf8')));
      return new KnownPeers(file, peers);
    } catch {
      return new KnownPeers(file, []);
    }
  }

  /** Reached peers first, then peers that only announced addresses; within each, the most recently observed first. */
  list(): readonly KnownPeer[] {
    const peers = [...this.#peers.values()].toReversed();
    return [...peers.filter(({ isReached }) => isReached), ...peers.filter(({ isReached }) => !isReached)];
  }

  /**
   * `reached` was dialled successfully; `announced` are the peer's own claims. New addresses come first; older ones
   * follow as far as there is capacity. A peer that was only announced never replaces a reached one.
   */
  add(id: string, addresses: { readonly reached?: string; readonly announced: readonly string[] }, seenAt: Date): void {
    const { reached, announced } = addresses;
    const old = this.#peers.get(id);
    const merged = [...new Set([...(reached === undefined ? [] : [reached]), ...announced, ...(old?.addresses ?? [])])]
      .filter((address) => address.length <= 512)
      .slice(0, KNOWN_PEERS.maxAddresses);
    if (merged.length === 0) return;
    const isReached = reached !== undefined || old?.isReached === true;
    const otherPeers = [...this.#peers.values()].filter((peer) => peer.id !== id);
    const peers = [...otherPeers, { id, addresses: merged, seenAt: seenAt.toISOString(), isReached }];
    const reachedOnes = peers.filter((peer) => peer.isReached).slice(-KNOWN_PEERS.max);
    const capacity = Math.min(KNOWN_PEERS.maxAnnounced, KNOWN_PEERS.max - reachedOnes.length);
    const announcedOnes = capacity > 0 ? peers.filter((peer) => !peer.isReached).slice(-capacity) : [];
    const kept = new Set([...reachedOnes, ...announcedOnes]);
    this.#peers = new Map(peers.filter((peer) => kept.has(peer)).map((peer) => [peer.id, peer]));
    if (this.#file === undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    }, WRITE_DELAY_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    }
    await this.#writing;
  }

  /** Replaces the file atomically; a full disk loses the list of peers, not the connections. */
  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    const text = `${JSON.stringify({ version: 1, peers: [...this.#peers.values()] })}\n`;
    try {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await replaceFile(this.#file, text, { mode: 0o600, sync: 'none', isShared: true });
    } catch {}
  }
}

export function rememberPeers(node: Libp2p, knownPeers: KnownPeers, signal: AbortSignal): void {
  node.addEventListener(
    'peer:identify',
    ({ detail: { peerId, connection, listenAddrs } }) => {
      const suffix = `/p2p/${peerId}`;
      const reached = connection.direction === 'outbound' && { reached: connection.remoteAddr.toString() };
      const announced = listenAddrs
        .map(String)
        .map((address) => (address.endsWith(suffix) ? address : `${address}${suffix}`));
      knownPeers.add(peerId.toString(), { ...reached, announced }, new Date());
    },
    { signal },
  );
}
