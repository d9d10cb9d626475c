// The exporter: fills the tables from the store and keeps them up to date with its logs, one block at a time. One process at a
// time may run it. Interrupted anywhere, it continues after the last committed block.
import type { RoleOf } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { createTables, removeTables } from '../tables/create-tables.ts';
import { BlockWriter, finishLastBlock } from './apply-block.ts';
import { stateRowOf, statesOf } from './domain-row.ts';
import { changedIds, logRows, timesOf } from './log-rows.ts';
import type { BlockPosition, Position } from './position.ts';
import type { ExportSource } from './source.ts';

export interface ExporterDeps {
  readonly clickhouse: ClickHouse;
  readonly source: ExportSource;
  readonly roleOf: RoleOf;
  /** Replaces the largest sizes of blocks in tests. */
  readonly maxRows?: Partial<typeof MAX_ROWS> | undefined;
}

const MAX_ROWS = {
  /** Domains of one block of the first read, and of one page of it: a block is a million rows of services. */
  domains: 120_000,
  page: 10_000,
  /** Of one block of the logs. */
  events: 10_000,
  scans: 20_000,
};

export class Exporter {
  readonly #deps: ExporterDeps;
  #position: BlockPosition | undefined;
  readonly #storeId: string;
  readonly #max: typeof MAX_ROWS;

  private constructor(deps: ExporterDeps, storeId: string) {
    this.#deps = deps;
    this.#storeId = storeId;
    this.#max = { ...MAX_ROWS, ...deps.maxRows };
  }

  /**
   * Creates the tables, and finishes the block that was committed last. Empties the tables if none was, if they are of another
   * store, or if events after their position were deleted.
   */
  static async open(deps: ExporterDeps): Promise<Exporter> {
    const { clickhouse, source } = deps;
    const exporter = new Exporter(deps, await source.storeId());
    await createTables(clickhouse);
    const position = await finishLastBlock(clickhouse);
    const isUsable = position?.storeId === exporter.#storeId && (await source.reaches(position));
    if (isUsable) exporter.#position = position;
    // Also without a position: an interrupted removal may have left rows.
    else await exporter.#startAgain();
    return exporter;
  }

  /** The position of the tables; undefined: they are empty. */
  get position(): Position | undefined {
    return this.#position;
  }

  /**
   * Writes the next block. Returns false if there was nothing to write. After it has rejected, open another exporter: the block may be
   * committed.
   */
  async step(): Promise<boolean> {
    const position = this.#position;
    if (position === undefined) return this.#history();
    return position.stage === 'domains' ? this.#domains(position) : this.#log(position);
  }

  async #history(): Promise<true> {
    const writer = this.#writer();
    const { seq, scanId } = await this.#deps.source.readHistory({
      changeDays: (batch) => writer.add({ change_days: batch.values().map((day) => ({ ...day })) }),
      migrations: (batch) =>
        writer.add({
          migrations: batch.map(({ domainId, confirmedAt, category, from, to }) => {
            return { domain_id: domainId, confirmed_at: confirmedAt, category, from_provider: from, to_provider: to };
          }),
        }),
      scanDays: (days) =>
        writer.add({
          scan_days: days.map(({ day, rulebook, scans, measured }) => ({ day, rulebook, scans, measured })),
        }),
    });
    this.#position = await writer.commit({ storeId: this.#storeId, stage: 'domains', seq, scanId, domainId: 0 });
    return true;
  }

  async #domains(position: BlockPosition): Promise<true> {
    const { source, roleOf } = this.#deps;
    const writer = this.#writer();
    let domainId = position.domainId;
    let isEnd = false;
    // In one statement: they are small.
    const times: ReturnType<typeof timesOf>[] = [];
    while (times.length < this.#max.domains && !isEnd) {
      const { domains, last, seq } = await source.domainsAfter(domainId, this.#max.page);
      // One at a time: all rows of a page at once take the garbage collector as long as their text.
      const rows = domains.values().map((domain) => ({ ...stateRowOf(domain, { seq, roleOf }), sign: 1 }));
      await writer.add({ domains: rows });
      for (const domain of domains) times.push(timesOf(domain));
      isEnd = last === undefined;
      domainId = last ?? domainId;
    }
    await writer.add({ times });
    this.#position = await writer.commit({ ...positionOf(position), stage: isEnd ? 'log' : 'domains', domainId });
    return true;
  }

  async #log(position: BlockPosition): Promise<boolean> {
    const { clickhouse, source, roleOf } = this.#deps;
    const events = await source.eventsSince(position.seq, this.#max.events);
    const scans = await source.scansSince(position.scanId, this.#max.scans);
    const seq = events.at(-1)?.seq ?? position.seq;
    const scanId = scans.at(-1)?.id ?? position.scanId;
    if (seq === position.seq && scanId === position.scanId) return false;
    // Asked after the read: what was read is complete if nothing after the position had been deleted by then.
    if (!(await source.reaches(position))) {
      await this.#startAgain();
      return true;
    }
    const writer = this.#writer();
    await writer.add(logRows({ events, scans }, await statesOf(clickhouse, changedIds(events)), roleOf));
    this.#position = await writer.commit({ ...positionOf(position), seq, scanId });
    return true;
  }

  #writer(): BlockWriter {
    return new BlockWriter(this.#deps.clickhouse, this.#position);
  }

  async #startAgain(): Promise<void> {
    this.#position = undefined;
    await removeTables(this.#deps.clickhouse);
    await createTables(this.#deps.clickhouse);
  }
}

const positionOf = ({ storeId, stage, seq, scanId, domainId }: BlockPosition): Position => {
  return { storeId, stage, seq, scanId, domainId };
};
