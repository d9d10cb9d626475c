// `strata mcp`: serves the stack service as tools of the Model Context Protocol.
import { once } from 'node:events';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { ledgerFileMemory } from '../commands/verify/ledger-file.ts';
import type { CommandContext } from '../context.ts';
import { usageError } from '../errors.ts';
import { listenForInterruption } from '../interruption.ts';
import { verifierKey } from '../option-parsers.ts';
import { plainText } from '../output.ts';
import { checkedKey, isLoopback, stackBase } from '../service-address.ts';
import { MCP_PATH, serveMcpHttp } from './http.ts';
import { mcpServers } from './server.ts';

export interface McpCommandOptions {
  readonly baseUrl: string;
  readonly key?: string;
  /** Seconds. */
  readonly timeout: number;
  /** A port, or true for the default one; without it, standard input and output. */
  readonly http?: number | true;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly lendKey?: boolean;
  readonly ledgerKey?: string;
}

const DEFAULT_PORT = 8789;

/** Serves until standard input ends, or SIGINT or SIGTERM. Throws CommandError (exit code 2) for invalid options. */
export async function mcpCommand(context: CommandContext, options: McpCommandOptions): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const print = (text: string) => void stderr.write(`strata mcp: ${plainText(text)}\n`);
  const log = (error: unknown) => print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const baseUrl = stackBase(options.baseUrl);
  const key = checkedKey(options.key, '--key, STRATA_KEY');
  const { http, ledgerKey } = options;
  if (ledgerKey !== undefined) verifierKey(ledgerKey);
  const isShared = isKeyShared(options, key);
  const memory = ledgerFileMemory(context);
  const serverFor = mcpServers({ baseUrl, ledgerKey, memory, timeoutMs: options.timeout * 1_000, onError: log });
  const { signal } = listenForInterruption(context);
  const stopped = once(signal, 'abort');
  if (http === undefined) {
    if (key === undefined) print('no API key; set STRATA_KEY. The tools return instructions for getting one');
    // Standard output carries the protocol, so a stray console.log must not write to it.
    if (stdout === process.stdout) console.log = console.error;
    const transport = new StdioServerTransport(stdin, stdout);
    const stdio = serveStdio(() => serverFor(key), { onerror: log, transport });
    await Promise.race([stopped, once(stdin, 'close'), once(stdin, 'end')]);
    await stdio.close();
    return;
  }
  const port = http === true ? DEFAULT_PORT : http;
  const { host, allowHost: allowedHosts = [] } = options;
  const sharedKey = isShared ? key : undefined;
  await using serving = await serveMcpHttp(serverFor, { host, port, allowedHosts, sharedKey, onError: log });
  print(`MCP at http://${host.includes(':') ? `[${host}]` : host}:${serving.port}${MCP_PATH}, service ${baseUrl}`);
  if (isShared)
    print('API key: shared (--lend-key) with all programs on this machine, and with what they forward here');
  else if (key !== undefined)
    print(
      'API key: not shared; clients send their own as X-Stack-Key. To share it with all local programs: --lend-key',
    );
  else print('API key: none; clients send their own as X-Stack-Key. The tools return instructions for getting one');
  await stopped;
}

/** Whether clients without a key use the server's. Throws CommandError where --lend-key cannot be used. */
function isKeyShared(
  { lendKey = false, http, host, allowHost = [] }: McpCommandOptions,
  key: string | undefined,
): boolean {
  if (!lendKey) return false;
  const why =
    http === undefined
      ? 'can only be used with --http; over standard input and output, the agent uses your key anyway'
      : key === undefined
        ? 'needs a key (--key, STRATA_KEY)'
        : !isLoopback(host) || allowHost.length > 0
          ? 'shares the key with this machine only: it cannot be combined with --allow-host, or --host of another address'
          : undefined;
  if (why === undefined) return true;
  throw usageError(`--lend-key ${why}`);
}
