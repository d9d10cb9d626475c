// `strata log witness`: runs a witness in the foreground, with its log on standard error.
import { once } from 'node:events';
import { warnOfFileSystem } from '@strata/db';
import { createLogger, urlAt } from '@strata/http';
import { Witness } from '@strata/log';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import type { WitnessConfig } from './witness-config.ts';
import { serveWitness } from './witness-server.ts';

export interface LogWitnessOptions {
  /** Prints the verifier key, which is created on first use, and exits. */
  readonly printKey?: boolean;
}

/** Serves until SIGINT or SIGTERM. */
export async function logWitnessCommand(
  context: CommandContext,
  { printKey = false }: LogWitnessOptions,
  config: WitnessConfig,
): Promise<void> {
  const { name, logs, host } = config;
  if (name === undefined) throw usageError('STRATA_WITNESS_NAME is not set; choose a permanent name for the witness');
  if (logs.size === 0 && !printKey)
    throw usageError('no log to witness; set STRATA_WITNESS_LOGS to the verifier keys of logs');
  const logger = createLogger({ level: config.logLevel }, context.log);
  await using witness = await Witness.open({ directory: config.directory, name, logs, now: () => new Date() });
  context.stdout.write(`${witness.verifierKey}\n`);
  if (printKey) return;
  warnOfFileSystem(config.directory, logger);
  const stopping = listenForInterruption(context);
  try {
    await using server = await serveWitness(witness, { ...config, logger });
    logger.info(
      { url: urlAt({ host, port: server.port }), verifierKey: witness.verifierKey, logs: [...logs.keys()] },
      'ready',
    );
    // A Ctrl-C while it started has passed: the event is not sent again.
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    logger.info('stopping');
  } finally {
    stopping.release();
  }
}
