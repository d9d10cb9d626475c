// `strata inference`: gateway, worker, chat, models, receipts, keys and network.
import type { GatewayStoreConfig } from '@strata/gateway';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { DataOwner } from '../../data-owner.ts';
import { days, integerBetween, numberBetween } from '../../option-parsers.ts';
import type { OutputOptions } from '../../output.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import { addKeyCommands } from '../keys/key-commands.ts';
import type { UsageOptions } from '../keys/usage.ts';
import { addLedgerOptions } from '../verify/ledger-options.ts';
import type { VerifyReceiptOptions } from '../verify/verify-receipt.ts';
import { addAccessCommands, keyAccess } from './access-commands.ts';
import type { AccountsOptions } from './accounts.ts';
import type { ChatOptions } from './chat.ts';
import type { GatewayCommandOptions } from './gateway.ts';
import type { NetworkOptions } from './network.ts';
import { addWorkerCommands } from './worker-commands.ts';

const gatewayHelp = `
Examples:
  strata inference gateway                         starts a network and prints the command that workers join with
  strata inference gateway --model model.gguf      serves a local model, without a network
  strata inference gateway --join TOKEN            joins the network of another gateway or worker
  STRATA_INFERENCE_FREE_KEYS_PER_DAY=3 strata inference gateway
                                                   free keys for everyone, on its page and from POST /keys

Exit codes:
  0  stopped by SIGINT or SIGTERM
  1  it cannot start: a port is in use, a model cannot be loaded, or a network cannot be joined
  2  usage error: an invalid option or setting

A second gateway on one machine needs a port, addresses and a data directory of its own:
  STRATA_INFERENCE_PORT=8790 STRATA_P2P=listen=/ip4/0.0.0.0/tcp/9790 STRATA_DATA=data-2 \\
    strata inference gateway --join TOKEN`;

const chatHelp = `
To see failover, stop a worker of the network while this command runs: each answer continues on another worker that has the model.
The receipts printed at the end list the workers of each answer (strata inference verify):
  strata inference chat --repeat 300 "What is DMARC?"

Exit codes:
  0  all answers are complete
  1  a request was refused, an answer was cut off, or the gateway cannot be reached
  2  usage error: no key, or no question with --repeat`;

const verifyHelp = `
Example:
  curl -D headers.txt -H "Authorization: Bearer $STRATA_INFERENCE_KEY" -H "Content-Type: application/json" \\
    --data-binary @request.json -o answer.json http://127.0.0.1:8788/v1/chat/completions
  header() { sed -n "s/^x-receipt-$1: //p" headers.txt | tr -d '\\r'; }
  strata inference verify $(header id) --salt $(header salt) --request request.json --answer answer.json

Exit codes:
  0  the receipt is valid and matches the given request and answer
  1  the receipt is invalid or missing, or is of another request or answer
  2  usage error: the file does not exist, or is not a receipt or an answer
  3  the gateway answered with an error instead of a receipt
  4  not verified: the receipt, the keys or the ledger could not be fetched
  5  the ledger conflicts with the known one: a fork, lost leaves, or another key or name`;

const base = () =>
  new Option('--base <url>', 'URL of the gateway').env('STRATA_INFERENCE_URL').default('http://127.0.0.1:8788');
const key = () => new Option('--key <key>', 'API key of the gateway').env('STRATA_INFERENCE_KEY');

