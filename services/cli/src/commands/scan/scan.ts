// `strata stack scan`: scans a list now. After an interruption, the same command scans the remaining domains.
import { CATEGORIES, type Rulebook } from '@strata/detect';
import { createLogger } from '@strata/http';
import { type Config, openScanning, type ScanOutcome } from '@strata/stack';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, type OutputOptions, printJson, printRejected, printTable } from '../../output.ts';
import { startProgress } from '../../progress.ts';
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

class ScanCounts {
  scanned = 0;
  failed = 0;
  changes = 0;
  readonly states = new Map<string, number>();
  readonly byCategory = new Map<string, { domains: number; providers: Map<string, number> }>();

  add(outcome: ScanOutcome): void {
    this.scanned += 1;
    if (outcome.kind !== 'recorded') {
      if (outcome.kind === 'failed') this.failed += 1;
      this.states.set(outcome.kind, (this.states.get(outcome.kind) ?? 0) + 1);
      return;
    }
    const { profile, recorded } = outcome;
    this.changes += recorded.changes.length;
    this.states.set(profile.state, (this.states.get(profile.state) ?? 0) + 1);
    for (const category of new Set(profile.services.map((service) => service.category))) {
      const entry = this.byCategory.get(category) ?? { domains: 0, providers: new Map<string, number>() };
      this.byCategory.set(category, entry);
      entry.domains += 1;
      for (const { provider } of profile.services.filter((service) => service.category === category)) {
        entry.providers.set(provider, (entry.providers.get(provider) ?? 0) + 1);
      }
    }
  }

  /** Whether every domain that was to be measured is unmeasured. */
  get isAllUnmeasured(): boolean {
    const count = (state: string) => this.states.get(state) ?? 0;
    const unmeasured = count('unmeasured');
    return unmeasured > 0 && unmeasured + count('opted-out') + this.failed === this.scanned;
  }
}

/** Prints a line and a table, or one JSON value. */
function printSummary(
  stdout: OutputStream,
  counts: ScanCounts,
  { seconds, json, rulebook }: { seconds: number; json: boolean; rulebook: Rulebook },
): void {
  const rate = counts.scanned / Math.max(seconds, 0.001);
  const top = (providers: ReadonlyMap<string, number>) =>
    [...providers].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const name = (id: string) => rulebook.providers.get(id)?.name ?? id;
  if (json) {
    printJson(stdout, {
      scanned: counts.scanned,
      seconds: Number(seconds.toFixed(3)),
      domains_per_second: Number(rate.toFixed(1)),
      states: Object.fromEntries(counts.states),
      changes: counts.changes,
      categories: CATEGORIES.flatMap((category) => {
        const entry = counts.byCategory.get(category);
        if (!entry) return [];
        const providers = top(entry.providers).map(([id, domains]) => ({
          provider: name(id),
          provider_id: id,
          domains,
        }));
        return [{ category, domains: entry.domains, providers }];
      }),
    });
    return;
  }
  const states = [...counts.states].map(([state, count]) => `${count} ${state}`).join(', ');
  const duration = `in ${seconds.toFixed(1)} s (${rate.toFixed(0)}/s)`;
  stdout.write(
    `${counted(counts.scanned, 'domain')} ${duration}: ${states || 'none'}; ${counted(counts.changes, 'change')}\n\n`,
  );
  const rows = CATEGORIES.flatMap((category) => {
    const entry = counts.byCategory.get(category);
    if (!entry) return [];
    const leaders = top(entry.providers)
      .slice(0, 3)
      .map(([id, count]) => `${name(id)} ${count}`);
    return [[category, String(entry.domains), leaders.join(', ')]];
  });
  if (rows.length > 0) printTable(stdout, ['category', 'domains', 'most frequent'], rows);
}
