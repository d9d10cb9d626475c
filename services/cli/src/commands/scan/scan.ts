// `strata stack scan`: scan a list now. Interruptible; started again it goes on with what is left.
import { createLogger } from '@strata/http';
import { type Config, openScanning, type ScanOutcome } from '@strata/stack';
import { type CommandContext, listenForInterruption } from '../../context.ts';
import { CommandError, counted, type OutputOptions } from '../../output.ts';
import { startProgress } from '../../progress.ts';
import type { DomainList } from './domain-list.ts';
import { printSummary, ScanTally } from './scan-summary.ts';
import { readTargets } from './scan-targets.ts';

export interface ScanOptions extends OutputOptions {
  /** Scan also what was scanned within the rescan interval. */
  readonly force?: boolean;
}

/** Lines of rejected names shown; the rest is only counted. */
const SHOWN_REJECTS = 5;

export async function scanCommand(
  context: CommandContext,
  targets: readonly string[],
  options: ScanOptions,
  config: Config,
): Promise<void> {
  const list = await readTargets(targets, context.stdin);
  reportRejected(context, list);
  if (list.domains.length === 0) throw new CommandError('there is no domain to scan');

  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, context.log);
  await using scanning = await openScanning(config, { logger });
  const { store, scanner, rulebook } = scanning;
  await store.addDomains(list.domains, { source: 'list' });
  const since = new Date(Date.now() - config.rescanAfterMs);
  const done = options.force ? new Set<string>() : await store.scannedSince(list.domains, since);
  const left = list.domains.filter((domain) => !done.has(domain));
  if (done.size > 0) reportDone(context, done.size, list.domains.length);

  const stopping = listenForInterruption(context);
  const tally = new ScanTally();
  const startedAt = performance.now();
  const progress = startProgress(left.length, left.length === 1 ? 'domain' : 'domains', context.stderr);
  try {
    const onDone = (_domain: string, outcome: ScanOutcome) => {
      tally.add(outcome);
      progress.advance();
    };
    // Side by side: whoever has no DNS learns it early, whoever has it waits for nothing.
    await Promise.all([
      scanner.runAll(left, { onDone, signal: stopping.signal }),
      left.length > 0 && warnWithoutDns(context, scanning.isDnsWorking, stopping.signal),
    ]);
  } finally {
    progress.stop();
    stopping.release();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  printSummary(context.stdout, tally, { seconds, json: options.json === true, rulebook });
  if (stopping.signal.aborted) {
    const rest = left.length - tally.scanned;
    throw new CommandError(
      `interrupted: ${counted(rest, 'domain')} ${rest === 1 ? 'is' : 'are'} left; the same command goes on with what is left`,
      { exitCode: 130 },
    );
  }
  if (tally.failed > 0) {
    throw new CommandError(`${counted(tally.failed, 'scan')} could not be recorded; see the messages above`);
  }
  if (tally.isAllUnmeasured) throw new CommandError('nothing could be measured: no question to DNS was answered');
}

/** The same advice as `serve` gives. */
async function warnWithoutDns(
  { stderr }: CommandContext,
  isDnsWorking: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  if ((await isDnsWorking()) || signal.aborted) return;
  stderr.write(
    'DNS does not answer: nothing can be scanned. Set STRATA_RESOLVERS, or try `npm run demo`, which needs no network\n',
  );
}

function reportDone({ stderr }: CommandContext, done: number, all: number): void {
  const were = done === 1 ? 'was scanned lately and is left out' : 'were scanned lately and are left out';
  const them = done === 1 ? 'it' : 'them';
  stderr.write(`${done} of ${counted(all, 'domain')} ${were} (--force scans ${them} too)\n`);
}

function reportRejected({ stderr }: CommandContext, { rejected }: DomainList): void {
  for (const { line, text, message } of rejected.slice(0, SHOWN_REJECTS)) {
    stderr.write(`line ${line}: ${JSON.stringify(text)} is left out: ${message}\n`);
  }
  const more = rejected.length - SHOWN_REJECTS;
  if (more === 1) stderr.write('and 1 more line that is no domain name\n');
  else if (more > 1) stderr.write(`and ${more} more lines that are no domain names\n`);
}
