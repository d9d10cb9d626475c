// `strata mcp`.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { integerBetween } from '../option-parsers.ts';
import type { McpCommandOptions } from './serve-mcp.ts';

const mcpHelp = `
An agent starts the server itself. Its configuration contains the command, its arguments and the environment, with full paths:
  {"mcpServers": {"strata": {
    "command": "/path/to/strata/node_modules/.bin/node",
    "args": ["/path/to/strata/services/cli/src/main.ts", "mcp"],
    "env": {"STRATA_KEY": "ssk_..."}}}}
For agents that connect to a URL, start it manually; it listens on http://127.0.0.1:8789/mcp:
  strata mcp --http                                  clients send their own key in the header X-Stack-Key
  STRATA_KEY=ssk_... strata mcp --http --lend-key    all programs on this machine use your key

Exit codes:
  0  standard input ended, or stopped by SIGINT or SIGTERM
  1  it cannot listen, for example because the port is in use
  2  usage error: an invalid URL, key or option`;

export function addMcpCommand(strata: Command, context: CommandContext): void {
  strata
    .command('mcp')
    .description('serve the stack service as tools for agents (Model Context Protocol)')
    .addOption(
      new Option('--base, --base-url <url>', 'URL of the stack service')
        .env('STRATA_URL')
        .default('http://127.0.0.1:8787'),
    )
    .addOption(new Option('--key <key>', 'API key of the stack service').env('STRATA_KEY'))
    .addOption(
      new Option('--timeout <seconds>', 'time limit for a request to the service')
        .argParser(integerBetween(1, 300))
        .default(30),
    )
    .addOption(
      new Option(
        '--http [port]',
        'serve Streamable HTTP on a port (8789 by default) instead of standard input and output',
      ).argParser(integerBetween(0, 65_535)),
    )
    .option('--host <address>', 'listen address for --http', '127.0.0.1')
    .option('--allow-host <name...>', 'further accepted host names, such as that of a proxy')
    .option('--lend-key', 'let clients of --http without a key use yours; by default each client sends its own')
    .option('--ledger-key <key>', 'C2SP verifier key of the ledger, instead of the one that the service publishes')
    .addHelpText('after', mcpHelp)
    .action(async (options: McpCommandOptions) => (await import('./serve-mcp.ts')).mcpCommand(context, options));
}
