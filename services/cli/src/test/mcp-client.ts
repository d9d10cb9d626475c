// The SDK's own client at the command's two ends, and a service that answers whatever a test wants.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const main = path.join(import.meta.dirname, '../main.ts');
const guard = path.join(import.meta.dirname, 'loopback-only.ts');

/** How a process of the command is started. */
export const mcpProcess = (args: readonly string[], env: Readonly<Record<string, string>>) => ({
  command: process.execPath,
  args: ['--import', guard, main, 'mcp', ...args],
  env: { PATH: process.env.PATH ?? '', ...env },
});

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
  readonly body: any;
}

export interface McpTester extends AsyncDisposable {
  readonly client: Client;
  /** What was written to standard error so far. */
  stderr(): string;
  call(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>;
}

export async function callTool(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: given }, signal ? { signal } : {});
  const [first] = result.content;
  return {
    isError: result.isError === true,
    text: first?.type === 'text' ? first.text : '',
    body: result.structuredContent,
  };
}

/** Starts the command and connects to its standard input and output. */
export async function startMcp(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<McpTester> {
  const transport = new StdioClientTransport({ ...mcpProcess(args, env), stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return {
    client,
    stderr: () => stderr,
    call: (name, given, signal) => callTool(client, name, given, signal),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A service of the test's making; its `base` is where it listens. */
export async function fakeService(answer: RequestListener): Promise<AsyncDisposable & { readonly base: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
