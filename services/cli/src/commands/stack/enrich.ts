// `strata stack enrich`: syncs advisories now. After an interruption, the same command continues.
import {
  type AdvisorySource,
  type Config,
  enrichmentState,
  openEnrichment,
  runSource,
  SOURCE_NAMES,
  type SyncEnd,
} from '@strata/stack';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, type OutputOptions, printJson, printTable } from '../../output.ts';
import { startCounter } from '../../progress.ts';

export interface SyncOptions extends OutputOptions {
  /** A folder of files to read instead of the network. */
  readonly from?: string;
}

interface Synced {
  readonly source: string;
  readonly end: SyncEnd;
}

export async function syncCommand(
  context: CommandContext,
  names: readonly string[],
  options: SyncOptions,
  config: Config,
): Promise<void> {
  const asked = checkedNames(names, options);
  const settings = options.from === undefined ? config : withFolder(config, options.from);
  await using enrichment = await openEnrichment(settings);
  const chosen = choose(enrichment.sources, asked);
  const stopping = listenForInterruption(context);
  const done: Synced[] = [];
  try {
    for (const source of chosen) {
      if (stopping.signal.aborted) break;
      done.push({
        source: source.name,
        end: await syncOne(source, { ...enrichment, signal: stopping.signal, stderr: context.stderr }),
      });
    }
  } finally {
    stopping.release();
  }
  printOutcome(context.stdout, done, options);
  judgeOutcome(done, stopping.signal);
}

export async function statusCommand({ stdout }: CommandContext, options: OutputOptions, config: Config): Promise<void> {
  await using enrichment = await openEnrichment(config);
  const { sources, counts } = await enrichmentState(enrichment);
  if (options.json) {
    printJson(stdout, {
      sources: sources.map((source) => ({
        source: source.name,
        state: source.state,
        last_sync: source.finishedAt?.toISOString() ?? null,
        next_sync: source.nextAt?.toISOString() ?? null,
        records: source.records,
        read: source.read,
        skipped: source.skipped,
        skipped_example: source.skippedExample,
        error: source.error,
      })),
      advisories: counts.advisories,
      known_exploited: counts.knownExploited,
      scored: counts.scores,
    });
    return;
  }
  const rows = sources.map((source) => [
    source.name,
    source.state,
    source.finishedAt?.toISOString() ?? '',
    String(source.records),
    String(source.skipped),
    source.error ?? source.skippedExample ?? '',
  ]);
  printTable(stdout, ['source', 'state', 'last sync', 'records', 'skipped', 'error or first skipped record'], rows);
  stdout.write(`${counts.advisories} vulnerabilities, ${counts.knownExploited} known to be exploited\n`);
}

function checkedNames(names: readonly string[], { from }: SyncOptions): readonly string[] {
  if (from !== undefined && names.length > 0) throw usageError('--from cannot be combined with source names');
  const known: readonly string[] = SOURCE_NAMES.filter((name) => name !== 'folder');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw usageError(`unknown source '${unknown}'; known sources: ${known.join(', ')}`);
}

const withFolder = (config: Config, folder: string): Config => ({
  ...config,
  advisories: { ...config.advisories, folder },
});

function choose(sources: readonly AdvisorySource[], asked: readonly string[]): readonly AdvisorySource[] {
  const missing = asked.find((name) => !sources.some((source) => source.name === name));
  if (missing !== undefined) throw usageError(`source '${missing}' is not configured (STRATA_ADVISORIES)`);
  const chosen = asked.length === 0 ? sources : sources.filter(({ name }) => asked.includes(name));
  if (chosen.length > 0) return chosen;
  throw usageError('no advisory source is configured (STRATA_ADVISORIES)');
}

type Enrichment = Awaited<ReturnType<typeof openEnrichment>>;

async function syncOne(
  source: AdvisorySource,
  { stderr, ...enrichment }: Enrichment & { readonly signal: AbortSignal; readonly stderr: OutputStream },
): Promise<SyncEnd> {
  const counter = startCounter(source.name, 'records', stderr);
  try {
    return await runSource(source, {
      ...enrichment,
      onStep: ({ read, total }) => counter.set(read, total),
    });
  } finally {
    counter.stop();
  }
}

function printOutcome(stdout: OutputStream, done: readonly Synced[], options: SyncOptions): void {
  if (options.json) {
    printJson(
      stdout,
      done.map(({ source, end }) => ({ source, ...end })),
    );
    return;
  }
  const rows = done.map(({ source, end }) => [
    source,
    end.kind,
    end.kind === 'busy' ? '' : String(end.read),
    end.kind === 'busy' ? '' : String(end.skipped),
    end.kind === 'failed' ? end.error : end.kind === 'busy' ? 'another process is syncing this source' : '',
  ]);
  printTable(stdout, ['source', 'outcome', 'read', 'skipped', ''], rows);
}

function judgeOutcome(done: readonly Synced[], signal: AbortSignal): void {
  if (signal.aborted) throw new CommandError('interrupted; run the same command again to continue', { exitCode: 130 });
  const failed = done.filter(({ end }) => end.kind === 'failed');
  if (failed.length > 0) throw new CommandError(`${counted(failed.length, 'source')} could not be read`);
}
