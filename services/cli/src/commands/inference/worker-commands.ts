// `strata inference worker`, and what it has earned.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { wholeDays } from '../../option-parsers.ts';
import type { OutputOptions } from '../../output.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import type { EarningsOptions } from './earnings.ts';

interface WorkerOptions extends OutputOptions {
  readonly model?: string;
  readonly join?: readonly string[];
  readonly name?: string;
  readonly slots?: number;
}

/** Throws InvalidArgumentError. */
function slotCount(text: string): number {
  const slots = Number(text);
  if (!Number.isInteger(slots) || slots < 1 || slots > 64)
    throw new InvalidArgumentError('It is a whole number from 1 to 64.');
  return slots;
}

export function addWorkerCommands(inference: Command, context: CommandContext): void {
  const config = async (more: Readonly<Record<string, string>> = {}) =>
    (await import('@strata/worker')).readWorkerConfig({
      ...(await effectiveEnvironment(context.env, 'worker')),
      ...more,
    });
  const worker = inference
    .command('worker')
    .description('lend a model of this machine to the gateways of a network, until SIGINT or SIGTERM')
    .option('--model <file>', 'the GGUF file to lend, or hf:owner/repository:quantisation (STRATA_MODEL)')
    .option('--join <address...>', 'a join token that a gateway printed, or multiaddrs of nodes (STRATA_JOIN)')
    .option('--name <name>', "what gateways call the model; its file's name by default (STRATA_WORKER_NAME)")
    .option('--slots <number>', 'answers side by side (STRATA_MODEL_SLOTS)', slotCount)
    .option('--json', 'print what happens as JSON, one object a line')
    .action(async ({ model, join, name, slots, ...options }: WorkerOptions) => {
      const { workerCommand } = await import('./worker.ts');
      const settings = {
        ...(model === undefined ? {} : { STRATA_MODEL: model }),
        ...(join === undefined ? {} : { STRATA_JOIN: join.join(' ') }),
        ...(name === undefined ? {} : { STRATA_WORKER_NAME: name }),
        ...(slots === undefined ? {} : { STRATA_MODEL_SLOTS: String(slots) }),
      };
      await workerCommand(context, await config(settings), options);
    });
  worker
    .command('earnings')
    .description('what this worker has served, and how much of it its gateways have agreed to')
    .option('--days <number>', 'so many UTC days, today included', wholeDays, 30)
    .addOption(new Option('--by <what>', 'sum by').choices(['day', 'gateway', 'model']).default('day'))
    .option('--export', 'print the receipts themselves with their signatures, one JSON object a line, newest first')
    .option('--verify <file>', 'check such an export, whose ever it is (- for standard input)')
    .option('--json', 'print as JSON')
    .action(async (_options: EarningsOptions, command: Command) => {
      const { earningsCommand } = await import('./earnings.ts');
      // `--json` is taken by the command above it, which has it too.
      await earningsCommand(context, command.optsWithGlobals<EarningsOptions>(), await config());
    });
}
