// Addresses at which peers were reached, or said that they can be: kept in a file, so that a restart needs no bootstrap node.
// Anyone can have put an address here; all that is done with it is to dial it, and to see who answers.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { KNOWN_PEERS } from './limits.ts';

const KnownPeer = z.object({
  id: z.string().max(128),
  addresses: z.array(z.string().max(512)).min(1).max(KNOWN_PEERS.mostAddresses),
  seenAt: z.iso.datetime(),
});
const KnownPeersFile = z.object({ version: z.literal(1), peers: z.array(KnownPeer).max(KNOWN_PEERS.most) });

export type KnownPeer = Readonly<z.infer<typeof KnownPeer>>;

const WRITE_DELAY_MS = 1_000;

/** A file that is missing, damaged or of another version is as an empty one: it is written anew. */
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

  /** Who was seen last comes first. */
  list(): readonly KnownPeer[] {
    return [...this.#peers.values()].toReversed();
  }

  /** The first addresses count most. Older ones stay behind them as far as there is room. */
  add(id: string, addresses: readonly string[], seenAt: Date): void {
    const old = this.#peers.get(id)?.addresses ?? [];
    const merged = [...new Set([...addresses, ...old])]
      .filter((address) => address.length <= 512)
      .slice(0, KNOWN_PEERS.mostAddresses);
    if (merged.length === 0) return;
    const others = [...this.#peers.values()].filter((peer) => peer.id !== id).slice(1 - KNOWN_PEERS.most);
    const peers = [...others, { id, addresses: merged, seenAt: seenAt.toISOString() }];
    this.#peers = new Map(peers.map((peer) => [peer.id, peer]));
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

  /** The whole file or the old one; a disk that is full costs the memory of peers, not the network. */
  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    const draft = `${this.#file}.${randomUUID()}`;
    try {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await writeFile(draft, `${JSON.stringify({ version: 1, peers: [...this.#peers.values()] })}\n`, { mode: 0o600 });
      await rename(draft, this.#file);
    } catch {
      await unlink(draft).catch(() => {});
    }
  }
}
