// Stops a server: requests in progress get time to finish, then their connections are closed.
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connections } from '../limits/connections.ts';

export interface ShutdownOptions {
  /** Called when the server stops: end what would never end by itself. */
  readonly onStopping?: () => void;
  /** Called after `shutdownMs`: end the responses in progress; they get a moment for their final events. */
  readonly onLate?: () => void;
  readonly shutdownMs?: number | undefined;
}

const SHUTDOWN_MS = 10_000;
const FINAL_EVENTS_MS = 1_000;
const SWEEP_MS = 50;

export async function shutDown(
  { fastify, connections, pending }: { fastify: FastifyInstance; connections: Connections; pending: PendingWork },
  { onStopping, onLate, shutdownMs = SHUTDOWN_MS }: ShutdownOptions,
): Promise<void> {
  const endsAt = performance.now() + shutdownMs + FINAL_EVENTS_MS;
  onStopping?.();
  let cut: NodeJS.Timeout | undefined;
  const late = setTimeout(() => {
    onLate?.();
    cut = setTimeout(() => fastify.server.closeAllConnections(), onLate ? FINAL_EVENTS_MS : 0);
  }, shutdownMs);
  // Connections that were busy when the server began to close become idle later: check again.
  const sweep = setInterval(() => {
    fastify.server.closeIdleConnections();
    connections.closeSpare();
  }, SWEEP_MS);
  try {
    await fastify.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(late);
    clearTimeout(cut);
  }
  // What is left of the same time: handlers of disconnected clients may still be at work.
  await pending.ended(Math.max(0, endsAt - performance.now()));
}

/** Handlers, which may outlive the connections of their clients, and use resources that a shutdown closes. */
export class PendingWork {
  readonly #works = new Set<Promise<unknown>>();

  /** Tracks the work and returns it. */
  add<Value>(work: Promise<Value>): Promise<Value> {
    const over = () => void this.#works.delete(work);
    this.#works.add(work);
    work.then(over, over);
    return work;
  }

  /** Resolves when all current work has ended, successfully or not, or after `limitMs`. */
  async ended(limitMs: number): Promise<void> {
    const timeout = new AbortController();
    const late = delay(limitMs, undefined, { signal: timeout.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#works), late]);
    timeout.abort();
  }
}
