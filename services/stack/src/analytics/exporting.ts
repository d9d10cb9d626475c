// Exports the store into ClickHouse, by one process of the store at a time. While ClickHouse does not respond, nothing is lost: the
// store keeps its log, and the exporter continues at its position, also after a stop in the middle of a block.
import { type ClickHouse, Exporter, type ExporterDeps, type Position, TakenOver } from '@strata/analytics-clickhouse';
import type { RoleOf } from '@strata/detect';
import { FailureLog, type Metrics } from '@strata/http';
import type { Logger } from 'pino';
import { aborted, sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';
import { exportSource } from './export-source.ts';

export interface ExportingDeps {
  readonly store: Pick<Store, 'events' | 'feed' | 'exportLock'>;
  readonly clickhouse: ClickHouse;
  readonly rulebook: { readonly roleOf: RoleOf };
  readonly maxRows?: ExporterDeps['maxRows'];
}

/** After a failure, and between two attempts to become the exporter. */
const RETRY_MS = 2_000;
/** Between two blocks of a complete export: small blocks cost ClickHouse merges. */
const IDLE_MS = 1_000;

export class Exporting implements AsyncDisposable {
  readonly #deps: ExportingDeps;
  #position: Position | undefined;
  #isExporting = false;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: ExportingDeps) {
    this.#deps = deps;
  }

  /** Events that are not in ClickHouse, all of them until its tables answer; undefined while this process does not export. */
  async lag(): Promise<number | undefined> {
    if (!this.#isExporting) return undefined;
    const { stage, seq = 0 } = this.#position ?? {};
    return Math.max(0, (await this.#deps.store.events.latestSeq()) - (stage === 'log' ? seq : 0));
  }

  /** Whenever no other process exports, until the signal aborts. */
  async run({ logger, signal, wait = sleep }: RunOptions): Promise<void> {
    const failures = new FailureLog(logger, { what: 'the export into ClickHouse' });
    while (!signal.aborted) {
      try {
        await using hold = await this.#deps.store.exportLock.tryTake();
        // Stays so after a failure: what ClickHouse does not have grows while it does not respond.
        this.#isExporting = hold !== undefined;
        const onBlock = () => failures.recovered();
        if (hold) await this.#follow({ signal: AbortSignal.any([signal, hold.lost]), wait, onBlock });
      } catch (error) {
        if (!(error instanceof TakenOver) && !signal.aborted) failures.failed(error);
      }
      await wait(RETRY_MS, signal);
    }
    this.#isExporting = false;
  }

  /** As `run`, but does not wait for a statement in progress, which may take minutes: disposal and the next run do. */
  async runInTerm(options: RunOptions): Promise<void> {
    this.#running = this.#running.then(() => this.run(options));
    await Promise.race([this.#running, aborted(options.signal)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
  }

  /** Exports until everything that is in the store now is in ClickHouse; undefined while another process exports. */
  async runOnce(signal: AbortSignal, onBlock: (position: Position) => void): Promise<Position | undefined> {
    await using hold = await this.#deps.store.exportLock.tryTake();
    if (!hold) return undefined;
    const exporter = await this.#open();
    while (!AbortSignal.any([signal, hold.lost]).aborted && (await exporter.step()))
      if (exporter.position) onBlock(exporter.position);
    return exporter.position;
  }

  async #follow({
    signal,
    wait,
    onBlock,
  }: {
    signal: AbortSignal;
    wait: typeof sleep;
    onBlock: () => void;
  }): Promise<void> {
    const exporter = await this.#open();
    while (!signal.aborted) {
      const isMore = await exporter.step();
      this.#position = exporter.position;
      onBlock();
      if (!isMore || exporter.position?.stage === 'log') await wait(IDLE_MS, signal);
    }
  }

  #open(): Promise<Exporter> {
    const { store, rulebook, ...deps } = this.#deps;
    return Exporter.open({ ...deps, source: exportSource(store), roleOf: rulebook.roleOf });
  }
}

interface RunOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Replaces the delays in tests. */
  readonly wait?: typeof sleep;
}

export function addExportMetrics(metrics: Metrics, exporting: Pick<Exporting, 'lag'>): void {
  const help = 'Events of the store that ClickHouse does not have, of the process that exports them';
  metrics.gauges('strata_analytics_lag', help, 'engine', async () => {
    const lag = await exporting.lag();
    return lag === undefined ? [] : [['clickhouse', lag]];
  });
}
