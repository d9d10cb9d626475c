#!/usr/bin/env node
// The `strata` command: thin commands over the packages. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted;
// `verify` has more, told in its help.
import { Command, CommanderError, Option } from 'commander';
import type { ExplainOptions } from './commands/explain.ts';
import type { MigrateStoreOptions } from './commands/migrate-store.ts';
import type { ScanOptions } from './commands/scan.ts';
import type { VerifyOptions } from './commands/verify.ts';
import { addEnrichCommands } from './enrich-commands.ts';
import { addFeedCommands } from './feed-commands.ts';
import { explainHelp, fingerprintsHelp, migrateLogHelp, migrateStoreHelp, serveHelp, verifyHelp } from './help.ts';
import { addInferenceCommands } from './inference-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMcpCommand } from './mcp-command.ts';
import { addOperationsCommands } from './operations-commands.ts';
import { CommandError, counted, type OutputOptions, plainText } from './output.ts';
import { deniedAmong, minded } from './owner.ts';
import type { ServiceName } from './settings/tables.ts';
import { addStoreCommands } from './store-commands.ts';
import { versionText } from './version.ts';

// Each command loads what it needs when it is called: `explain` starts without a server or a database.
const environment = async (service: ServiceName) =>
  (await import('./settings/settings.ts')).effectiveEnvironment(process.env, service);
const config = async (more: Readonly<Record<string, string>> = {}) =>
  minded((await import('@strata/stack')).readConfig({ ...(await environment('stack')), ...more }));

function program(): Command {
  const strata = new Command('strata')
    .description(
      "Which technology providers a company's domain uses, with evidence, history and signed answers; and chat completions",
    )
    .version(versionText, '-V, --version', 'print the version of this command, and that of the API')
    .showHelpAfterError('(strata --help lists the commands)')
    .exitOverride();
  strata
    .command('start')
    .description('run both services until SIGINT or SIGTERM; settings come from STRATA_* variables')
    .action(async () => {
      const { readGatewayConfig } = await import('@strata/gateway');
      const { startCommand, whereBothAre } = await import('./commands/start.ts');
      const { stack, inference } = whereBothAre(
        await config({ STRATA_ROLE: 'all' }),
        minded(readGatewayConfig(await environment('gateway'))),
      );
      await startCommand(stack, inference);
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
      await (await import('./commands/serve.ts')).serveCommand(settings);
    });
  stack
    .command('scan')
    .description('scan domains now: names, a file with one a line, or - for standard input')
    .argument('<target...>', 'a file, - or domain names')
    .option('--force', 'scan also what was scanned lately')
    .option('--json', 'print the summary as JSON')
    .action(async (targets: string[], options: ScanOptions) => {
      const { scanCommand } = await import('./commands/scan.ts');
      await scanCommand(targets, options, await config());
    });
  stack
    .command('verify')
    .description('verify the receipt of an answer: signature, key, leaf, inclusion proof and checkpoint')
    .argument('<url | file>', 'the URL of an answer, or a file that holds one (- for standard input)')
    .addOption(new Option('--key <key>', 'API key to ask the URL with').env('STRATA_KEY'))
    .option('--base <url>', 'the service that gave a saved answer', 'http://127.0.0.1:8787')
    .option('--provenance <file>', 'for a saved CSV: its response headers, or the JSON of its Stack-Provenance header')
    .option('--ledger-key <key>', "C2SP verifier key of the ledger, to trust in place of the service's own")
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', verifyHelp)
    .action(async (target: string, options: VerifyOptions) => {
      const { verifyCommand } = await import('./commands/verify.ts');
      await verifyCommand(target, options);
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
      const { explain } = await import('./commands/explain.ts');
      const streams = { input: process.stdin, output: process.stdout, warnings: process.stderr };
      const bad = await explain(streams, options);
      if (bad > 0) throw new CommandError(`${counted(bad, 'record')} could not be read`);
    });
  stack
    .command('fingerprints')
    .description('what a community set of fingerprints holds, and what of it cannot be used')
    .argument('<path...>', 'files, or folders with technologies/*.json or *.json')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', fingerprintsHelp)
    .action(async (paths: string[], options: OutputOptions) => {
      await (await import('./commands/fingerprints.ts')).fingerprintsCommand(paths, options);
    });

  stack
    .command('migrate-store')
    .description('copy the SQLite database to an empty PostgreSQL database, and compare every row')
    .argument('<url>', 'postgres://user:password@host/database; - reads it from standard input')
    .option('--from <file>', 'the SQLite file; by default the configured one')
    .option('--json', 'print the tables as JSON')
    .addHelpText('after', migrateStoreHelp)
    .action(async (url: string, options: MigrateStoreOptions) => {
      const { migrateStoreCommand } = await import('./commands/migrate-store.ts');
      await migrateStoreCommand(url, options, await config());
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
      const { migrateLogCommand } = await import('./commands/migrate-log.ts');
      await migrateLogCommand(url, options, await config());
    });

  addStoreCommands(stack, config);
  addFeedCommands(
    stack.command('feeds').description('feeds whose items are read for the domains that they name'),
    config,
  );
  const openKeys = async () => (await import('@strata/stack')).openConfiguredStore(await config());
  addKeyCommands(stack.command('keys').description('API keys and signing keys'), {
    hasPriorities: false,
    open: openKeys,
    databaseUrl: async () => (await config()).databaseUrl,
    ledger: async () => {
      const { databaseUrl, ledgerOrigin } = await config();
      return { url: databaseUrl, origin: ledgerOrigin };
    },
    signingDirectory: async () => (await config()).dataDirectory,
  });
  addEnrichCommands(stack.command('enrich').description('known vulnerabilities of what domains use'), config);
  addInferenceCommands(strata.command('inference').description('chat completions'));
  addMcpCommand(strata);
  addOperationsCommands(strata);
  return strata;
}

