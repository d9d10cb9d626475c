// `strata inference gateway`: the service in the foreground, with its log on standard error.
import { type GatewayConfig, serveGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { CommandError } from '../output.ts';

export async function gatewayCommand(config: GatewayConfig): Promise<void> {
  if (config.model === undefined && config.upstream === undefined)
    throw new CommandError(
      'no model to serve: name a GGUF file or hf:owner/repository with --model or STRATA_MODEL, or another server with STRATA_UPSTREAM',
      { exitCode: 2 },
    );
  await serveGateway(config, createLogger({ level: config.logLevel }));
}
