// What a source of advisories is: steps from a cursor on, each of which is durable before the next is asked for.
import type { AdvisoryRecord, ExploitScore, KnownExploited, RecordReading } from '@strata/advisories';
import type { Fetcher } from '@strata/scan';
import { readJson } from './sources/read-json.ts';

export const SOURCE_NAMES = ['kev', 'epss', 'nvd', 'osv', 'cve', 'folder'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** What one step brought, and where the sync stands after it. */
export interface Step {
  readonly records?: readonly AdvisoryRecord[];
  /** The whole catalogue, and the ids of all its entries, understood or not. */
  readonly exploited?: readonly KnownExploited[];
  readonly named?: readonly string[];
  /** The list is one of some: what is not in it stays. */
  readonly isPart?: boolean;
  readonly scores?: readonly ExploitScore[];
  /** Records looked at, and those of them that could not be read; one of these in words. */
  readonly read: number;
  readonly skipped: number;
  readonly problem: string | null;
  /** JSON. */
  readonly cursor: unknown;
  /** Records in the whole sync, where that is known. */
  readonly total?: number;
}

/** How long publishers are waited for. */
export interface Patience {
  /** Before the second try; then twice as long each time. */
  readonly firstPauseMs: number;
  /** For one document, and for one archive. */
  readonly requestMs: number;
  readonly downloadMs: number;
}

export interface SourceDeps {
  readonly fetcher: Fetcher;
  /** The clock that advisories are dated by. */
  readonly now: () => Date;
  /** For what is downloaded; what is in it can be had again. */
  readonly directory: string;
  /** In place of what suits the real publishers. */
  readonly patience?: Patience | undefined;
  readonly signal: AbortSignal;
}

export interface AdvisorySource {
  readonly name: SourceName;
  readonly everyMs: number;
  /**
   * The steps from a cursor on: null, or what a step or a whole sync before gave. Returns the cursor that the next sync
   * begins with. A cursor that is not understood begins anew. Throws SourceError when the source cannot go on.
   */
  sync(cursor: unknown, deps: SourceDeps): AsyncGenerator<Step, unknown>;
}

/** Why a source cannot go on, in words for whoever runs the service. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** What the publisher wants us to wait before we ask again. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The records of one step, as they are read. */
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

/** What a file or answer that holds one record says of it. */
export function readRecord(body: Buffer, id: string, read: (json: unknown) => RecordReading): RecordReading {
  let json: unknown;
  try {
    json = readJson(body);
  } catch {
    return { record: null, problem: `${id.slice(0, 100)}: no JSON` };
  }
  return read(json);
}
