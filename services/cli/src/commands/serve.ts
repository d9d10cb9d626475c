// `strata stack serve`: the service in the foreground, with its log on standard error.
import { createLogger, startTracing } from '@strata/http';
import { type Config, serve } from '@strata/stack';

export async function serveCommand(config: Config): Promise<void> {
  await using _traces = await startTracing(process.env, 'strata-stack');
  await serve(config, createLogger({ level: config.logLevel }));
}
