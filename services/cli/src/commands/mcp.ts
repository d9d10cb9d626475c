// `strata mcp`: the questions of the stack service as tools of the Model Context Protocol.
import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { MCP_PATH, serveMcpHttp } from '../mcp/http.ts';
import { mcpServers } from '../mcp/server.ts';
import { plainText } from '../output.ts';
import { serviceBase, serviceKey } from '../service-address.ts';

export interface McpCommandOptions {
  readonly baseUrl: string;
  readonly key?: string;
  /** Seconds. */
  readonly timeout: number;
  /** A port, or true for the usual one; standard input and output without it. */
  readonly http?: number | true;
  readonly host: string;
  readonly allowHost?: readonly string[];
}

const USUAL_PORT = 8789;

/** Serves until standard input ends, or SIGINT or SIGTERM. */
export async function mcpCommand(options: McpCommandOptions): Promise<void> {
  const baseUrl = serviceBase(options.baseUrl);
  const key = serviceKey(options.key);
  const serverFor = mcpServers({ baseUrl, timeoutMs: options.timeout * 1_000, onError: log });
  const { http } = options;
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  if (key === undefined) say('no API key: set STRATA_KEY; tools say how to get one');
  if (http === undefined) {
    // Standard output is the protocol's: whatever else is printed by mistake must not break it.
    console.log = console.error;
    const stdio = serveStdio(() => serverFor(key), { onerror: log });
    await Promise.race([stopped, once(process.stdin, 'close'), once(process.stdin, 'end')]);
    await stdio.close();
    return;
  }
  const port = http === true ? USUAL_PORT : http;
  const { host, allowHost: allowedHosts = [] } = options;
  await using serving = await serveMcpHttp(serverFor, { host, port, allowedHosts, key, onError: log });
  say(`MCP at http://${host.includes(':') ? `[${host}]` : host}:${serving.port}${MCP_PATH}, asking ${baseUrl}`);
  await stopped;
}

function say(text: string): void {
  process.stderr.write(`strata mcp: ${plainText(text)}\n`);
}

function log(error: unknown): void {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
