// The SDK's own client at the command's two ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { freePort } from '../../../../tests/support/free-port.ts';
import { runCli } from '../run-cli.ts';
import { TestContext } from './run-strata.ts';

type Environment = Readonly<Record<string, string>>;
type Given = Record<string, unknown>;

const newClient = () => new Client({ name: 'test', version: '1.0.0' });

export async function callTool(client: Client, name: string, given: Given = {}, signal?: AbortSignal) {
  const result = await client.callTool({ name, arguments: given }, signal ? { signal } : {});
  const [first] = result.content;
  return {
    isError: result.isError === true,
    text: first?.type === 'text' ? first.text : '',
    // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
    body: result.structuredContent as any,
  };
}

/** Starts the command and connects to its standard input and output. */
export async function startMcp(env: Environment, args: readonly string[] = []) {
  const context = new TestContext(env);
  const ended = runCli(['mcp', ...args], context);
  const client = newClient();
  await client.connect(new StdioServerTransport(context.stdout, context.stdin));
  return {
    client,
    stderr: () => context.stderr.text,
    call: (name: string, given?: Given, signal?: AbortSignal) => callTool(client, name, given, signal),
    async [Symbol.asyncDispose]() {
      await client.close();
      context.stdin.end();
      await ended;
    },
  };
}

export const closedAddress = async () => `http://127.0.0.1:${await freePort()}`;

/** Starts the command with `--http` on a port of the system's choice. */
export async function startMcpHttp(env: Environment, args: readonly string[] = []) {
  const context = new TestContext(env);
  const ended = runCli(['mcp', '--http', '0', ...args], context);
  const found = Promise.withResolvers<string>();
  context.stderr.on('text', () => {
    // The line about the API key is printed last.
    const port = /MCP at http:\S+:(\d+)\/mcp[\s\S]*API key: /.exec(context.stderr.text)?.[1];
    if (port !== undefined) found.resolve(port);
  });
  ended.then(() => found.reject(new Error(`it ended: ${context.stderr.text}`)), found.reject);
  const url = new URL(`http://127.0.0.1:${await found.promise}/mcp`);
  return {
    url,
    stderr: () => context.stderr.text,
    /** A client of its own, closed by the caller; `headers` go with each of its requests. */
    async connect(headers: Record<string, string> = {}) {
      const client = newClient();
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      return client;
    },
    /** One request as it is, whatever its headers. */
    async post(body: string | Readable, more: Record<string, string> = {}, target = url.pathname) {
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...more };
      const request = httpRequest({ host: url.hostname, port: url.port, path: target, method: 'POST', headers });
      // A server that has read enough may end the connection before the request is over.
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      if (typeof body === 'string') request.end(body);
      else body.pipe(request);
      const [response] = await answered;
      request.on('error', () => {});
      const { statusCode = 0 } = response;
      return { status: statusCode, headers: response.headers, text: await text(response) };
    },
    async [Symbol.asyncDispose]() {
      context.kill('SIGTERM');
      assert.equal(await ended, 0);
    },
  };
}
