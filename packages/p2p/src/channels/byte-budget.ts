// The bytes that a host buffers for its peers, counted together: a limit per channel alone would allow the sum of all.
// The peer that holds the most is cut, not the one that comes last: a peer can exhaust only its own share.

interface ByteBounds {
  readonly maxBytes: number;
  readonly maxBytesPerPeer: number;
}

interface Holding {
  bytes: number;
  readonly cut: () => void;
}

interface Share {
  bytes: number;
  readonly holdings: Set<Holding>;
}

export class ByteBudget {
  readonly #bounds: ByteBounds;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  constructor(bounds: ByteBounds) {
    this.#bounds = bounds;
  }

  /**
   * Returns the function that reports the bytes currently held. If a peer exceeds its share, its largest holding is
   * cut; if the total is exceeded, that of the peer with the most bytes. What is cut no longer counts.
   */
  hold(peer: string, cut: () => void): (bytes: number) => void {
    const holding: Holding = { bytes: 0, cut };
    return (bytes) => {
      if (bytes === holding.bytes) return;
      const isMore = bytes > holding.bytes;
      this.#set(peer, holding, bytes);
      if (!isMore) return;
      const share = this.#shares.get(peer);
      while (share && share.bytes > this.#bounds.maxBytesPerPeer) this.#cutLargest(peer, share);
      while (this.#bytes > this.#bounds.maxBytes) {
        const [first, share] = [...this.#shares].reduce((a, b) => (b[1].bytes > a[1].bytes ? b : a));
        this.#cutLargest(first, share);
      }
    };
  }

  #set(peer: string, holding: Holding, bytes: number): void {
    const share = this.#shares.get(peer) ?? { bytes: 0, holdings: new Set() };
    const changeBytes = bytes - holding.bytes;
    holding.bytes = bytes;
    share.bytes += changeBytes;
    this.#bytes += changeBytes;
    if (bytes > 0) share.holdings.add(holding);
    else share.holdings.delete(holding);
    if (share.holdings.size > 0) this.#shares.set(peer, share);
    else this.#shares.delete(peer);
  }

  #cutLargest(peer: string, { holdings }: Share): void {
    const largest = [...holdings].reduce((a, b) => (b.bytes > a.bytes ? b : a));
    this.#set(peer, largest, 0);
    largest.cut();
  }
}
