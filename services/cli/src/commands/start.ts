// `strata start`: both services in one process, the internet as it is.
import { type GatewayConfig, type RunningGateway, startGateway } from '@strata/gateway';
import { createLogger, openedAt, startTracing, urlAt } from '@strata/http';
import { readJoinToken } from '@strata/p2p';
import { type Config, serve } from '@strata/stack';

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

/** Neither waits for the other, and one that cannot start leaves the other running. Without anything to serve, the gateway stays out. */
export async function startCommand(stack: Config, inference: GatewayConfig): Promise<void> {
  const logger = createLogger({ level: stack.logLevel });
  await using _traces = await startTracing(process.env, 'strata');
  let starting: Promise<RunningGateway | undefined> = Promise.resolve(undefined);
  if (isServing(inference)) {
    starting = startGateway(inference, logger).then(
      (running) => {
        const joinToken = running.gateway.network?.joinToken();
        // The token of a private network is a secret, and logs are read by many.
        const join = joinToken === undefined || readJoinToken(joinToken).networkKey ? {} : { joinToken };
        logger.info(
          { url: `${urlAt({ host: inference.host, port: running.port })}/v1`, ...join },
          'chat completions: ready',
        );
        return running;
      },
      (error: unknown) => {
        logger.error(`no chat completions: ${error instanceof Error ? error.message : String(error)}`);
        return undefined;
      },
    );
  } else
    logger.info(
      'no chat completions: name a model with STRATA_MODEL (a GGUF file, or hf:owner/repository), another server with STRATA_UPSTREAM, or let workers join with STRATA_NETWORK=on',
    );
  await serve(stack, logger);
  await (await starting)?.[Symbol.asyncDispose]();
}
