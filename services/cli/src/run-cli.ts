// The `strata` command: thin commands over the packages. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted;
// `verify` has more, told in its help.
import { Command, CommanderError, Option } from 'commander';
import { addFeedCommands } from './commands/feeds/feed-commands.ts';
import { addInferenceCommands } from './commands/inference/inference-commands.ts';
import { addKeyCommands } from './commands/keys/key-commands.ts';
import { addLogCommands } from './commands/log/log-commands.ts';
import { addOperationsCommands } from './commands/operations/operations-commands.ts';
import type { ScanOptions } from './commands/scan/scan.ts';
import { addEnrichCommands } from './commands/stack/enrich-commands.ts';
import type { ExplainOptions } from './commands/stack/explain.ts';
import type { MigrateStoreOptions } from './commands/store/migrate-store.ts';
import { addStoreCommands } from './commands/store/store-commands.ts';
import { addLedgerOptions } from './commands/verify/ledger-options.ts';
import type { VerifyOptions } from './commands/verify/verify.ts';
import type { CommandContext, OutputStream } from './context.ts';
import { type DataOwner, dataOwner } from './data-owner.ts';
import { explainHelp, fingerprintsHelp, migrateLogHelp, migrateStoreHelp, serveHelp, verifyHelp } from './help.ts';
import { addMcpCommand } from './mcp/mcp-command.ts';
import { CommandError, counted, type OutputOptions, plainText } from './output.ts';
import type { ServiceName } from './settings/tables.ts';
import { versionText } from './version.ts';

/** Runs one command and resolves with its exit code; streams and environment come from `context`; services listen to the process's signals. */
export async function runCli(args: readonly string[], context: CommandContext): Promise<number> {
  const owner = dataOwner(context);
  try {
    await (await import('./settings/settings.ts')).takeCommandSecrets(context.env);
    await program(context, owner).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, context, owner);
  }
}

function program(context: CommandContext, owner: DataOwner): Command {
  // Each command loads what it needs when it is called: `explain` starts without a server or a database.
  const environment = async (service: ServiceName) =>
    (await import('./settings/settings.ts')).effectiveEnvironment(context.env, service);
  const config = async (more: Readonly<Record<string, string>> = {}) =>
    owner.remember((await import('@strata/stack')).readConfig({ ...(await environment('stack')), ...more }));

  const strata = new Command('strata')
    .description(
      "Which technology providers a company's domain uses, with evidence, history and signed answers; and chat completions",
    )
    .version(versionText, '-V, --version', 'print the version of this command, and that of the API')
    .showHelpAfterError('(strata --help lists the commands)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => widthOf(context.stdout),
      getErrHelpWidth: () => widthOf(context.stderr),
    })
    .hook('preAction', (_strata, command) => takeVariables(command, context.env));
  strata
    .command('start')
    .description('run both services until SIGINT or SIGTERM; settings come from STRATA_* variables')
    .action(async () => {
      const { readGatewayConfig } = await import('@strata/gateway');
      const { startCommand, whereBothAre } = await import('./commands/stack/start.ts');
      const { stack, inference } = whereBothAre(
        await config({ STRATA_ROLE: 'all' }),
        owner.remember(readGatewayConfig(await environment('gateway'))),
      );
      await startCommand(context, stack, inference);
    });
  const stack = strata.command('stack').description('the Stack Intelligence service');

  stack
    .command('serve')
    .description('run the service until SIGINT or SIGTERM; settings come from STRATA_* variables')
    .addOption(
      // The names stand in the table of settings too; loading it would cost every command half a second.
      new Option('--role <role>', 'what this process does of the whole; other than all with PostgreSQL only').choices([
        'all',
        'api',
        'scanner',
        'scheduler',
      ]),
    )
    .addHelpText('after', serveHelp)
    .action(async ({ role }: { readonly role?: string }) => {
      const settings = await config(role === undefined ? {} : { STRATA_ROLE: role });
      await (await import('./commands/stack/serve.ts')).serveCommand(context, settings);
    });
  stack
    .command('scan')
    .description('scan domains now: names, a file with one a line, or - for standard input')
    .argument('<target...>', 'a file, - or domain names')
    .option('--force', 'scan also what was scanned lately')
    .option('--json', 'print the summary as JSON')
    .action(async (targets: string[], options: ScanOptions) => {
      const { scanCommand } = await import('./commands/scan/scan.ts');
      await scanCommand(context, targets, options, await config());
    });
  addLedgerOptions(stack.command('verify'), 'service')
    .description('verify the receipt of an answer, and that its ledger is the known one')
    .argument('<url | file>', 'the URL of an answer, or a file that holds one (- for standard input)')
    .addOption(new Option('--key <key>', 'API key to ask the URL with').env('STRATA_KEY'))
    .option('--base <url>', 'the service that gave a saved answer', 'http://127.0.0.1:8787')
    .option('--provenance <file>', 'for a saved CSV: its response headers, or the JSON of its Stack-Provenance header')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', verifyHelp)
    .action(async (target: string, options: VerifyOptions) => {
      const { verifyCommand } = await import('./commands/verify/verify.ts');
      await verifyCommand(context, target, options);
    });
  stack
    .command('explain')
    .description(
      'records in on standard input, one JSON object a line; the detected services out, one line each; no network',
    )
    .addOption(
      new Option('--fingerprints <paths>', 'community sets beside the catalog, comma-separated').env(
        'STRATA_FINGERPRINTS',
      ),
    )
    .addHelpText('after', explainHelp)
    .action(async (options: ExplainOptions) => {
      const { explain } = await import('./commands/stack/explain.ts');
      const bad = await explain(context, options);
      if (bad > 0) throw new CommandError(`${counted(bad, 'record')} could not be read`);
    });
  stack
    .command('fingerprints')
    .description('what a community set of fingerprints holds, and what of it cannot be used')
    .argument('<path...>', 'files, or folders with technologies/*.json or *.json')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', fingerprintsHelp)
    .action(async (paths: string[], options: OutputOptions) => {
      await (await import('./commands/stack/fingerprints.ts')).fingerprintsCommand(context, paths, options);
    });

  stack
    .command('migrate-store')
    .description('copy the SQLite database to an empty PostgreSQL database, and compare every row')
    .argument('<url>', 'postgres://user:password@host/database; - reads it from standard input')
    .option('--from <file>', 'the SQLite file; by default the configured one')
    .option('--json', 'print the tables as JSON')
    .addHelpText('after', migrateStoreHelp)
    .action(async (url: string, options: MigrateStoreOptions) => {
      const { migrateStoreCommand } = await import('./commands/store/migrate-store.ts');
      await migrateStoreCommand(context, url, options, await config());
    });

  stack
    .command('migrate-log')
    .description('bring the ledger of the data directory to PostgreSQL, check it there, and close the folder')
    .argument(
      '[url]',
      'postgres://user:password@host/database, by default the configured one; - reads it from standard input',
    )
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', migrateLogHelp)
    .action(async (url: string | undefined, options: OutputOptions) => {
      const { migrateLogCommand } = await import('./commands/store/migrate-log.ts');
      await migrateLogCommand(context, url, options, await config());
    });

  addStoreCommands(stack, context, config);
  addFeedCommands(
    stack.command('feeds').description('feeds whose items are read for the domains that they name'),
    context,
    config,
  );
  const openKeys = async () => (await import('@strata/stack')).openConfiguredStore(await config());
  addKeyCommands(stack.command('keys').description('API keys and signing keys'), context, {
    hasPriorities: false,
    open: openKeys,
    databaseUrl: async () => (await config()).databaseUrl,
    ledger: async () => {
      const { databaseUrl, ledgerOrigin } = await config();
      return { url: databaseUrl, origin: ledgerOrigin };
    },
    signingDirectory: async () => (await config()).dataDirectory,
  });
  addEnrichCommands(stack.command('enrich').description('known vulnerabilities of what domains use'), context, config);
  addInferenceCommands(strata.command('inference').description('chat completions'), context, owner);
  addLogCommands(strata, context);
  addMcpCommand(strata, context);
  addOperationsCommands(strata, context);
  return strata;
}

