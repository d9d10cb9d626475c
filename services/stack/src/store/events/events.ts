// The event log: domain events in one strictly increasing order, for the index, the caches and the public stream.
import type { Category, ConfidenceLevel, DomainState, Regression, ServiceChange } from '@strata/detect';
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../schema.ts';

/** Events written before versions were recorded end with the confidence. */
export type FeedService = readonly [
  category: Category,
  provider: string,
  confidence: ConfidenceLevel,
  version?: string | null,
  platform?: string | null,
];

/** Payload of `domain-changed`: the state by which the index counts domains. */
export interface DomainChanged {
  readonly domainId: number;
  readonly isFirst: boolean;
  readonly scannedAt: number;
  readonly state: DomainState;
  readonly sector: string;
  readonly rulebook: string;
  /** `packPosture` and `packHolders` of the detection package. */
  readonly posture: number;
  readonly holders: number;
  readonly score: number | null;
  readonly services: readonly FeedService[];
  /** The previous services with a version; present if the domain now shows a version that it did not show before. */
  readonly shownBefore?: readonly FeedService[];
}

/** Payload of `change-confirmed`. Times are milliseconds since the epoch. */
export interface ChangeConfirmed extends ServiceChange {
  /** Public id. */
  readonly id: string;
  readonly domainId: number;
  /** Whether the domain did not use `to` before in any category; and no longer uses `from` in any category. */
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

/** Payload of `advisory-touched`: a vulnerability was published, or became known to be exploited, while domains show its product. */
export interface AdvisoryTouched {
  readonly advisoryId: string;
  readonly reason: 'published' | 'exploited';
}

/** Payload of `domain-exposed`: a scan of the domain shows versions that known-exploited vulnerabilities affect. */
export interface DomainExposed {
  readonly domainId: number;
  readonly advisoryIds: readonly string[];
}

/** Payload of `domain-removed`: no client has requested a domain that a request had added. */
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

/** `domain` is empty for an event without a domain. */
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

  /** Events after a sequence number, in order; numbers are never reused. */
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

/** Only this package writes payloads, so their shape is trusted. */
function storedEvent(row: Selectable<Database['events']>): StoredEvent {
  return { ...row, at: new Date(row.at), payload: JSON.parse(row.payload) } as StoredEvent;
}
