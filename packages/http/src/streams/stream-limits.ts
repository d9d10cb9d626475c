// Limits of open streams by key, address and tier. Free keys are unlimited in number, so their streams never use the
// capacity of other keys.
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { ConnectionLimits, LimitName, ReportLimit } from '../limits/connection-settings.ts';
import { Connections } from '../limits/connections.ts';
import { countedAddress, networksOf } from '../limits/counted-address.ts';
import type { Metrics } from '../operations/metrics.ts';
import { ThrottledLog } from '../operations/throttled-log.ts';
import type { ApiKey } from '../route.ts';

export interface StreamCaller {
  /** Undefined if no key is needed: limited as free keys are. */
  readonly key: Pick<ApiKey, 'id' | 'tier'> | undefined;
  /** As the request has it, or from `countedAddress`. */
  readonly address: string;
}

/** Why a stream is refused. */
export interface ReachedLimit {
  readonly limit: LimitName;
  /** For the caller. */
  readonly detail: string;
}

interface StreamLimitsOptions {
  readonly limits: Pick<ConnectionLimits, 'streamsPerKey' | 'freeStreamsPerKey' | 'freeStreamsPerAddress'>;
  /** Connections of the service: each stream needs one. */
  readonly connections: number;
  readonly report: ReportLimit;
}

interface Limit extends ReachedLimit {
  readonly name: string;
  readonly max: number;
}

/** Across all keys. */
const MAX_STREAMS = 20_000;
/** Share of free keys in all streams. */
const FREE_SHARE = 1 / 4;

export class StreamLimits {
  readonly #options: StreamLimitsOptions;
  readonly #open = new Map<string, number>();

  constructor(options: StreamLimitsOptions) {
    this.#options = options;
  }

  /** The limit that another stream would exceed, which is reported; undefined if it may open. */
  reachedLimit(caller: StreamCaller): ReachedLimit | undefined {
    const reached = this.#limitsOf(caller).find(({ name, max }) => (this.#open.get(name) ?? 0) >= max);
    if (!reached) return undefined;
    const { key, address } = caller;
    this.#options.report(reached.limit, {
      max: reached.max,
      tier: key?.tier,
      keyId: key?.id,
      address: countedAddress(address),
    });
    return reached;
  }

  /** Counts a stream as open until the returned function is called. */
  take(caller: StreamCaller): () => void {
    const names = this.#limitsOf(caller).map(({ name }) => name);
    for (const name of names) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    return () => {
      // Idempotent.
      for (const name of names.splice(0)) {
        const left = (this.#open.get(name) ?? 1) - 1;
        if (left > 0) this.#open.set(name, left);
        else this.#open.delete(name);
      }
    };
  }

  #limitsOf({ key, address }: StreamCaller): readonly Limit[] {
    const { limits, connections } = this.#options;
    const tier = key?.tier ?? 'free';
    const isFree = tier === 'free';
    const max = Math.min(MAX_STREAMS, connections);
    const maxFree = Math.max(1, Math.floor(max * FREE_SHARE));
    const ofTier = {
      limit: 'streams-per-tier',
      ...(isFree ? { name: 'free keys', max: maxFree } : { name: 'keys', max: max - maxFree }),
      detail: 'Too many streams are open.',
    } as const;
    if (tier === 'unlimited') return [ofTier];
    const perKey = isFree ? limits.freeStreamsPerKey : limits.streamsPerKey;
    const ofKey: Limit = {
      ...{ limit: 'streams-per-key', name: `key ${key?.id}`, max: perKey },
      detail: `This key has reached its limit of ${perKey} open streams.`,
    };
    const ofNetworks = networksOf(address).map(({ name, times }): Limit => {
      const perNetwork = limits.freeStreamsPerAddress * times;
      return {
        ...{ limit: 'streams-per-address', name: `address ${name}`, max: perNetwork },
        detail: `Free keys of this address or network have reached the limit of ${perNetwork} open streams.`,
      };
    });
    return [...(key ? [ofKey] : []), ...(isFree ? ofNetworks : []), ofTier];
  }
}

/**
 * Limits the client connections of a server and their streams; adds metrics for both, and logs when a limit is reached.
 */
export function limitClients(
  server: Server,
  deps: {
    readonly limits: ConnectionLimits;
    readonly trustedProxies: readonly string[] | undefined;
    readonly logger: Logger;
    readonly metrics: Metrics;
  },
): { readonly connections: Connections; readonly streams: StreamLimits } {
  const { limits, trustedProxies, logger, metrics } = deps;
  const help = 'Connections and streams closed or refused because a limit was reached';
  const count = metrics.counter('strata_bounds_met_total', help, 'bound');
  const throttled = new ThrottledLog(logger);
  const report: ReportLimit = (bound, facts) => {
    count(bound);
    throttled.of(bound)?.warn({ bound, ...facts }, 'a limit of connections or streams is reached');
  };
  const connections = new Connections(server, { limits, trustedProxies, report });
  metrics.gauges('strata_connections', 'Client connections', 'state', () => connections.figures());
  return { connections, streams: new StreamLimits({ limits, connections: connections.max, report }) };
}