/** Commander's own width where there is no terminal. */
const widthOf = ({ isTTY, columns }: OutputStream) => (isTTY && columns) || 80;

/** Commander reads the variables of options from `process.env`; those of a command are in its context. */
function takeVariables(command: Command, env: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (option.envVar === undefined || command.getOptionValueSource(name) === 'cli') continue;
    const given = env[option.envVar];
    if (given !== undefined) command.setOptionValueWithSource(name, given, 'env');
    else if (command.getOptionValueSource(name) === 'env')
      command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}

/** Errors whose message is fit for a user; known by name, so that their packages need not be loaded. */
const userErrors: readonly string[] = [
  'StartError',
  'StoreError',
  'LogError',
  'KeyringError',
  'EngineError',
  'FileLockError',
  'GatewayStartError',
  'ModelStoreError',
  'NetworkKeyError',
  'WorkerStartError',
];

/** What to do about a code of such an error, where its message leaves that open. */
const advice: Readonly<Record<string, (owner: DataOwner) => Promise<string | undefined>>> = {
  locked: async () =>
    'another process of this service uses this data directory; stop it, or give this one its own with STRATA_DATA',
  'lost-leaves': async () =>
    'is STRATA_DATA the directory of the service that uses this database? Else leaves that were published are lost: see "The ledger fails" in docs/operations.md',
  'cannot-open': (owner) => owner.denied(),
  EACCES: (owner) => owner.denied(),
};

/** What a user can fix is one line; everything else is a bug and shows its stack. */
async function report(error: unknown, { stderr }: CommandContext, owner: DataOwner): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    // Some repeat what was given, which may come from anywhere.
    stderr.write(`strata: ${error.message.split('\n').map(plainText).join('\n')}\n`);
    return error.exitCode;
  }
  const { name, message } = error as Error;
  if (
    [
      'ConfigError',
      'GatewayConfigError',
      'WorkerConfigError',
      'WitnessConfigError',
      'SettingsError',
      'TracingError',
    ].includes(name)
  ) {
    stderr.write(`strata: a setting cannot be used\n${message.replace(/^/gm, '  ')}\n`);
    return 2;
  }
  if (userErrors.includes(name)) {
    const more = await advice[String((error as { readonly code?: unknown }).code)]?.(owner);
    stderr.write(
      `strata: ${message.replace(/\.$/, more === undefined ? '.' : '')}${more === undefined ? '' : `: ${more}`}\n`,
    );
    return (error as { readonly code?: unknown }).code === 'bad-reference' ? 2 : 1;
  }
  if ((error as NodeJS.ErrnoException).syscall) {
    stderr.write(`strata: ${[message, await owner.denied()].filter(Boolean).join('; ')}\n`);
    return 1;
  }
  stderr.write(`strata: unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}
