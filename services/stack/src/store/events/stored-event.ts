// The events of the log and their payloads, by kind.
import type { IndexedDomain, IndexedService } from '@strata/analytics';
import type { Regression, ServiceChange } from '@strata/detect';

/**
 * `domain-changed`: the published state of a domain changed; carries all that the index keeps. In events written before
 * versions were recorded, a service ends with the confidence.
 */
export interface DomainChanged extends Omit<IndexedDomain, 'id' | 'name' | 'firstSeen' | 'changedAt'> {
  readonly domainId: number;
  readonly isFirst: boolean;
  readonly rulebook: string;
  /** The previous services with a version; present if the domain now shows a version that it did not show before. */
  readonly shownBefore?: readonly IndexedService[];
  /** The previous score; present if it differs and is comparable. */
  readonly scoreBefore?: number;
}

/** `change-confirmed`: a change of services. Times are milliseconds since the epoch. */
export interface ChangeConfirmed extends ServiceChange {
  /** Public id. */
  readonly id: string;
  readonly domainId: number;
  /** Whether the domain did not use `to` before in any category; and no longer uses `from` in any category. */
  readonly isEntry: boolean;
  readonly isExit: boolean;
}

/** `posture-regressed`: the posture became weaker. */
export interface PostureRegressed {
  readonly domainId: number;
  readonly regressions: readonly Regression[];
}

/** `anomaly-found`: an anomalous daily figure. */
export interface AnomalyFound {
  readonly anomalyId: string;
}

/** Domains possibly affected when the event was written, by advisory. Undefined in events of an earlier version. */
interface Counted {
  readonly counts?: Readonly<Record<string, { readonly version: number; readonly product: number }>>;
}

/** `advisory-touched`: a vulnerability was published, or became known to be exploited, while domains show its product. */
export interface AdvisoryTouched extends Counted {
  readonly advisoryId: string;
  readonly reason: 'published' | 'exploited';
}

/** `domain-exposed`: a scan of the domain shows versions that known-exploited vulnerabilities affect. */
export interface DomainExposed extends Counted {
  readonly domainId: number;
  readonly advisoryIds: readonly string[];
}

/** `domain-removed`: no client has requested a domain that a request had added. */
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

export type EventKind = keyof PayloadByKind;

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
