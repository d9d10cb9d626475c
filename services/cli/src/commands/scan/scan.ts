// `strata stack scan`: scans a list now. After an interruption, the same command scans the remaining domains.
import { createLogger } from '@strata/http';
import { type Config, openScanning, type ScanOutcome } from '@strata/stack';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, type OutputOptions, printRejected } from '../../output.ts';
import { startProgress } from '../../progress.ts';

import { printSummary, ScanCounts } from './scan-summary.ts';
import { readTargets } from './scan-targets.ts';

export interface ScanOptions extends OutputOptions {
  /** Also scan domains that were scanned within the rescan interval. */
  readonly force?: boolean;
}

export async function scanCommand(
  context: CommandContext,
  targets: readonly string[],
  options: ScanOptions,
  config: Config,
): Promise<void> {
  const list = await readTargets(targets, context.stdin);
  printRejected(context.stderr, list.rejected);
  if (list.domains.length === 0) throw new CommandError('no domains to scan');

  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, context.log);
  await using scanning = await openScanning(config, { logger });
  const { store, scanner, rulebook } = scanning;
  await store.domains.add(list.domains, { source: 'list' });
  const since = new Date(Date.now() - config.rescanAfterMs);
  const done = options.force ? new Set<string>() : await store.domains.scannedSince(list.domains, since);
  const left = list.domains.filter((domain) => !done.has(domain));
  if (done.size > 0) reportDone(context, done.size, list.domains.length);

  const stopping = listenForInterruption(context);
  const counts = new ScanCounts();
  const startedAt = performance.now();
  const progress = startProgress(left.length, left.length === 1 ? 'domain' : 'domains', context.stderr);
  try {
    const onDone = (_domain: string, outcome: ScanOutcome) => {
      counts.add(outcome);
      progress.advance();
    };
    // Concurrently: the warning appears early, and the scan does not wait for the check.
    await Promise.all([
      scanner.runAll(left, { onDone, signal: stopping.signal }),
      left.length > 0 && warnWithoutDns(context, scanning.isDnsWorking, stopping.signal),
    ]);
  } finally {
    progress.stop();
    stopping.release();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  printSummary(context.stdout, counts, { seconds, json: options.json === true, rulebook });
  if (stopping.signal.aborted) {
    const rest = counted(left.length - counts.scanned, 'domain');
    throw new CommandError(`interrupted: ${rest} not scanned; run the same command again to scan the rest`, {
      exitCode: 130,
    });
  }
  if (counts.failed > 0)
    throw new CommandError(`${counted(counts.failed, 'scan')} could not be recorded; see the messages above`);
  if (counts.isAllUnmeasured) throw new CommandError('nothing could be measured: no DNS query was answered');
}

async function warnWithoutDns(
  { stderr }: CommandContext,
  isDnsWorking: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  if ((await isDnsWorking()) || signal.aborted) return;
  stderr.write(
    'DNS does not answer, so nothing can be scanned. Set STRATA_RESOLVERS, or run `npm run demo`, which needs no network\n',
  );
}

function reportDone({ stderr }: CommandContext, done: number, all: number): void {
  stderr.write(`skipped ${done} of ${counted(all, 'domain')}, scanned recently; --force scans all of them\n`);
}
