// `strata inference worker`, and its earnings.
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { days, integerBetween } from '../../option-parsers.ts';
import type { OutputOptions } from '../../output.ts';
import { mergedItems } from '../../settings/lists.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import type { EarningsOptions } from './earnings.ts';

interface WorkerOptions extends OutputOptions {
  readonly model?: string;
  readonly engine?: string;
  readonly join?: readonly string[];
  readonly name?: string;
  readonly slots?: number;
}

export function addWorkerCommands(inference: Command, context: CommandContext): void {
  const config = async (overrides: Readonly<Record<string, string>> = {}) => {
    const { STRATA_MODEL_OPTIONS: options = '', ...settings } = await effectiveEnvironment(context, 'worker');
    return (await import('@strata/worker')).readWorkerConfig({
      ...{ ...settings, ...overrides },
      STRATA_MODEL_OPTIONS: mergedItems('STRATA_MODEL_OPTIONS', options, overrides.STRATA_MODEL_OPTIONS ?? ''),
    });
  };
  const worker = inference
    .command('worker')
    .description('serve a model of this machine to the gateways of a network, until SIGINT or SIGTERM')
    .option('--model <files>', 'GGUF files, or hf:owner/repository:quantisation, comma-separated (STRATA_MODEL)')
    .option('--engine <url>', 'llama-server, vLLM, SGLang or TensorRT-LLM with that model (STRATA_ENGINE)')
    .option('--join <address...>', 'a join token that a gateway printed, or multiaddrs of nodes (STRATA_JOIN)')
    .option('--name <name>', 'name of the model at gateways; by default that of the file (STRATA_WORKER_NAME)')
    .option('--slots <number>', 'number of concurrent answers (slots of STRATA_MODEL_OPTIONS)', integerBetween(1, 64))
    .option('--json', 'print events as JSON, one object a line')
    .action(async ({ model, engine, join, name, slots, ...options }: WorkerOptions) => {
      const { workerCommand } = await import('./worker.ts');
      const settings = {
        ...(model === undefined ? {} : { STRATA_MODEL: model }),
        ...(engine === undefined ? {} : { STRATA_ENGINE: engine }),
        ...(join === undefined ? {} : { STRATA_JOIN: join.join(' ') }),
        ...(name === undefined ? {} : { STRATA_WORKER_NAME: name }),
        ...(slots === undefined ? {} : { STRATA_MODEL_OPTIONS: `slots=${slots}` }),
      };
      await workerCommand(context, await config(settings), options);
    });
  worker
    .command('earnings')
    .description('show the work of this worker, and how much of it gateways have confirmed')
    .option('--days <number>', 'number of UTC days, including today', days, 30)
    .addOption(new Option('--by <what>', 'group by').choices(['day', 'gateway', 'model']).default('day'))
    .option('--export', 'print the signed receipts, one JSON object a line, newest first')
    .option('--verify <file>', 'verify an export of any worker (- for standard input)')
    .option('--json', 'print as JSON')
    .action(async (_options: EarningsOptions, command: Command) => {
      const { earningsCommand } = await import('./earnings.ts');
      // Commander assigns --json to the parent command, which has the same option.
      await earningsCommand(context, command.optsWithGlobals<EarningsOptions>(), await config());
    });
}
