// The `strata` command. Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted; the help of `verify` lists further ones.
import type { Config } from '@strata/stack';
import { Command } from 'commander';
import { addCatalogCommands } from './commands/catalog/catalog-commands.ts';
import { addInferenceCommands } from './commands/inference/inference-commands.ts';
import { addLogCommands } from './commands/log/log-commands.ts';
import { addOperationsCommands } from './commands/operations/operations-commands.ts';
import { addStackCommands } from './commands/stack/stack-commands.ts';
import type { CommandContext, OutputStream } from './context.ts';
import { type DataOwner, dataOwner } from './data-owner.ts';
import { reportError } from './errors.ts';
import { addMcpCommand } from './mcp/mcp-command.ts';
import { effectiveEnvironment, readCommandSecrets } from './settings/settings.ts';
import { versionText } from './version.ts';

/** Runs one command and resolves with its exit code. Services listen to the signals of the process itself. */
export async function runCli(args: readonly string[], context: CommandContext): Promise<number> {
  const owner = dataOwner(context);
  try {
    await readCommandSecrets(context.env);
    await program(context, owner).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, context, owner);
  }
}

function program(context: CommandContext, owner: DataOwner): Command {
  // Each command imports what it needs when it runs: `explain` starts without a server or a database.
  const config = async (overrides: Readonly<Record<string, string>> = {}): Promise<Config> => {
    const { readConfig } = await import('@strata/stack');
    return owner.remember(readConfig({ ...(await effectiveEnvironment(context, 'stack')), ...overrides }));
  };
  const strata = new Command('strata')
    .description(
      'Stack Intelligence (the providers that a domain uses, with evidence, history and receipts) and Inference (chat completions)',
    )
    .version(versionText, '-V, --version', 'print the version of the command and of the API')
    .showHelpAfterError('(strata --help lists the commands)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => widthOf(context.stdout),
      getErrHelpWidth: () => widthOf(context.stderr),
    })
    .hook('preAction', (_strata, command) => setOptionVariables(command, context.env));
  strata
    .command('start')
    .description('run both services until SIGINT or SIGTERM')
    .action(async () => {
      const [{ readConfig }, { readGatewayConfig }] = await Promise.all([
        import('@strata/stack'),
        import('@strata/gateway'),
      ]);
      const { startCommand, withLinks } = await import('./commands/stack/start.ts');
      const settings = await effectiveEnvironment(context, 'stack');
      const { stack, inference } = withLinks(
        owner.remember(readConfig({ ...settings, STRATA_ROLE: 'all' })),
        owner.remember(readGatewayConfig(settings)),
      );
      await startCommand(context, stack, inference);
    });
  addStackCommands(
    strata.command('stack').description('scans, verification and operation of the stack service'),
    context,
    config,
  );
  addCatalogCommands(strata, context);
  addInferenceCommands(strata.command('inference').description('gateway, workers, models and chat'), context, owner);
  addLogCommands(strata, context);
  addMcpCommand(strata, context);
  addOperationsCommands(strata, context);
  return strata;
}

/** The terminal's width; commander's default of 80 elsewhere. */
const widthOf = ({ isTTY, columns }: OutputStream) => (isTTY && columns) || 80;

/** Sets options from their variables in the context. Commander itself reads `process.env`. */
function setOptionVariables(command: Command, env: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (option.envVar === undefined || command.getOptionValueSource(name) === 'cli') continue;
    const value = env[option.envVar];
    if (value !== undefined) command.setOptionValueWithSource(name, value, 'env');
    else if (command.getOptionValueSource(name) === 'env')
      command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}
