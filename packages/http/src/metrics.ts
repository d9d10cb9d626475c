// Prometheus metrics: requests by route and status, durations, the process itself; served on a port of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createFrontDoor } from './front-door.ts';
import { answerSecurity } from './security-headers.ts';

export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #durations: Histogram<'route'>;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'strata_http_requests_total',
      help: 'Requests answered',
      labelNames: ['method', 'route', 'status'],
      registers: [this.registry],
    });
    this.#durations = new Histogram({
      name: 'strata_http_request_seconds',
      help: 'Time to answer',
      labelNames: ['route'],
      buckets: [0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
      registers: [this.registry],
    });
  }

  /** A meter whose labels are resolved once, for the hot path. */
  routeMeter(method: string, route: string): (status: number, durationMs: number) => void {
    const byStatus = new Map<number, Counter.Internal>();
    const durations = this.#durations.labels({ route });
    return (status, durationMs) => {
      let counter = byStatus.get(status);
      if (!counter) {
        counter = this.#requests.labels({ method, route, status: String(status) });
        byStatus.set(status, counter);
      }
      counter.inc();
      durations.observe(durationMs / 1_000);
    };
  }

  /** A figure read when Prometheus asks. */
  gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: () => gauge.set(read()),
    });
  }
}

/** Serves `/metrics` until disposed. */
export async function serveMetrics(
  metrics: Metrics,
  options: { readonly host: string; readonly port: number },
): Promise<AsyncDisposable & { readonly port: number }> {
  const frontDoor = createFrontDoor({ host: options.host, allowedHosts: [] });
  const server = createServer(async (request, response) => {
    const away = frontDoor({ headers: request.headers, host: request.headers.host ?? '', raw: request });
    if (away) {
      response.writeHead(away.status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${away.detail}\n`);
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
