// `strata inference`: the gateway, its keys, its models, and a chat in the terminal.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { DataOwner } from '../../data-owner.ts';
import { chatHelp, gatewayHelp, verifyReceiptHelp } from '../../help.ts';
import { wholeDays } from '../../option-parsers.ts';
import type { OutputOptions } from '../../output.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import { addKeyCommands } from '../keys/key-commands.ts';
import type { UsageOptions } from '../keys/usage.ts';
import { addLedgerOptions } from '../verify/ledger-options.ts';
import type { VerifyReceiptOptions } from '../verify/verify-receipt.ts';
import type { ChatOptions } from './chat.ts';
import type { GatewayCommandOptions } from './gateway.ts';
import { addNetworkCommands } from './network-commands.ts';
import { addWorkerCommands } from './worker-commands.ts';

const base = () =>
  new Option('--base <url>', 'the gateway').env('STRATA_INFERENCE_URL').default('http://127.0.0.1:8788');
const key = () => new Option('--key <key>', 'its API key').env('STRATA_INFERENCE_KEY');

export function addInferenceCommands(inference: Command, context: CommandContext, owner: DataOwner): void {
  const config = async (more: Readonly<Record<string, string>> = {}) =>
    owner.remember(
      (await import('@strata/gateway')).readGatewayConfig({
        ...(await effectiveEnvironment(context.env, 'gateway')),
        ...more,
      }),
    );
  inference
    .command('gateway')
    .description(
      'serve chat completions until SIGINT or SIGTERM: of workers that join it, of an engine of its own, or both; settings come from STRATA_* variables',
    )
    .option('--model <file>', 'a GGUF file to serve, or hf:owner/repository:quantisation (STRATA_MODEL)')
    .option('--network', 'let workers join; so it is where there is nothing else to serve (STRATA_NETWORK)')
    .option('--join <address...>', 'multiaddrs or join tokens of nodes of a network to join (STRATA_JOIN)')
    .addHelpText('after', gatewayHelp)
    .action(async (options: GatewayCommandOptions) =>
      (await import('./gateway.ts')).gatewayCommand(context, options, config),
    );
  addWorkerCommands(inference, context);
  inference
    .command('chat')
    .description('talk to a model: one question as an argument, or a conversation without one')
    .argument('[words...]', 'the question')
    .addOption(base())
    .addOption(key())
    .option('--model <id>', 'the model; the first that is served by default')
    .option('--temperature <number>', '0 gives the likeliest answer', (text) => {
      const value = Number(text);
      if (text.trim() === '' || !(value >= 0 && value <= 2))
        throw new InvalidArgumentError('It is a number from 0 to 2.');
      return value;
    })
    .option('--repeat <number>', 'ask the question so many times anew, and tell at the end how that went', (text) => {
      const value = Number(text);
      if (!Number.isInteger(value) || value < 1 || value > 1_000_000)
        throw new InvalidArgumentError('It is a whole number from 1 to 1000000.');
      return value;
    })
    .addHelpText('after', chatHelp)
    .action(async (words: string[], options: ChatOptions) => {
      const { chatCommand } = await import('./chat.ts');
      await chatCommand(context, words.join(' '), options);
    });

  const models = inference.command('models').description('models: those that are served, and files');
  models
    .command('list')
    .description('list the models of a gateway, or those downloaded to this machine')
    .addOption(base())
    .addOption(key())
    .option('--local', 'those of this machine')
    .option('--json', 'print as JSON')
    .action(async (options: ChatOptions & OutputOptions & { readonly local?: boolean }) => {
      const { listLocalModels, listModels } = await import('./models.ts');
      await (options.local
        ? listLocalModels(context, (await config()).modelStore, options)
        : listModels(context, options));
    });
  models
    .command('pull')
    .description('download a model; what has come already is not downloaded again')
    .argument(
      '<reference>',
      'hf:owner/repository[:quantisation] or hf:owner/repository/file.gguf, each with @revision if need be',
    )
    .option('--json', 'print as JSON')
    .action(async (reference: string, options: OutputOptions) =>
      (await import('./models.ts')).pullModel(context, reference, (await config()).modelStore, options),
    );
  models
    .command('inspect')
    .description('load a model and tell what it is')
    .argument('<model>', 'a GGUF file, or an hf: reference')
    .option('--json', 'print as JSON')
    .action(async (model: string, options: OutputOptions) =>
      (await import('./models.ts')).inspectModel(context, model, (await config()).modelStore, options),
    );
  addLedgerOptions(inference.command('verify'), 'gateway')
    .description('verify the receipt of an answer, and that its ledger is the known one')
    .argument('<id | file>', 'the id that x-receipt-id said, or a file that holds the receipt (- for standard input)')
    .addOption(base())
    .addOption(key())
    .option('--salt <hex>', 'the salt of its digests, as x-receipt-salt said; for --request and --answer')
    .option('--request <file>', 'is it the receipt of this request? The body as it was sent')
    .option('--answer <file>', 'is it the receipt of this answer? Its body, or the text of its stream')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', verifyReceiptHelp)
    .action(async (target: string, options: VerifyReceiptOptions) =>
      (await import('../verify/verify-receipt.ts')).verifyReceiptCommand(context, target, options),
    );

  const open = async () => (await import('@strata/gateway')).openGatewayStore(await config());
  const databaseUrl = async () => (await config()).databaseUrl;
  const keys = addKeyCommands(
    inference
      .command('keys')
      .description(
        'API keys of the gateway, and its signing keys; STRATA_INFERENCE_FREE_KEYS_PER_DAY lets POST /keys give free ones',
      ),
    context,
    {
      hasPriorities: true,
      open,
      databaseUrl,
      signingDirectory: async () => (await import('@strata/gateway')).inferenceDirectory(await config()),
      ledger: async () => ({ origin: (await config()).ledgerOrigin }),
    },
  );
  keys
    .command('usage')
    .description('requests and tokens by key, model and UTC day')
    .argument('[id]', 'of one key')
    .option('--days <number>', 'so many days, today included', wholeDays, 30)
    .option('--json', 'print as JSON')
    .action(async (id: string | undefined, options: UsageOptions) =>
      (await import('../keys/usage.ts')).usageCommand(context, id, options, {
        open,
        databaseUrl: await databaseUrl(),
      }),
    );
  addNetworkCommands(inference, context, { base, wholeDays, config });
}
