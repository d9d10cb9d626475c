// A service that a domain is known to use, as one open interval of its history.
import type { Profile, Service, ServiceEvidence, Source } from '../profile.ts';

/**
 * `pending`: observed once, not published. `confirmed`: in use. `ending`: in use, but a successful look-up did not find
 * it once.
 */
export type ServiceStatus = 'pending' | 'confirmed' | 'ending';

/** One open interval. Times are milliseconds since the epoch. */
export interface KnownService extends Service {
  readonly status: ServiceStatus;
  readonly validFrom: number;
  readonly lastObserved: number;
  /** When a successful look-up first did not find it; null unless `ending`. */
  readonly firstMissed: number | null;
}

/** Identity of a service within a domain. */
export function keyOf(service: Pick<Service, 'category' | 'provider'>): string {
  return `${service.category}/${service.provider}`;
}

/** A service can end only if all sources that showed it were looked up and its role was measured. */
export function canEnd(service: KnownService, profile: Profile): boolean {
  const role = profile.roles[service.role];
  if (role === 'unmeasured' || role === 'blocked') return false;
  return sourcesOf(service).every((source) => {
    const measurement = profile.sources[source];
    return measurement === 'observed' || measurement === 'absent';
  });
}

export function sourcesOf(service: { readonly evidence: readonly ServiceEvidence[] }): Source[] {
  return [...new Set(service.evidence.map((piece) => piece.source))];
}

/** What an observation states about a service. */
export function opinionOf({ role, confidence, score, evidence, version, platform }: Service) {
  return { role, confidence, score, evidence, version, platform };
}

export function begin(service: Service, now: number, status: ServiceStatus): KnownService {
  const { category, provider } = service;
  return {
    category,
    provider,
    ...opinionOf(service),
    status,
    validFrom: now,
    lastObserved: now,
    firstMissed: null,
  };
}
