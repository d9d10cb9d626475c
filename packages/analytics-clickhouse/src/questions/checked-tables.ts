// Whether the tables can answer: they are of this version and complete before a question, and were not emptied while it was asked.
import type { ClickHouse } from '../connection/clickhouse.ts';
import { ClickHouseError } from '../connection/clickhouse-error.ts';
import { appliedPosition, type BlockPosition } from '../export/position.ts';
import { TABLES_VERSION, versionOf } from '../tables/create-tables.ts';

export interface CheckedTablesOptions {
  /** Tables of another store are not read. */
  readonly storeId?: string | undefined;
  /** Monotonic, in milliseconds; `performance.now` by default. */
  readonly now?: () => number;
}

/** One small statement. */
const TIMEOUT_MS = 5_000;
/** Questions share what was read within this time, a failure too: while ClickHouse is away, few of them wait for it. */
const SHARED_MS = 500;

export class CheckedTables {
  readonly #clickhouse: ClickHouse;
  readonly #options: CheckedTablesOptions;
  readonly #now: () => number;
  #shared: { readonly position: Promise<BlockPosition>; until: number } | undefined;

  constructor(clickhouse: ClickHouse, options: CheckedTablesOptions = {}) {
    this.#clickhouse = clickhouse;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The position of complete tables of this version, read now. Rejects with ClickHouseError `unavailable`. */
  position(): Promise<BlockPosition> {
    const reading = { position: this.#read(), until: Number.POSITIVE_INFINITY };
    this.#shared = reading;
    const ended = () => {
      reading.until = this.#now() + SHARED_MS;
    };
    reading.position.then(ended, ended);
    return reading.position;
  }

  /** The answer of complete tables: a rebuild that begins during the question rejects it. */
  async ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const shared = this.#shared;
    const before = await (shared && this.#now() < shared.until ? shared.position : this.position());
    const [asked] = await Promise.allSettled([question()]);
    // A table that does not exist is no bug during a rebuild.
    const isWrong = asked.status === 'rejected' && !isUnavailable(asked.reason);
    const { block, attempt } = asked.status === 'fulfilled' || isWrong ? await this.position() : before;
    if (block < before.block || (block === before.block && attempt !== before.attempt)) throw building();
    if (asked.status === 'rejected') throw asked.reason;
    return asked.value;
  }

  async #read(): Promise<BlockPosition> {
    const clickhouse: Pick<ClickHouse, 'query'> = {
      query: (text, params) => this.#clickhouse.query(text, params, { timeoutMs: TIMEOUT_MS }),
    };
    const [version, position] = await Promise.all([versionOf(clickhouse), appliedPosition(clickhouse)]).catch(
      (cause: unknown) => {
        if (isUnavailable(cause)) throw cause;
        // Before the first export; or this user may not read.
        throw new ClickHouseError('unavailable', 'there are no readable tables in ClickHouse', { cause });
      },
    );
    if (version !== TABLES_VERSION)
      throw new ClickHouseError(
        'unavailable',
        `the tables in ClickHouse are of version ${version}, not ${TABLES_VERSION}`,
      );
    if (position?.stage !== 'log') throw building();
    const { storeId = position.storeId } = this.#options;
    if (position.storeId !== storeId)
      throw new ClickHouseError('unavailable', 'the tables in ClickHouse are of another store');
    return position;
  }
}

const building = () => new ClickHouseError('unavailable', 'the tables in ClickHouse are being built');

/** Whether the same question may be answered later. */
export function isUnavailable(error: unknown): error is ClickHouseError {
  return error instanceof ClickHouseError && error.kind === 'unavailable';
}
