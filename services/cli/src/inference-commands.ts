// `strata inference`: the gateway, its keys, its models, and a chat in the terminal.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ChatOptions } from './commands/chat.ts';
import { addKeyCommands } from './key-commands.ts';
import type { OutputOptions } from './output.ts';

const config = async (more: Readonly<Record<string, string>> = {}) =>
  (await import('@strata/gateway')).readGatewayConfig({ ...process.env, ...more });

const base = () =>
  new Option('--base <url>', 'the gateway').env('STRATA_INFERENCE_URL').default('http://127.0.0.1:8788');
const key = () => new Option('--key <key>', 'its API key').env('STRATA_INFERENCE_KEY');

export function addInferenceCommands(inference: Command): void {
  inference
    .command('gateway')
    .description('serve chat completions until SIGINT or SIGTERM; settings come from STRATA_* variables')
    .option('--model <file>', 'the GGUF file to serve (STRATA_MODEL)')
    .option('--local-worker', 'serve it from an engine of this machine, which is the only way so far')
    .action(async ({ model }: { readonly model?: string }) => {
      const { gatewayCommand } = await import('./commands/gateway.ts');
      await gatewayCommand(await config(model === undefined ? {} : { STRATA_MODEL: model }));
    });
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
    .action(async (words: string[], options: ChatOptions) => {
      const { chatCommand } = await import('./commands/chat.ts');
      await chatCommand(words.join(' '), options);
    });

  const models = inference.command('models').description('models: those that are served, and files');
  models
    .command('list')
    .description('list the models of a gateway')
    .addOption(base())
    .addOption(key())
    .option('--json', 'print as JSON')
    .action(async (options: ChatOptions & OutputOptions) => (await import('./commands/models.ts')).listModels(options));
  models
    .command('inspect')
    .description('load a GGUF file and tell what it is')
    .argument('<file>', 'the file')
    .option('--json', 'print as JSON')
    .action(async (file: string, options: OutputOptions) =>
      (await import('./commands/models.ts')).inspectModel(file, options),
    );

  const open = async () => (await import('@strata/gateway')).openGatewayKeys(await config());
  addKeyCommands(inference.command('keys').description('API keys of the gateway, and its signing keys'), {
    open,
    signingDirectory: async () => (await import('@strata/gateway')).inferenceDirectory(await config()),
  });
}
