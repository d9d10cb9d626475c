// `strata stack dump`: all tables of today as Parquet, also beside a running service.
import { DiskError } from '@strata/files';
import { createLogger } from '@strata/http';
import { type Config, dumpNow } from '@strata/stack';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { runInterruptible } from '../../interruption.ts';
import { counted, type OutputOptions, printJson } from '../../output.ts';

export async function dumpCommand(context: CommandContext, { json }: OutputOptions, config: Config): Promise<void> {
  const logger = createLogger({ level: 'warn' });
  const manifest = await runInterruptible(context, { state: 'there is no dump of today' }, async (signal) =>
    dumpNow(config, logger, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      // Errors of the SDK have the status of the answer.
      if (cause instanceof DiskError || (cause instanceof Error && '$metadata' in cause))
        throw new CommandError(`the dump failed: ${cause.message}`, { cause });
      if (cause instanceof Error && cause.name === 'CredentialsProviderError')
        throw new CommandError('a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile', { cause });
      throw cause;
    }),
  );
  if (json) return printJson(context.stdout, manifest);
  for (const [table, { rows, files }] of Object.entries(manifest.tables))
    context.stdout.write(`${table}: ${counted(rows, 'row')} in ${counted(files.length, 'file')}\n`);
}
