// `strata stack scan`: scan a list now. Interruptible; started again it goes on with what is left.
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { CATEGORIES } from '@strata/detect';
import { type Config, openScanning, type Scanning, type ScanOutcome } from '@strata/stack';
import pino from 'pino';
import { type DomainList, domainListOf, readDomainList } from '../domain-list.ts';
import { CommandError, type OutputOptions, printJson, printTable } from '../output.ts';
import { startProgress } from '../progress.ts';

export interface ScanOptions extends OutputOptions {
  /** Scan also what was scanned within the rescan interval. */
  readonly force?: boolean;
}

/** Lines of rejected names shown; the rest is only counted. */
const SHOWN_REJECTS = 5;

export async function scanCommand(targets: readonly string[], options: ScanOptions, config: Config): Promise<void> {
  const list = await listOf(targets);
  reportRejected(list);
  if (list.domains.length === 0) throw new CommandError('there is no domain to scan');

  const logger = pino({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, pino.destination(2));
  await using scanning = await openScanning(config, { logger });
  const { store, scanner } = scanning;
  await store.addDomains(list.domains, { source: 'list' });
  const since = new Date(Date.now() - config.rescanAfterMs);
  const done = options.force ? new Set<string>() : await store.scannedSince(list.domains, since);
  const left = list.domains.filter((domain) => !done.has(domain));
  if (done.size > 0)
    process.stderr.write(
      `${done.size} of ${list.domains.length} domains were scanned lately and are left out (--force scans them too)\n`,
    );

  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const tally = new Tally();
  const startedAt = performance.now();
  const progress = startProgress(left.length, 'domains');
  try {
    await scanner.runAll(left, {
      onDone: (_domain, outcome) => {
        tally.add(outcome);
        progress.advance();
      },
      signal: stopping.signal,
    });
  } finally {
    progress.stop();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  summarise(tally, { seconds, json: options.json === true, scanning });
  if (stopping.signal.aborted) {
    throw new CommandError(
      `interrupted: ${left.length - tally.scanned} domains are left; the same command goes on with them`,
      { exitCode: 130 },
    );
  }
  if (tally.failed > 0) throw new CommandError(`${tally.failed} scans could not be recorded; see the messages above`);
}

async function listOf(targets: readonly string[]): Promise<DomainList> {
  const [only] = targets;
  if (targets.length !== 1 || only === undefined) return domainListOf(targets);
  if (only === '-') return readDomainList(process.stdin);
  const isFile = await access(only).then(
    () => true,
    () => false,
  );
  return isFile ? readDomainList(createReadStream(only)) : domainListOf([only]);
}

function reportRejected({ rejected }: DomainList): void {
  for (const { line, text, message } of rejected.slice(0, SHOWN_REJECTS)) {
    process.stderr.write(`line ${line}: ${JSON.stringify(text)} is left out: ${message}\n`);
  }
  const more = rejected.length - SHOWN_REJECTS;
  if (more > 0) process.stderr.write(`and ${more} more lines that are no domain names\n`);
}

class Tally {
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
}

function summarise(
  tally: Tally,
  { seconds, json, scanning }: { seconds: number; json: boolean; scanning: Scanning },
): void {
  const rate = tally.scanned / Math.max(seconds, 0.001);
  const top = (providers: ReadonlyMap<string, number>) =>
    [...providers].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const name = (id: string) => scanning.rulebook.providers.get(id)?.name ?? id;
  if (json) {
    printJson({
      scanned: tally.scanned,
      seconds: Number(seconds.toFixed(3)),
      domains_per_second: Number(rate.toFixed(1)),
      states: Object.fromEntries(tally.states),
      changes: tally.changes,
      categories: CATEGORIES.flatMap((category) => {
        const entry = tally.byCategory.get(category);
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
  const states = [...tally.states].map(([state, count]) => `${count} ${state}`).join(', ');
  process.stdout.write(
    `${tally.scanned} domains in ${seconds.toFixed(1)} s (${rate.toFixed(0)}/s): ${states || 'none'}; ${tally.changes} changes\n\n`,
  );
  const rows = CATEGORIES.flatMap((category) => {
    const entry = tally.byCategory.get(category);
    if (!entry) return [];
    const leaders = top(entry.providers)
      .slice(0, 3)
      .map(([id, count]) => `${name(id)} ${count}`);
    return [[category, String(entry.domains), leaders.join(', ')]];
  });
  if (rows.length > 0) printTable(['category', 'domains', 'most frequent'], rows);
}
