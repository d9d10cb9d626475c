// `strata stack serve`: the service in the foreground, with its log on standard error.
import { createLogger } from '@strata/http';
import { type Config, serve } from '@strata/stack';

export async function serveCommand(config: Config): Promise<void> {
  await serve(config, createLogger({ level: config.logLevel }));
}
