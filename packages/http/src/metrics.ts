// Prometheus metrics: requests by route and status, durations, the process itself; served on a port of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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

export interface MetricsOptions {
  readonly host: string;
  readonly port: number;
  /**
   * Of a process that serves nothing else: then `/health` says that it lives, and `/ready` what this resolves with, or 503 when it
   * rejects or takes too long.
   */
  readonly ready?: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Whoever asks whether a process is ready waits no longer. */
const READY_MS = 2_000;

/** Serves `/metrics` until disposed. */
export async function serveMetrics(
  metrics: Metrics,
  { ready, ...options }: MetricsOptions,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer(async (request, response) => {
    const sendJson = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    if (ready && request.url === '/health') return sendJson(200, { status: 'ok' });
    if (ready && request.url === '/ready') {
      const state = await inTime(ready()).catch(() => undefined);
      return state ? sendJson(200, { status: 'ready', ...state }) : sendJson(503, { status: 'unavailable' });
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await metrics.registry.metrics();
      response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text);
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

async function inTime<T>(work: Promise<T>): Promise<T> {
  const patience = new AbortController();
  const waited = delay(READY_MS, undefined, { signal: patience.signal }).then(() =>
    Promise.reject(new Error('too late')),
  );
  try {
    return await Promise.race([work, waited]);
  } finally {
    patience.abort();
    waited.catch(() => {});
  }
}
