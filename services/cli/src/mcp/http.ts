// MCP over Streamable HTTP, without sessions: each request has a server of its own, so that no state is kept for clients.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  type McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { readBounded } from '../bounded-input.ts';

export interface McpHttpOptions {
  readonly host: string;
  readonly port: number;
  /** Further names that are accepted in the headers Host and Origin. */
  readonly allowedHosts: readonly string[];
  /** API key for clients that send none. Set it only where `host` is a loopback address. */
  readonly sharedKey: string | undefined;
  readonly onError: (error: unknown) => void;
}

export interface McpHttp extends AsyncDisposable {
  readonly port: number;
}

export const MCP_PATH = '/mcp';

const limits = {
  /** Enough for an answer to verify, the longest input. */
  bodyBytes: 1024 * 1024,
  connections: 128,
  /** Messages in progress. Each calls the service at most once. A batch counts its members. */
  messages: 32,
  subscriptions: 16,
  headersMs: 10_000,
  requestMs: 30_000,
} as const;

/** Headers of proxies: the client may be on another machine, although the connection is local. */
const FORWARDED = /^(?:forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** Resolves when the server listens. */
export async function serveMcpHttp(
  serverFor: (key: string | undefined) => McpServer,
  { host, port, allowedHosts, sharedKey, onError }: McpHttpOptions,
): Promise<McpHttp> {
  const own = isIPv6(host) ? `[${host}]` : host;
  // Protects against DNS rebinding: the Host header then has the name of the attacker's page.
  const names = [...localhostAllowedHostnames(), own, ...allowedHosts];
  const handler = createMcpHandler(
    // Forwarded requests do not use the shared key.
    ({ requestInfo }) => {
      const isForwarded = [...(requestInfo?.headers.keys() ?? [])].some((name) => FORWARDED.test(name));
      return serverFor(requestInfo?.headers.get('x-stack-key') ?? (isForwarded ? undefined : sharedKey));
    },
    {
      maxRequestBodySize: limits.bodyBytes,
      maxSubscriptions: limits.subscriptions,
      onerror: onError,
    },
  );
  let inProgress = 0;
  const answer = async (from: IncomingMessage, { signal, take }: Slots): Promise<Response> => {
    const head = headOf(from);
    const rejected = hostHeaderValidationResponse(head, names) ?? originValidationResponse(head, names);
    if (rejected) return rejected;
    if (new URL(head.url).pathname !== MCP_PATH) return errorResponse(404, `The MCP endpoint is ${MCP_PATH}.`);
    if (head.method !== 'POST') return await handler.fetch(head);
    const body = await readBounded(from.iterator({ destroyOnReturn: false }), limits.bodyBytes);
    if (!body) {
      // The rest is read and discarded, so that the client receives the response.
      from.resume();
      return errorResponse(413, `The limit for a request is ${limits.bodyBytes} bytes.`);
    }
    const messages = messageCount(body);
    if (messages > limits.messages) return errorResponse(413, `The limit for a batch is ${limits.messages} messages.`);
    if (!take(messages - 1)) return errorResponse(503, TOO_MANY, 1);
    return await handler.fetch(new Request(head, { body, signal }));
  };
  const server = createServer({ headersTimeout: limits.headersMs, requestTimeout: limits.requestMs }, (from, to) => {
    const serve = async () => {
      let taken = 0;
      const take = (more: number) => {
        if (inProgress + more > limits.messages) return false;
        inProgress += more;
        taken += more;
        return true;
      };
      if (!take(1)) return await send(errorResponse(503, TOO_MANY, 1), to);
      const closing = new AbortController();
      to.once('close', () => closing.abort());
      try {
        await send(await answer(from, { signal: closing.signal, take }), to);
      } finally {
        inProgress -= taken;
      }
    };
    serve().catch((error: unknown) => {
      if (!to.destroyed && !to.headersSent) to.writeHead(500).end();
      else to.destroy();
      if (!isDisconnect(error)) onError(error);
    });
  });
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await handler.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Slots {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Reserves further messages; false where they would exceed the limit. */
  readonly take: (more: number) => boolean;
}

const TOO_MANY = 'Too many requests in progress.';

/** Number of messages in a body: the members of a batch (JSON-RPC 2.0, 6), otherwise 1. */
function messageCount(body: Uint8Array): number {
  const text = new TextDecoder().decode(body).trimStart();
  if (!text.startsWith('[')) return 1;
  try {
    return Math.max(1, (JSON.parse(text) as unknown[]).length);
  } catch {
    return 1;
  }
}

/** The request without its body. */
function headOf({ headersDistinct, method = 'GET', url = '/' }: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  // The host name of this URL is not used; the Host header is checked instead.
  return new Request(new URL(url.replace(/^\/*/, '/'), 'http://localhost'), { method, headers });
}

async function send(response: Response, to: ServerResponse): Promise<void> {
  to.writeHead(response.status, { ...Object.fromEntries(response.headers), 'x-content-type-options': 'nosniff' });
  if (!response.body) to.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), to);
}

function errorResponse(status: number, message: string, retryAfterSeconds?: number): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32_000, message }, id: null },
    { status, headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) } },
  );
}

function isDisconnect(error: unknown): boolean {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  return name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET';
}