export function addInferenceCommands(inference: Command, context: CommandContext, owner: DataOwner): void {
  const config = async (overrides: Readonly<Record<string, string>> = {}) => {
    const { readGatewayConfig } = await import('@strata/gateway');
    return owner.remember(readGatewayConfig({ ...(await effectiveEnvironment(context, 'gateway')), ...overrides }));
  };
  inference
    .command('gateway')
    .description('serve chat completions from workers, a local model or an upstream server, until SIGINT or SIGTERM')
    .option('--model <files>', 'GGUF files, or hf:owner/repository:quantisation, comma-separated (STRATA_MODEL)')
    .option('--network', 'let workers join; the default without a model or an upstream (STRATA_NETWORK)')
    .option('--join <address...>', 'join tokens or multiaddrs of nodes of a network to join (STRATA_JOIN)')
    .addHelpText('after', gatewayHelp)
    .action(async (options: GatewayCommandOptions) =>
      (await import('./gateway.ts')).gatewayCommand(context, options, config),
    );
  addWorkerCommands(inference, context);
  inference
    .command('chat')
    .description('ask a model one question, or start a conversation')
    .argument('[words...]', 'the question; without it, a conversation on standard input')
    .addOption(base())
    .addOption(key())
    .option('--model <id>', 'the model (default: the first in the list of the gateway)')
    .option('--temperature <number>', 'sampling temperature; 0 is deterministic', numberBetween(0, 2))
    .option('--repeat <number>', 'ask the question this many times and print a summary', integerBetween(1, 1_000_000))
    .addHelpText('after', chatHelp)
    .action(async (words: string[], options: ChatOptions) => {
      const { chatCommand } = await import('./chat.ts');
      await chatCommand(context, words.join(' '), options);
    });

  const models = inference.command('models').description('models of a gateway, and downloaded model files');
  models
    .command('list')
    .description('list the models of a gateway, or with --local the downloaded ones')
    .addOption(base())
    .addOption(key())
    .option('--local', 'list downloaded models')
    .option('--json', 'print as JSON')
    .action(async (options: ChatOptions & OutputOptions & { readonly local?: boolean }) => {
      const { listLocalModels, listModels } = await import('./models.ts');
      await (options.local
        ? listLocalModels(context, (await config()).modelStore, options)
        : listModels(context, options));
    });
  models
    .command('pull')
    .description('download a model; an interrupted download is resumed')
    .argument(
      '<reference>',
      'hf:owner/repository[:quantisation] or hf:owner/repository/file.gguf, each with an optional @revision',
    )
    .option('--json', 'print as JSON')
    .action(async (reference: string, options: OutputOptions) =>
      (await import('./models.ts')).pullModel(context, reference, (await config()).modelStore, options),
    );
  models
    .command('inspect')
    .description('load a model and print its properties')
    .argument('<model>', 'a GGUF file, or an hf: reference')
    .option('--json', 'print as JSON')
    .action(async (model: string, options: OutputOptions) =>
      (await import('./models.ts')).inspectModel(context, model, (await config()).modelStore, options),
    );
  addLedgerOptions(inference.command('verify'), 'gateway')
    .description('verify the receipt of an answer, and the consistency of its ledger')
    .argument(
      '<id | file>',
      'receipt id (header x-receipt-id), or a file that contains the receipt (- for standard input)',
    )
    .addOption(base())
    .addOption(key())
    .option('--salt <hex>', 'salt of the digests (header x-receipt-salt), for --request and --answer')
    .option('--request <file>', 'also check the request body, exactly as it was sent')
    .option('--answer <file>', 'also check the answer: its body, or the text of its stream')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', verifyHelp)
    .action(async (target: string, options: VerifyReceiptOptions) =>
      (await import('../verify/verify-receipt.ts')).verifyReceiptCommand(context, target, options),
    );

  const open = async () => (await import('@strata/gateway')).openGatewayStore(await config());
  const databaseUrl = async () => (await config()).databaseUrl;
  const keys = addKeyCommands(
    inference.command('keys').description('API keys and signing keys of the gateway'),
    context,
    {
      extended: keyAccess({ open }),
      open,
      databaseUrl,
      signingDirectory: async () => (await import('@strata/gateway')).inferenceDirectory(await config()),
      ledger: async () => ({ origin: (await config()).ledgerOrigin }),
    },
  );
  keys
    .command('usage')
    .description('show requests and tokens by key, model and UTC day')
    .argument('[id]', 'only this key')
    .option('--days <number>', 'number of UTC days, including today', days, 30)
    .option('--json', 'print as JSON')
    .action(async (id: string | undefined, options: UsageOptions) =>
      (await import('../keys/usage.ts')).usageCommand(context, id, options, {
        open,
        databaseUrl: await databaseUrl(),
      }),
    );
  addAccessCommands({ inference, keys }, context, { open, databaseUrl });
  addNetworkCommands(inference, context, { base, config });
}

const networkHelp = `
Examples:
  strata inference network --watch                 shows the gateway of this machine, updated every second
  strata inference network accounts --by model     shows the work of the workers, from the database in STRATA_DATA`;

interface NetworkDeps {
  readonly base: () => Option;
  readonly config: () => Promise<GatewayStoreConfig>;
}

function addNetworkCommands(inference: Command, context: CommandContext, { base, config }: NetworkDeps): void {
  const network = inference
    .command('network')
    .description('show the workers of a gateway: peers, models, load and reputation')
    .addOption(base())
    .option('--watch', 'update every second until Ctrl-C')
    .option('--json', 'print as JSON; with --watch, one value a line')
    .addHelpText('after', networkHelp)
    .action(async (options: NetworkOptions) => (await import('./network.ts')).networkCommand(context, options));
  network
    .command('accounts')
    .description('show the work of the workers for this gateway, from receipts that both have signed')
    .addOption(new Option('--by <what>', 'group by').choices(['worker', 'caller', 'model', 'day']).default('worker'))
    .option('--days <number>', 'number of UTC days, including today', days, 30)
    .option('--json', 'print as JSON')
    .action(async (_options: AccountsOptions, command: Command) =>
      // Commander assigns --json to the parent command, which has the same option.
      (await import('./accounts.ts')).accountsCommand(
        context,
        command.optsWithGlobals<AccountsOptions>(),
        await config(),
      ),
    );
}
