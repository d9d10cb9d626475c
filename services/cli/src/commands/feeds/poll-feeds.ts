// `strata stack feeds poll`: polls the feeds that are due. Feeds that an interruption leaves are still due.
import { createLogger } from '@strata/http';
import { type Config, openFeeding, type PollResult } from '@strata/stack';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, type OutputOptions, printJson } from '../../output.ts';
import { startProgress } from '../../progress.ts';

export interface PollFeedsOptions extends OutputOptions {
  /** Poll every feed, whether it is due or not. */
  readonly all?: boolean;
}

export async function pollFeedsCommand(
  context: CommandContext,
  options: PollFeedsOptions,
  config: Config,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, context.log);
  await using feeding = await openFeeding(config, { logger });
  const { store, poller } = feeding;
  if (options.all) await store.feeds.schedule.markAllDue();
  const due = await store.feeds.schedule.countDue(new Date());
  const stopping = listenForInterruption(context);
  const results = new Map<PollResult, number>();
  const startedAt = performance.now();
  const progress = startProgress(due, due === 1 ? 'feed' : 'feeds', context.stderr);
  try {
    await poller.runDue({
      onDone: (_feed, result) => {
        results.set(result, (results.get(result) ?? 0) + 1);
        if (result !== 'stopped') progress.advance();
      },
      signal: stopping.signal,
    });
  } finally {
    progress.stop();
    stopping.release();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const count = (result: PollResult) => results.get(result) ?? 0;
  const { polls, items, mentions } = poller.counts();
  const summary = { read: count('read'), unchanged: count('unchanged'), failed: count('failed'), gone: count('gone') };
  if (options.json)
    printJson(context.stdout, { polled: polls, ...summary, items, mentions, seconds: Number(seconds.toFixed(3)) });
  else {
    const states = Object.entries(summary).filter(([, n]) => n > 0);
    const shown = states.map(([state, n]) => `${n} ${state}`).join(', ') || 'no feeds due';
    context.stdout.write(
      `${counted(polls, 'feed')} polled in ${seconds.toFixed(1)} s: ${shown}; ${counted(items, 'new item')}, ${counted(mentions, 'mention')}\n`,
    );
  }
  if (stopping.signal.aborted) {
    const left = counted(Math.max(0, due - polls), 'feed');
    throw new CommandError(`interrupted: ${left} still due; run the same command again to poll the rest`, {
      exitCode: 130,
    });
  }
  const unrecorded = count('unrecorded');
  if (unrecorded > 0)
    throw new CommandError(`${counted(unrecorded, 'poll')} could not be recorded; see the messages above`);
  if (polls > 0 && summary.failed + summary.gone === polls)
    throw new CommandError('no feed could be read; for the reasons: strata stack feeds list --failing');
}
