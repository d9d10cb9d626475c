// The interface of an advisory source: steps from a cursor, each durable before the next is requested.
import type { AdvisoryRecord, ExploitScore, KnownExploited, RecordReading } from '@strata/advisories';
import type { Fetcher } from '@strata/scan';
import { readJson } from './sources/read-json.ts';

export const SOURCE_NAMES = ['kev', 'epss', 'nvd', 'osv', 'cve', 'folder'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** The data of one step, and the cursor after it. */
export interface Step {
  readonly records?: readonly AdvisoryRecord[];
  /** The complete catalogue; `named` has the ids of all its entries, including unreadable ones. */
  readonly exploited?: readonly KnownExploited[];
  readonly named?: readonly string[];
  /** The list is partial: entries that it lacks are kept. */
  readonly isPart?: boolean;
  readonly scores?: readonly ExploitScore[];
  /** Processed records, unreadable records, and one example problem. */
  readonly read: number;
  readonly skipped: number;
  readonly problem: string | null;
  /** JSON. */
  readonly cursor: unknown;
  /** Records in the complete sync, if known. */
  readonly total?: number;
}

/** Time limits for requests to publishers. */
export interface Timeouts {
  /** Backoff before the second try; doubles each time. */
  readonly firstPauseMs: number;
  /** For one document, and for one archive. */
  readonly requestMs: number;
  readonly downloadMs: number;
}

export interface SourceDeps {
  readonly fetcher: Fetcher;
  /** The clock of advisories. */
  readonly now: () => Date;
  /** Directory for downloads, which can be fetched again. */
  readonly directory: string;
  /** Replaces the defaults for the real publishers. */
  readonly timeouts?: Timeouts | undefined;
  readonly signal: AbortSignal;
}

export interface AdvisorySource {
  readonly name: SourceName;
  readonly everyMs: number;
  /**
   * The steps from a cursor: null, or the cursor of a previous step or sync. Returns the cursor for the next sync. An unreadable
   * cursor restarts from the beginning. Throws SourceError if the source cannot continue.
   */
  sync(cursor: unknown, deps: SourceDeps): AsyncGenerator<Step, unknown>;
}

/** The reason why a source cannot continue, for the operator. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** Backoff requested by the publisher; 0 without one. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    { retryAfterMs = 0, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Collects the records of one step. */
export class RecordBatch {
  readonly records: AdvisoryRecord[] = [];
  #skipped = 0;
  #problem: string | null = null;

  get size(): number {
    return this.records.length + this.#skipped;
  }

  add({ record, problem }: RecordReading): void {
    if (record) this.records.push(record);
    else this.#skipped += 1;
    this.#problem ??= problem;
  }

  step(cursor: unknown, total?: number): Step {
    const { records, size } = this;
    const counted = total === undefined ? {} : { total };
    return { records, read: size, skipped: this.#skipped, problem: this.#problem, cursor, ...counted };
  }
}

/** Reads a file or answer with one record. */
export function readRecord(body: Buffer, id: string, read: (json: unknown) => RecordReading): RecordReading {
  let json: unknown;
  try {
    json = readJson(body);
  } catch {
    return { record: null, problem: `${id.slice(0, 100)}: invalid JSON` };
  }
  return read(json);
}
