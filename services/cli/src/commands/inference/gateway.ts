// `strata inference gateway`: the service in the foreground, with its log on standard error.
import { type GatewayConfig, namesModels, type RunningGateway, serveGateway } from '@strata/gateway';
import { createLogger, startTracing, urlAt } from '@strata/http';
import { readJoinToken } from '@strata/p2p';
import type { CommandContext } from '../../context.ts';

export interface GatewayCommandOptions {
  readonly model?: string;
  readonly network?: boolean;
  readonly join?: readonly string[];
}

type ReadConfig = (overrides: Readonly<Record<string, string>>) => Promise<GatewayConfig>;

export async function gatewayCommand(
  context: CommandContext,
  options: GatewayCommandOptions,
  readConfig: ReadConfig,
): Promise<void> {
  const { model, network = false, join } = options;
  const overrides = {
    ...(model === undefined ? {} : { STRATA_MODEL: model }),
    ...(join === undefined ? {} : { STRATA_JOIN: join.join(' ') }),
    ...(network ? { STRATA_NETWORK: 'on' } : {}),
  };
  const requested = await readConfig(overrides);
  const config = namesModels(requested) ? requested : await readConfig({ ...overrides, STRATA_NETWORK: 'on' });
  await using _traces = await startTracing(context.env, 'strata-gateway');
  const logger = createLogger({ level: config.logLevel }, context.log);
  await serveGateway(config, logger, {
    onReady: (running) => {
      logger.info({ url: `${urlAt({ host: config.host, port: running.port })}/v1` }, 'ready');
      printJoinCommand(context, running);
    },
  });
}

/** The only output on standard output; the log is on standard error. */
function printJoinCommand({ stdout }: CommandContext, { gateway: { network } }: RunningGateway): void {
  if (!network) return;
  const token = network.joinToken();
  const secret = readJoinToken(token).networkKey
    ? 'The token contains the key of this private network. Keep it secret.\n'
    : '';
  stdout.write(
    `To add a worker, run (model.gguf is a model file, or hf:owner/repository):\n  npx strata inference worker --model model.gguf --join ${token}\n${secret}`,
  );
}
