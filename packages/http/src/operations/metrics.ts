// Prometheus metrics: requests by route and status, durations, and the process itself; served on a port of its own,
// with the health of the service for orchestrators.
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createHostGuard } from '../access/host-guard.ts';
import { answerSecurity } from '../access/security-headers.ts';
import { Connections, type Figures } from '../limits/connections.ts';
import { ERRORS } from '../problems/errors.ts';
import { Readiness } from './readiness.ts';
import { openCounter, openHistogram } from './recorders.ts';

export class Metrics {
  readonly registry = new Registry();
  #http: ReturnType<Metrics['openHttp']> | undefined;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  private openHttp() {
    const { registry } = this;
    return {
      requests: openCounter({
        ...{ name: 'strata_http_requests_total', help: 'Requests answered', registry },
        labels: ['method', 'route', 'status'],
      }),
      durations: openHistogram({
        ...{ name: 'strata_http_request_seconds', help: 'Time to answer', registry },
        buckets: [0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
      }),
    };
  }

  /** A recorder whose labels are resolved once, for the hot path. */
  routeMeter(method: string, route: string): (status: number, durationMs: number) => void {
    // Opened for the first route: a worker has none.
    this.#http ??= this.openHttp();
    const { requests, durations } = this.#http;
    const counterOf = byValue((status: number) => requests({ method, route, status: String(status) }));
    const took = durations({ route });
    return (status, durationMs) => {
      counterOf(status)();
      took(durationMs / 1_000);
    };
  }

  /** A gauge read on each scrape; if reading fails, it is omitted, and the other metrics are still served. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: async () => {
        try {
          gauge.set(await read());
        } catch {
          gauge.remove();
        }
      },
    });
  }

  /** The same with one label, whose values are few and known. Failed or missing values are omitted from the scrape. */
  gauges(name: string, help: string, label: string, read: () => Figures | Promise<Figures>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect: async () => {
        const figures = await Promise.resolve(read()).catch((): Figures => []);
        gauge.reset();
        for (const [value, figure] of figures) gauge.set({ [label]: value }, figure);
      },
    });
  }

  /** Free space of the disk that holds a directory. */
  disk(directory: string): void {
    this.gauge('strata_disk_free_bytes', 'Free space on the disk of the data directory', async () => {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    });
  }

  /** A counter whose value is maintained elsewhere; its name ends in `_total`. */
  total(name: string, help: string, read: () => number): void {
    const counter: Counter = new Counter({
      name,
      help,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        counter.inc(read());
      },
    });
  }

  /** A counter with one label, whose values are few and known. */
  counter(name: string, help: string, label: string): (value: string, by?: number) => void {
    const counter = openCounter({ name, help, labels: [label], registry: this.registry });
    const of = byValue((value: string) => counter({ [label]: value }));
    return (value, by) => of(value)(by);
  }

  /** A counter with several labels, whose values are few and known. */
  counters<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
  ): (values: Readonly<Record<Label, string>>) => void {
    const counter = new Counter({ name, help, labelNames: labels, registers: [this.registry] });
    return (values) => counter.inc(values);
  }

  /** A histogram with several labels, whose values are few and known. Returns a recorder for each combination. */
  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
  ): (values: Readonly<Partial<Record<Label, string>>>) => (value: number) => void {
    return openHistogram({ name, help, buckets, registry: this.registry });
  }

  /** Durations in seconds with one label, whose values are few and known. */
  durations(
    name: string,
    help: string,
    { label, buckets }: { readonly label: string; readonly buckets: readonly number[] },
  ): (value: string, durationMs: number) => void {
    const histogram = openHistogram({ name, help, buckets, registry: this.registry });
    const of = byValue((value: string) => histogram({ [label]: value }));
    return (value, durationMs) => of(value)(durationMs / 1_000);
  }
}

/** Finds the metric of each value once: that costs more than counting. */
function byValue<Value, Child>(childOf: (value: Value) => Child): (value: Value) => Child {
  const known = new Map<Value, Child>();
  return (value) => {
    const child = known.get(value) ?? childOf(value);
    known.set(value, child);
    return child;
  };
}

/** Operators need few. */
const MAX_CONNECTIONS = 64;

/** Serves `/metrics` and the service's `/health` and `/ready`, until disposed. */
export async function serveMetrics(
  metrics: Metrics,
  options: { readonly host: string; readonly port: number; readonly readiness?: Readiness },
): Promise<AsyncDisposable & { readonly port: number }> {
  const { readiness = Readiness.always() } = options;
  const isReady = async () => ((await readiness.ready()).status === 200 ? 1 : 0);
  metrics.gauge('strata_ready', '1 while /ready reports ready, else 0', isReady);
  const hostGuard = createHostGuard({ host: options.host, allowedHosts: [] });
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const refusal = hostGuard.refusalOf({ headers, host: headers.host ?? '', raw: request });
    if (refusal) {
      const { status } = ERRORS[refusal.code];
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${refusal.message}\n`);
      return;
    }
    if (request.url === '/health' || request.url === '/ready') {
      const { status, body } = request.url === '/health' ? readiness.health() : await readiness.ready();
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(body));
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await metrics.registry.metrics();
      response.writeHead(200, { ...answerSecurity, 'content-type': metrics.registry.contentType }).end(text);
    } catch {
      response.writeHead(500).end();
    }
  });
  new Connections(server, { limits: { connections: MAX_CONNECTIONS, connectionsPerAddress: MAX_CONNECTIONS } });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
