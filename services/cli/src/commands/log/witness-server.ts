// A witness over HTTP (c2sp.org/tlog-witness), with limits on request size, time, and requests of each client address.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connections, countedAddress, type createLogger } from '@strata/http';
import { RateLimiter } from '@strata/limits';
import type { Witness } from '@strata/log';
import { noteText } from '@strata/receipts';
import { readBounded } from '../../bounded-input.ts';

export interface WitnessServerOptions {
  readonly host: string;
  readonly port: number;
  /** For each client address. */
  readonly requestsPerSecond: number;
  readonly logger: ReturnType<typeof createLogger>;
  /** Overrides of the default limits. */
  readonly limits?: Partial<typeof LIMITS>;
}

export interface WitnessServer extends AsyncDisposable {
  readonly port: number;
}

const LIMITS = {
  /** A proof of 63 lines, and a note with the maximum number of signatures. */
  bodyBytes: 65_536,
  connections: 1_024,
  headersMs: 5_000,
  requestMs: 10_000,
  /** Logged records of evidence. Signed checkpoints are public, so any client can send one with an invalid proof. */
  evidencePerHour: 60,
};
/** Interval at which Node checks for requests that take too long; its default is 30 s. */
const CHECK_MS = 1_000;
/** Remembered texts of evidence, each of which is logged once. */
const MAX_TEXTS = 1_000;

const TEXT = 'text/plain; charset=utf-8';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when the server listens. */
export async function serveWitness(
  witness: Witness,
  { host, port, requestsPerSecond, logger, limits: changes }: WitnessServerOptions,
): Promise<WitnessServer> {
  const limits = { ...LIMITS, ...changes };
  const rate = new RateLimiter({ limit: requestsPerSecond, period: 1_000, refill: 'window', now: Date.now });
  const logEvidence = evidenceLog(logger, limits);
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (connections.isExcess(request))
      return { status: 503, body: 'too many connections\n', headers: { 'retry-after': '5' } };
    const waitMs = rate.take(countedAddress(request.socket.remoteAddress ?? ''));
    if (waitMs > 0)
      return { status: 429, body: 'too many requests\n', headers: { 'retry-after': `${Math.ceil(waitMs / 1_000)}` } };
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/add-checkpoint') {
      if (request.method !== 'POST') return { status: 405, body: 'use POST\n', headers: { allow: 'POST' } };
      const body = (await readBounded(request, limits.bodyBytes))?.toString();
      if (body === undefined) return { status: 413, body: `the limit for a request is ${limits.bodyBytes} bytes\n` };
      const { evidence, ...answered } = await witness.addCheckpoint(body);
      if (evidence !== undefined) logEvidence(evidence);
      return answered;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, body: 'use GET\n', headers: { allow: 'GET, HEAD' } };
    if (path === '/') return { status: 200, body: `${witness.verifierKey}\n` };
    if (path === '/health') return { status: 200, body: 'ok\n' };
    const [, originHash = ''] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path) ?? [];
    const checkpoint = witness.checkpoint(originHash);
    if (checkpoint === undefined) return { status: 404, body: 'not found\n' };
    return { status: 200, body: checkpoint, headers: { 'cache-control': 'no-cache' } };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const {
      status,
      body,
      contentType = TEXT,
      headers,
    } = await answer(request).catch((error: unknown): Answer => {
      if (!request.destroyed) logger.error({ err: error }, 'request failed');
      return { status: 500, body: 'internal error\n' };
    });
    // A connection cannot be reused after a request that was not read completely.
    const more = request.complete ? {} : { connection: 'close' };
    response.writeHead(status, {
      'content-type': contentType,
      'x-content-type-options': 'nosniff',
      ...headers,
      ...more,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const timeouts = { headersTimeout: limits.headersMs, requestTimeout: limits.requestMs };
  const options = { ...timeouts, connectionsCheckingInterval: CHECK_MS };
  const server = createServer(options, (request, response) => void serve(request, response));
  const connections = new Connections(server, { limits });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      connections.closeSpare();
      // Requests in progress end within their own time limit.
      setTimeout(() => server.closeAllConnections(), limits.requestMs).unref();
      await closed;
    },
  };
}

/** Logs each text once, up to the hourly limit. */
function evidenceLog(logger: WitnessServerOptions['logger'], { evidencePerHour }: typeof LIMITS) {
  const rate = new RateLimiter({ limit: evidencePerHour, period: 3_600_000, refill: 'window', now: Date.now });
  const logged = new Set<string>();
  return (checkpoint: string): void => {
    const text = noteText(checkpoint);
    if (logged.has(text) || rate.take('evidence') > 0) return;
    if (logged.size === MAX_TEXTS) logged.clear();
    logged.add(text);
    logger.warn({ checkpoint }, 'refused a checkpoint signed by the log: the consistency proof is invalid');
  };
}
