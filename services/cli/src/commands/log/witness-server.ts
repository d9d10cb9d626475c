// A witness over HTTP (c2sp.org/tlog-witness): bounded in what it reads, how long it waits, and how often one address may ask.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connections, countedAddress, type createLogger, RateWindow } from '@strata/http';
import type { Witness } from '@strata/log';
import { noteText } from '@strata/receipts';

export interface WitnessServerOptions {
  readonly host: string;
  readonly port: number;
  /** Of one address. */
  readonly requestsPerSecond: number;
  readonly logger: ReturnType<typeof createLogger>;
  /** Other limits than the usual ones. */
  readonly limits?: Partial<typeof LIMITS>;
}

export interface WitnessServer extends AsyncDisposable {
  readonly port: number;
}

const LIMITS = {
  /** A proof of 63 lines, and a note with as many signatures as one has. */
  bodyBytes: 65_536,
  connections: 1_024,
  headersMs: 5_000,
  requestMs: 10_000,
  /** Signed checkpoints are public: anyone can send each of them with a proof that does not verify. */
  evidencePerHour: 60,
};
/** How often Node looks for requests that take too long; its default is 30 s. */
const CHECK_MS = 1_000;
/** Of evidence that is not logged again. */
const MAX_TEXTS = 1_000;

const TEXT = 'text/plain; charset=utf-8';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when it listens. */
export async function serveWitness(
  witness: Witness,
  { host, port, requestsPerSecond, logger, limits: changes }: WitnessServerOptions,
): Promise<WitnessServer> {
  const limits = { ...LIMITS, ...changes };
  const rate = new RateWindow({ limit: requestsPerSecond, windowMs: 1_000, now: () => new Date() });
  const logEvidence = evidenceLog(logger, limits);
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (connections.isExcess(request))
      return { status: 503, body: 'too many connections\n', headers: { 'retry-after': '5' } };
    const waitSeconds = rate.take(countedAddress(request.socket.remoteAddress ?? ''));
    if (waitSeconds > 0)
      return { status: 429, body: 'too many requests\n', headers: { 'retry-after': `${waitSeconds}` } };
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/add-checkpoint') {
      if (request.method !== 'POST') return { status: 405, body: 'POST is allowed\n', headers: { allow: 'POST' } };
      const body = await readBody(request, limits);
      if (body === undefined) return { status: 413, body: `a request has at most ${limits.bodyBytes} bytes\n` };
      const { evidence, ...answered } = await witness.addCheckpoint(body);
      if (evidence !== undefined) logEvidence(evidence);
      return answered;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, body: 'GET is allowed\n', headers: { allow: 'GET, HEAD' } };
    if (path === '/') return { status: 200, body: `${witness.verifierKey}\n` };
    if (path === '/health') return { status: 200, body: 'ok\n' };
    const [, originHash = ''] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path) ?? [];
    const checkpoint = witness.checkpoint(originHash);
    if (checkpoint === undefined) return { status: 404, body: 'there is nothing here\n' };
    return { status: 200, body: checkpoint, headers: { 'cache-control': 'no-cache' } };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const {
      status,
      body,
      contentType = TEXT,
      headers,
    } = await answer(request).catch((error: unknown): Answer => {
      if (!request.destroyed) logger.error({ err: error }, 'a request failed');
      return { status: 500, body: 'the witness failed\n' };
    });
    // What was not read to its end cannot carry another request.
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
  const connections = new Connections(server, { bounds: limits });
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
      // What is under way ends within its own time.
      setTimeout(() => server.closeAllConnections(), limits.requestMs).unref();
      await closed;
    },
  };
}

/** Logs each text once, and no more of them than the limit. */
function evidenceLog(logger: WitnessServerOptions['logger'], { evidencePerHour }: typeof LIMITS) {
  const rate = new RateWindow({ limit: evidencePerHour, windowMs: 3_600_000, now: () => new Date() });
  const logged = new Set<string>();
  return (checkpoint: string): void => {
    const text = noteText(checkpoint);
    if (logged.has(text) || rate.take('evidence') > 0) return;
    if (logged.size === MAX_TEXTS) logged.clear();
    logged.add(text);
    logger.warn({ checkpoint }, 'a checkpoint that the log signed was refused: its proof does not verify');
  };
}

/** The complete body, or undefined when there is more of it than is read. */
async function readBody(
  request: IncomingMessage,
  { bodyBytes }: Pick<typeof LIMITS, 'bodyBytes'>,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
