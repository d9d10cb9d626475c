// Receipts of segments: what a worker made for a gateway, signed by both. Gateways and workers keep the same table, each in its own store.

export interface SegmentRecord {
  /** 16 bytes; unique. */
  readonly nonce: Uint8Array;
  /** Peer ids. */
  readonly worker: string;
  readonly gateway: string;
  /** Id of the key that asked; a worker does not know it. */
  readonly caller: string | undefined;
  readonly modelSha256: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly endedAtMs: number;
  /** SegmentReceipt as it was signed. */
  readonly receipt: Uint8Array;
  readonly workerSignature: Uint8Array;
  /** Undefined: not agreed to yet. */
  readonly gatewaySignature: Uint8Array | undefined;
}

export interface SegmentTotals {
  /** Peer id, key id, model digest or UTC day, by what they are summed. */
  readonly key: string;
  readonly segments: number;
  /** Of these, signed by both. */
  readonly settled: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

export interface Segments {
  /** False: there is one with this nonce already, and nothing was changed. */
  put(segment: SegmentRecord): Promise<boolean>;
  /** Adds the gateway's signature. False: there is no such segment, or it has one. */
  settle(nonce: Uint8Array, gatewaySignature: Uint8Array): Promise<boolean>;
  /** Sums over segments that ended from `fromMs` up to, not including, `toMs`. */
  totals(options: {
    readonly by: 'worker' | 'gateway' | 'caller' | 'model' | 'day';
    readonly fromMs?: number;
    readonly toMs?: number;
  }): Promise<readonly SegmentTotals[]>;
  /** Newest first; `before` is the nonce of the last one seen. */
  list(options: { readonly limit: number; readonly before?: Uint8Array }): Promise<readonly SegmentRecord[]>;
}

/** Standings by peer id, as JSON; they outlive a restart. */
export interface Standings {
  all(): Promise<ReadonlyMap<string, string>>;
  put(peer: string, standing: string): Promise<void>;
}
