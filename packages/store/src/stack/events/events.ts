// The event log: what changed, in one strictly growing order. The index, the caches and the public stream follow it.
import type { Category, ConfidenceLevel, DomainState, Regression, ServiceChange } from '@strata/detect';
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../../schema.ts';

/** Events that are older than versions end with the confidence. */
export type FeedService = readonly [
  category: Category,
  provider: string,
  confidence: ConfidenceLevel,
  version?: string | null,
  platform?: string | null,
];

/** Payload of `domain-changed`: all that sets of domains are counted by. */
export interface DomainChanged {
  readonly domainId: number;
  readonly isFirst: boolean;
  readonly scannedAt: number;
  readonly state: DomainState;
  readonly sector: string;
  readonly rulebook: string;
  /** `packPosture` and `packHolders` of detection. */
  readonly posture: number;
  readonly holders: number;
  readonly score: number | null;
  readonly services: readonly FeedService[];
  /** The services with a version before it, where a version is shown now that was not shown then; else left out. */
  readonly shownBefore?: readonly FeedService[];
}

/** Payload of `change-confirmed`. Times are milliseconds since the epoch. */
export interface ChangeConfirmed extends ServiceChange {
  /** Public id. */
  readonly id: string;
  readonly domainId: number;
  /** With it the domain began to use `to` at all; and stopped using `from` altogether. */
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

/** Payload of `posture-regressed`. */
export interface PostureRegressed {
  readonly domainId: number;
  readonly regressions: readonly Regression[];
}

/** Payload of `anomaly-found`. */
export interface AnomalyFound {
  readonly anomalyId: string;
}

/** Payload of `advisory-touched`: a vulnerability that became known, or known to be exploited, while domains show its product. */
export interface AdvisoryTouched {
  readonly advisoryId: string;
  readonly reason: 'published' | 'exploited';
}

/** Payload of `domain-exposed`: a later scan of the domain shows versions that known-exploited vulnerabilities affect. */
export interface DomainExposed {
  readonly domainId: number;
  readonly advisoryIds: readonly string[];
}

/** Payload of `domain-removed`: no client has asked for a domain that a request had added. */
export interface DomainRemoved {
  readonly domainId: number;
}

interface PayloadByKind {
  readonly 'domain-changed': DomainChanged;
  readonly 'change-confirmed': ChangeConfirmed;
  readonly 'posture-regressed': PostureRegressed;
  readonly 'anomaly-found': AnomalyFound;
  readonly 'advisory-touched': AdvisoryTouched;
  readonly 'domain-exposed': DomainExposed;
  readonly 'domain-removed': DomainRemoved;
}

/** `domain` is empty where the event is of none. */
export type StoredEvent = {
  readonly [Kind in keyof PayloadByKind]: {
    readonly seq: number;
    readonly at: Date;
    readonly kind: Kind;
    readonly domain: string;
    readonly payload: PayloadByKind[Kind];
  };
}[keyof PayloadByKind];

export class EventTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async since(seq: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.#db
      .selectFrom('events')
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit)
      .selectAll()
      .execute();
    return rows.map(storedEvent);
  }

  async latestSeq(): Promise<number> {
    const row = await this.#db.selectFrom('events').orderBy('seq', 'desc').limit(1).select('seq').executeTakeFirst();
    return row?.seq ?? 0;
  }
}

/** Payloads are written by this package alone, so their shape is known. */
function storedEvent(row: Selectable<Database['events']>): StoredEvent {
  return { ...row, at: new Date(row.at), payload: JSON.parse(row.payload) } as StoredEvent;
}
