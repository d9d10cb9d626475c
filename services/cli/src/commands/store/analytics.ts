// `strata stack analytics`: fills ClickHouse from the store. After an interruption, the same command or the service continues.
import { createLogger } from '@strata/http';
import { type Config, exportNow } from '@strata/stack';
import type { CommandContext } from '../../context.ts';
import { runInterruptible } from '../../interruption.ts';
import { type OutputOptions, printJson } from '../../output.ts';
import { startCounter } from '../../progress.ts';

export interface AnalyticsOptions extends OutputOptions {
  /** Removes everything first. */
  readonly rebuild?: boolean;
}

export async function analyticsCommand(
  context: CommandContext,
  { rebuild: isRebuild = false, json }: AnalyticsOptions,
  config: Config,
): Promise<void> {
  const logger = createLogger({ level: 'warn' });
  const counter = startCounter('clickhouse', 'domains', context.stderr);
  const position = await runInterruptible(context, { state: 'what was exported is kept' }, async (signal) => {
    try {
      const onBlock = ({ domainId }: { readonly domainId: number }) => counter.set(domainId);
      const reached = await exportNow(config, { isRebuild, logger, onBlock, signal });
      signal.throwIfAborted();
      return reached;
    } finally {
      counter.stop();
    }
  });
  const { stage, seq } = position ?? {};
  if (json) return printJson(context.stdout, { stage: stage ?? 'by-service', event: seq ?? null });
  context.stdout.write(
    position
      ? `ClickHouse has everything up to event ${seq}\n`
      : `a running service exports into ClickHouse${isRebuild ? ', and starts again' : ''}\n`,
  );
}
