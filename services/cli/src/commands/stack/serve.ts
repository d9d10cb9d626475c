// `strata stack serve`: the service in the foreground, with its log on standard error. Apart from start.ts, which loads the gateway.
import { createLogger, startTracing } from '@strata/http';
import { type Config, serve } from '@strata/stack';
import type { CommandContext } from '../../context.ts';

export async function serveCommand(context: CommandContext, config: Config): Promise<void> {
  await using _traces = await startTracing(context.env, 'strata-stack');
  await serve(config, createLogger({ level: config.logLevel }, context.log));
}
