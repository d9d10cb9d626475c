// `strata mcp`.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { mcpHelp } from '../help.ts';
import type { McpCommandOptions } from './serve-mcp.ts';

const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  return value;
};

/** Adds the command to `strata`. */
export function addMcpCommand(strata: Command, context: CommandContext): void {
  strata
    .command('mcp')
    .description('serve the questions of the stack service as tools for agents (Model Context Protocol)')
    .addOption(new Option('--base, --base-url <url>', 'the service').env('STRATA_URL').default('http://127.0.0.1:8787'))
    .addOption(new Option('--key <key>', 'its API key').env('STRATA_KEY'))
    .addOption(
      new Option('--timeout <seconds>', 'how long one answer of the service may take')
        .argParser(wholeNumber(1, 300))
        .default(30),
    )
    .addOption(
      new Option(
        '--http [port]',
        'Streamable HTTP on a port (8789 by default) in place of standard input and output',
      ).argParser(wholeNumber(0, 65_535)),
    )
    .option('--host <address>', 'where HTTP listens', '127.0.0.1')
    .option('--allow-host <name...>', 'names that requests may be addressed to, such as that of a proxy')
    .option(
      '--lend-key',
      'let whoever reaches the port of --http ask with your key; else callers bring keys of their own',
    )
    .option('--ledger-key <key>', "C2SP verifier key of the ledger, to trust in place of the service's own")
    .addHelpText('after', mcpHelp)
    .action(async (options: McpCommandOptions) => (await import('./serve-mcp.ts')).mcpCommand(context, options));
}