/** Errors whose message is fit for a user; known by name, so that their packages need not be loaded. */
const mendable: readonly string[] = [
  'StartError',
  'StoreError',
  'LogError',
  'KeyringError',
  'EngineError',
  'GatewayStartError',
  'ModelStoreError',
  'NetworkKeyError',
  'WorkerStartError',
];

/** What to do about a code of such an error, where its message leaves that open. */
const advice: Readonly<Record<string, () => Promise<string | undefined>>> = {
  locked: async () =>
    'another process of this service uses this data directory; stop it, or give this one its own with STRATA_DATA',
  'cannot-open': deniedAmong,
};

/** What a user can mend is one line; everything else is a bug and shows its stack. */
async function report(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    // Some repeat what was given, which may come from anywhere.
    process.stderr.write(`strata: ${error.message.split('\n').map(plainText).join('\n')}\n`);
    return error.exitCode;
  }
  const { name, message } = error as Error;
  if (['ConfigError', 'GatewayConfigError', 'WorkerConfigError', 'SettingsError', 'TracingError'].includes(name)) {
    process.stderr.write(`strata: a setting cannot be used\n${message.replace(/^/gm, '  ')}\n`);
    return 2;
  }
  if (mendable.includes(name)) {
    const more = await advice[String((error as { readonly code?: unknown }).code)]?.();
    process.stderr.write(
      `strata: ${message.replace(/\.$/, more === undefined ? '.' : '')}${more === undefined ? '' : `: ${more}`}\n`,
    );
    return (error as { readonly code?: unknown }).code === 'bad-reference' ? 2 : 1;
  }
  if ((error as NodeJS.ErrnoException).syscall) {
    process.stderr.write(`strata: ${[message, await deniedAmong()].filter(Boolean).join('; ')}\n`);
    return 1;
  }
  process.stderr.write(`strata: unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `strata … | head` closes the pipe: that is no failure.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await import('./settings/settings.ts')
  .then(({ takeCommandSecrets }) => takeCommandSecrets(process.env))
  .then(() => program().parseAsync())
  .then(() => 0, report);
