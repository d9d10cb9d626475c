// `strata start`: both services in one process, the internet as it is.
import { type GatewayConfig, serveGateway } from '@strata/gateway';
import { createLogger, openedAt, startTracing, urlAt } from '@strata/http';
import { readJoinToken } from '@strata/p2p';
import { type Config, serve } from '@strata/stack';
import type { CommandContext } from '../../context.ts';

/** Both services, each told where readers find the other; unless the settings say it, or the address is none that can be opened. */
export function whereBothAre(
  stack: Config,
  inference: GatewayConfig,
): { readonly stack: Config; readonly inference: GatewayConfig } {
  const chatUrl = isServing(inference) ? openedAt(inference) : undefined;
  return {
    stack: { ...stack, chatUrl: stack.chatUrl ?? chatUrl },
    inference: { ...inference, explorerUrl: inference.explorerUrl ?? openedAt(stack) },
  };
}

const isServing = ({ model, upstream, network }: GatewayConfig) =>
  model !== undefined || upstream !== undefined || network !== undefined;

/**
 * Neither waits for the other, to start or to stop, and one that cannot start leaves the other running. Without anything to serve, the
 * gateway stays out.
 */
export async function startCommand(context: CommandContext, stack: Config, inference: GatewayConfig): Promise<void> {
  const logger = createLogger({ level: stack.logLevel }, context.log);
  await using _traces = await startTracing(context.env, 'strata');
  const chat = isServing(inference) ? serveChat(inference, logger) : undefined;
  if (chat === undefined)
    logger.info(
      'no chat completions: name a model with STRATA_MODEL (a GGUF file, or hf:owner/repository), another server with STRATA_UPSTREAM, or let workers join with STRATA_NETWORK=on',
    );
  await serve(stack, logger);
  await chat;
}

/** Until SIGINT or SIGTERM, as the other service: both drain side by side. Never rejects. */
async function serveChat(config: GatewayConfig, logger: ReturnType<typeof createLogger>): Promise<void> {
  try {
    await serveGateway(config, logger, {
      onReady: ({ gateway, port }) => {
        const joinToken = gateway.network?.joinToken();
        // The token of a private network is a secret, and logs are read by many.
        const join = joinToken === undefined || readJoinToken(joinToken).networkKey ? {} : { joinToken };
        logger.info({ url: `${urlAt({ host: config.host, port })}/v1`, ...join }, 'chat completions: ready');
      },
    });
  } catch (error) {
    logger.error(`no chat completions: ${error instanceof Error ? error.message : String(error)}`);
  }
}
