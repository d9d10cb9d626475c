// The gateways of the database, as this one observes their heartbeats.

export interface GatewayObservation {
  readonly id: number;
  readonly heartbeat: number;
  /** Multiaddrs with its peer id; none: it is in no network yet. */
  readonly addresses: readonly string[];
}

export interface KnownGateway {
  readonly peer: string;
  /** `silent`: no new heartbeat for three reads. It is replaced or settled soon. */
  readonly state: 'running' | 'silent';
}

/** Reads without a new heartbeat; gateways write one every second, and are read every five. */
const SILENT_READS = 3;

export class KnownGateways {
  #known: ReadonlyMap<number, GatewayObservation & { readonly reads: number }> = new Map();

  /** Must be called with all other gateways at each read. */
  note(rows: readonly GatewayObservation[]): void {
    this.#known = new Map(
      rows.map((row) => {
        const before = this.#known.get(row.id);
        return [row.id, { ...row, reads: before?.heartbeat === row.heartbeat ? before.reads + 1 : 0 }];
      }),
    );
  }

  /** Those in a network. */
  list(): readonly KnownGateway[] {
    return [...this.#known.values()].flatMap(({ addresses, reads }) => {
      const peer = addresses[0]?.split('/').at(-1);
      return peer ? [{ peer, state: reads >= SILENT_READS ? 'silent' : 'running' }] : [];
    });
  }
}
