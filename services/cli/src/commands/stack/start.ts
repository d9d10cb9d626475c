// `strata start`: both services in one process, with their log on standard error.
import { type GatewayConfig, namesModels, serveGateway } from '@strata/gateway';
import { createLogger, publicUrlOf, startTracing, urlAt } from '@strata/http';
import { readJoinToken } from '@strata/p2p';
import { type Config, serve } from '@strata/stack';
import type { CommandContext } from '../../context.ts';

/** Sets the links between the pages of both services, unless the settings contain them or the address cannot be opened. */
export function withLinks(
  stack: Config,
  inference: GatewayConfig,
): { readonly stack: Config; readonly inference: GatewayConfig } {
  const chatUrl = isServing(inference) ? publicUrlOf(inference) : undefined;
  return {
    stack: { ...stack, chatUrl: stack.chatUrl ?? chatUrl },
    inference: { ...inference, explorerUrl: inference.explorerUrl ?? publicUrlOf(stack) },
  };
}

const isServing = (config: GatewayConfig) => namesModels(config) || config.network !== undefined;

/**
 * Both services start and stop independently; one that cannot start leaves the other running. The gateway is not started without
 * anything to serve.
 */
export async function startCommand(context: CommandContext, stack: Config, inference: GatewayConfig): Promise<void> {
  const logger = createLogger({ level: stack.logLevel }, context.log);
  await using _traces = await startTracing(context.env, 'strata');
  const chat = isServing(inference) ? serveChat(inference, logger) : undefined;
  if (chat === undefined)
    logger.info(
      'chat completions: off; set STRATA_MODEL (a GGUF file, or hf:owner/repository), STRATA_UPSTREAM or STRATA_UPSTREAMS (other servers) or STRATA_NETWORK=on (let workers join)',
    );
  await serve(stack, logger);
  await chat;
}

/** Serves until SIGINT or SIGTERM. Both services drain concurrently. Never rejects. */
async function serveChat(config: GatewayConfig, logger: ReturnType<typeof createLogger>): Promise<void> {
  try {
    await serveGateway(config, logger, {
      onReady: ({ gateway, port }) => {
        const joinToken = gateway.network?.joinToken();
        // The token of a private network contains its key and must not be logged.
        const join = joinToken === undefined || readJoinToken(joinToken).networkKey ? {} : { joinToken };
        logger.info({ url: `${urlAt({ host: config.host, port })}/v1`, ...join }, 'chat completions: ready');
      },
    });
  } catch (error) {
    logger.error(`chat completions: cannot start: ${error instanceof Error ? error.message : String(error)}`);
  }
}
