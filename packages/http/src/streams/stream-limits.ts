// Open streams by key, address and tier. Anyone can get a free key, so streams of free keys never use the capacity of other keys.
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { BoundName, Bounds, ReportBound } from '../limits/connection-settings.ts';
import { Connections } from '../limits/connections.ts';
import { networksOf } from '../limits/counted-address.ts';
import { boundReport, type Metrics } from '../operations/metrics.ts';
import type { ApiKey } from '../route.ts';

export interface StreamCaller {
  /** Undefined where none is needed: bounded as free ones are. */
  readonly key: Pick<ApiKey, 'id' | 'tier'> | undefined;
  /** As `countedAddress` gives it. */
  readonly address: string;
}

/** Why a stream is refused. */
export interface MetBound {
  readonly bound: BoundName;
  /** For the caller. */
  readonly detail: string;
}

export interface StreamBoundsOptions {
  readonly bounds: Pick<Bounds, 'streamsPerKey' | 'freeStreamsPerKey' | 'freeStreamsPerAddress'>;
  /** How many the service takes: each stream needs one. */
  readonly connections: number;
  readonly report: ReportBound;
}

interface Line extends MetBound {
  readonly name: string;
  readonly max: number;
}

/** Of all keys. */
const MAX_STREAMS = 20_000;
/** Of all streams, those of free keys; the rest is for the others. */
const FREE_SHARE = 1 / 4;

export class StreamBounds {
  readonly #options: StreamBoundsOptions;
  readonly #open = new Map<string, number>();

  constructor(options: StreamBoundsOptions) {
    this.#options = options;
  }

  /** The bound that another stream would exceed, which is reported; undefined where it may open. */
  met(caller: StreamCaller): MetBound | undefined {
    const line = this.#linesOf(caller).find(({ name, max }) => (this.#open.get(name) ?? 0) >= max);
    if (!line) return undefined;
    const { key, address } = caller;
    this.#options.report(line.bound, { max: line.max, tier: key?.tier, keyId: key?.id, address });
    return line;
  }

  /** Counts a stream as open until what it returns is called. */
  take(caller: StreamCaller): () => void {
    const names = this.#linesOf(caller).map(({ name }) => name);
    for (const name of names) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    return () => {
      // Once.
      for (const name of names.splice(0)) {
        const left = (this.#open.get(name) ?? 1) - 1;
        if (left > 0) this.#open.set(name, left);
        else this.#open.delete(name);
      }
    };
  }

  #linesOf({ key, address }: StreamCaller): readonly Line[] {
    const { bounds, connections } = this.#options;
    const max = Math.min(MAX_STREAMS, connections);
    const tier = key?.tier ?? 'free';
    const maxFree = Math.max(1, Math.floor(max * FREE_SHARE));
    const ofKey = (perKey: number): Line[] =>
      key
        ? [
            {
              bound: 'streams-per-key',
              name: `key ${key.id}`,
              max: perKey,
              detail: `This key has ${perKey} streams open, as many as it may have.`,
            },
          ]
        : [];
    const ofTier = (name: string, perTier: number): Line => ({
      ...{ bound: 'streams-per-tier', name, max: perTier, detail: 'Too many streams are open.' },
    });
    if (tier === 'unlimited') return [ofTier('keys', max - maxFree)];
    if (tier !== 'free') return [...ofKey(bounds.streamsPerKey), ofTier('keys', max - maxFree)];
    const ofNetworks = networksOf(address).map(({ name, times }): Line => {
      const perNetwork = bounds.freeStreamsPerAddress * times;
      return {
        ...{ bound: 'streams-per-address', name: `address ${name}`, max: perNetwork },
        detail: `Free keys have ${perNetwork} streams open at this address or network, as many as they may have.`,
      };
    });
    return [...ofKey(bounds.freeStreamsPerKey), ...ofNetworks, ofTier('free keys', maxFree)];
  }
}

/** Bounds the connections of a server to its clients, and what is open on them; counts both, and logs when a bound is met. */
export function boundClients(
  server: Server,
  parts: {
    readonly bounds: Bounds;
    readonly trustedProxies: readonly string[] | undefined;
    readonly logger: Logger;
    readonly metrics: Metrics;
  },
): { readonly connections: Connections; readonly streams: StreamBounds } {
  const { bounds, trustedProxies, logger, metrics } = parts;
  const report = boundReport(logger, metrics);
  const connections = new Connections(server, { bounds, trustedProxies, report });
  metrics.gauges('strata_connections', 'Connections of clients', 'state', () => connections.figures());
  return { connections, streams: new StreamBounds({ bounds, connections: connections.max, report }) };
}
