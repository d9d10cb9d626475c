// MCP over Streamable HTTP. Without sessions: each request has a server of its own, so that nothing is kept for callers.
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

export interface McpHttpOptions {
  readonly host: string;
  readonly port: number;
  /** Names besides the host's own that requests may be addressed to, and pages come from. */
  readonly allowedHosts: readonly string[];
  /** The key that callers who bring none ask with; whoever sets it has seen to it that only this machine can ask. */
  readonly lent: string | undefined;
  readonly onError: (error: unknown) => void;
}

export interface McpHttp extends AsyncDisposable {
  readonly port: number;
}

export const MCP_PATH = '/mcp';

const limits = {
  /** An answer to verify fits; nothing else is nearly as long. */
  bodyBytes: 1024 * 1024,
  connections: 128,
  /** Questions under way, at most; each asks the service at most once. A batch has as many as it has members. */
  questions: 32,
  subscriptions: 16,
  headersMs: 10_000,
  requestMs: 30_000,
} as const;

/** A proxy's marks: who asks is not on this machine, though the connection comes from it. */
const FORWARDED = /^(?:forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Resolves when it listens. */
export async function serveMcpHttp(
  serverFor: (key: string | undefined) => McpServer,
  { host, port, allowedHosts, lent, onError }: McpHttpOptions,
): Promise<McpHttp> {
  const own = isIPv6(host) ? `[${host}]` : host;
  // Against DNS rebinding: a page's name that leads here is none of these.
  const names = [...localhostAllowedHostnames(), own, ...allowedHosts];
  const handler = createMcpHandler(
    // Whoever comes from elsewhere does not spend this machine's quota.
    ({ requestInfo }) => {
      const isElsewhere = [...(requestInfo?.headers.keys() ?? [])].some((name) => FORWARDED.test(name));
      return serverFor(requestInfo?.headers.get('x-stack-key') ?? (isElsewhere ? undefined : lent));
    },
    {
      maxRequestBodySize: limits.bodyBytes,
      maxSubscriptions: limits.subscriptions,
      onerror: onError,
    },
  );
  let underWay = 0;
  const answer = async (from: IncomingMessage, { signal, take }: Asked): Promise<Response> => {
    const head = headOf(from);
    const rejected = hostHeaderValidationResponse(head, names) ?? originValidationResponse(head, names);
    if (rejected) return rejected;
    if (new URL(head.url).pathname !== MCP_PATH) return told(404, `MCP is at ${MCP_PATH}.`);
    if (head.method !== 'POST') return await handler.fetch(head);
    const body = await readBody(from);
    if (!body) return told(413, `A request has at most ${limits.bodyBytes} bytes.`);
    const questions = membersOf(body);
    if (questions > limits.questions) return told(413, `A batch has at most ${limits.questions} members.`);
    if (!take(questions - 1)) return told(503, TOO_MANY, 1);
    return await handler.fetch(new Request(head, { body, signal }));
  };
  const server = createServer({ headersTimeout: limits.headersMs, requestTimeout: limits.requestMs }, (from, to) => {
    const serve = async () => {
      let taken = 0;
      const take = (more: number) => {
        if (underWay + more > limits.questions) return false;
        underWay += more;
        taken += more;
        return true;
      };
      if (!take(1)) return await send(told(503, TOO_MANY, 1), to);
      const leaving = new AbortController();
      to.once('close', () => leaving.abort());
      try {
        await send(await answer(from, { signal: leaving.signal, take }), to);
      } finally {
        underWay -= taken;
      }
    };
    serve().catch((error: unknown) => {
      // The connection is gone, or something is wrong here: there is nobody to tell, or nothing to tell them.
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

/** A request, and how it comes by the right to ask more than one question. */
interface Asked {
  readonly signal: AbortSignal;
  /** False where so many more would be too many. */
  readonly take: (more: number) => boolean;
}

const TOO_MANY = 'Too many questions are under way.';

/** Messages of a body: those of a batch (JSON-RPC 2.0, 6), else one, whatever it is. */
function membersOf(body: Uint8Array): number {
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
  // The name in it is never read: the Host header is, and is checked.
  return new Request(new URL(url.replace(/^\/*/, '/'), 'http://localhost'), { method, headers });
}

/** The whole body, or undefined when it is too long: then the rest is read and dropped, so that the answer is heard. */
function readBody(from: IncomingMessage): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    from.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limits.bodyBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(undefined);
      }
    });
    from.once('end', () => resolve(Buffer.concat(chunks)));
    from.once('error', reject);
    from.once('close', () => reject(Object.assign(new Error('the request broke off'), { code: 'ECONNRESET' })));
  });
}

async function send(response: Response, to: ServerResponse): Promise<void> {
  to.writeHead(response.status, { ...Object.fromEntries(response.headers), 'x-content-type-options': 'nosniff' });
  if (!response.body) to.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), to);
}

function told(status: number, message: string, retryAfterSeconds?: number): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32_000, message }, id: null },
    { status, headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) } },
  );
}

function isDisconnect(error: unknown): boolean {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  return name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET';
}
