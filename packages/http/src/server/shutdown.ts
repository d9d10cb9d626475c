// Stops a server: requests in progress get time to finish, then their connections are closed.
import type { FastifyInstance } from 'fastify';
import type { Connections } from '../limits/connections.ts';
import type { PendingWork } from '../operations/pending-work.ts';

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
