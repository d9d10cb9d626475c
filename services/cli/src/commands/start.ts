// `strata start`: both services in one process, the internet as it is.
import { type GatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { type Config, serve } from '@strata/stack';

/** Without a model to serve, the gateway stays out, and it is said how to bring it in. */
export async function startCommand(stack: Config, inference: GatewayConfig): Promise<void> {
  const logger = createLogger({ level: stack.logLevel });
  const hasModel = inference.model !== undefined || inference.upstream !== undefined;
  await using gateway = hasModel ? await startGateway(inference, logger) : undefined;
  if (gateway) logger.info({ url: `http://${inference.host}:${gateway.port}/v1` }, 'chat completions: ready');
  else
    logger.info(
      'no chat completions: name a model with STRATA_MODEL (a GGUF file, or hf:owner/repository) or another server with STRATA_UPSTREAM',
    );
  await serve(stack, logger);
}
