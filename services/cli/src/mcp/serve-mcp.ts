// `strata mcp`: the questions of the stack service as tools of the Model Context Protocol.
import { once } from 'node:events';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { parseVerifierKey } from '@strata/receipts';
import { ledgerFileMemory } from '../commands/verify/ledger-file.ts';
import { type CommandContext, listenForInterruption } from '../context.ts';
import { CommandError, plainText } from '../output.ts';
import { serviceBase, serviceKey } from '../service-address.ts';
import { isLoopback, MCP_PATH, serveMcpHttp } from './http.ts';
import { mcpServers } from './server.ts';

export interface McpCommandOptions {
  readonly baseUrl: string;
  readonly key?: string;
  /** Seconds. */
  readonly timeout: number;
  /** A port, or true for the usual one; standard input and output without it. */
  readonly http?: number | true;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly lendKey?: boolean;
  readonly ledgerKey?: string;
}

const USUAL_PORT = 8789;

/** Serves until standard input ends, or SIGINT or SIGTERM. Throws CommandError (exit code 2) for options that cannot be. */
export async function mcpCommand(context: CommandContext, options: McpCommandOptions): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const say = (text: string) => void stderr.write(`strata mcp: ${plainText(text)}\n`);
  const log = (error: unknown) => say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const baseUrl = serviceBase(options.baseUrl);
  const key = serviceKey(options.key);
  const { http, ledgerKey } = options;
  if (ledgerKey !== undefined && !parseVerifierKey(ledgerKey))
    throw new CommandError('--ledger-key is no verifier key of a ledger (C2SP: name+id+key)', { exitCode: 2 });
  const isLent = mayLend(options, key);
  const memory = ledgerFileMemory(context);
  const serverFor = mcpServers({ baseUrl, ledgerKey, memory, timeoutMs: options.timeout * 1_000, onError: log });
  const { signal } = listenForInterruption(context);
  const stopped = once(signal, 'abort');
  if (http === undefined) {
    if (key === undefined) say('no API key: set STRATA_KEY; tools say how to get one');
    // Standard output is the protocol's: whatever else is printed by mistake must not break it.
    if (stdout === process.stdout) console.log = console.error;
    const transport = new StdioServerTransport(stdin, stdout);
    const stdio = serveStdio(() => serverFor(key), { onerror: log, transport });
    await Promise.race([stopped, once(stdin, 'close'), once(stdin, 'end')]);
    await stdio.close();
    return;
  }
  const port = http === true ? USUAL_PORT : http;
  const { host, allowHost: allowedHosts = [] } = options;
  const lent = isLent ? key : undefined;
  await using serving = await serveMcpHttp(serverFor, { host, port, allowedHosts, lent, onError: log });
  say(`MCP at http://${host.includes(':') ? `[${host}]` : host}:${serving.port}${MCP_PATH}, asking ${baseUrl}`);
  if (isLent)
    say('your key is lent (--lend-key): every program of this machine, and what it forwards here, asks with it');
  else if (key !== undefined)
    say(
      'your key is not lent: callers send their own as X-Stack-Key. To lend it to all programs of this machine: --lend-key',
    );
  else say('no key is lent: callers send their own as X-Stack-Key; tools say how to get one');
  await stopped;
}

/** Whether the key is lent to callers. Throws CommandError where that was asked for and cannot be. */
function mayLend({ lendKey = false, http, host, allowHost = [] }: McpCommandOptions, key: string | undefined): boolean {
  if (!lendKey) return false;
  const why =
    http === undefined
      ? 'is for --http: over standard input and output the agent that starts this asks with your key'
      : key === undefined
        ? 'needs a key to lend (--key, STRATA_KEY)'
        : !isLoopback(host) || allowHost.length > 0
          ? 'lends to this machine alone: not with --allow-host, nor with --host of another address'
          : undefined;
  if (why === undefined) return true;
  throw new CommandError(`--lend-key ${why}`, { exitCode: 2 });
}
