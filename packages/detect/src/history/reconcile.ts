// The rules of history: how an observation of a domain changes its known services. Pure.
import { EXCLUSIVE_ROLES, type Profile, type Service, type Source } from '../profile.ts';
import { changeOf, changesOf, type Movement, pairUp, type ServiceChange } from './change.ts';
import { begin, canEnd, type KnownService, keyOf, opinionOf, sourcesOf } from './known-service.ts';

export interface ReconcileOptions {
  /** Minimum time between the two observations that confirm a change. */
  readonly confirmAfterMs: number;
  /**
   * Sources that an earlier observation measured and this rulebook has read. A service that another source shows may have
   * existed before: it begins the history and is not a change. Empty on a first scan. After a change of rulebook these are
   * the sources that `previous` measured, so that a look-up that failed then does not make the new rules look like a migration.
   */
  readonly measuredBefore: ReadonlySet<Source>;
  /**
   * The last stored evidence, detected again with the current rulebook; present only if the rulebook has changed since.
   */
  readonly previous?: Profile;
}

export interface Reconciliation {
  /** All open intervals after this observation. */
  readonly open: readonly KnownService[];
  readonly ended: readonly { readonly service: KnownService; readonly validTo: number }[];
  /** Pending services that were not observed again; they leave no interval. */
  readonly dropped: readonly KnownService[];
  readonly changes: readonly ServiceChange[];
  /** A service is waiting for a second observation. */
  readonly isPending: boolean;
}

/** A new service waits at most this many confirmation intervals, which outlasts a transient failure. */
const LONGEST_WAIT = 4;

/**
 * Applies one observation. A service begins or ends only after two successful observations at least `confirmAfterMs`
 * apart. An observation that failed to measure the sources of a service neither confirms nor resets its state. Applying
 * the same observation twice changes nothing.
 */
export function reconcile(known: readonly KnownService[], profile: Profile, options: ReconcileOptions): Reconciliation {
  const now = Date.parse(profile.observedAt);
  if (profile.state === 'unmeasured') return unchanged(known);

  const reclassified = options.previous ? reclassify(known, options.previous, now) : undefined;
  const start = reclassified?.open ?? known;
  const observed = new Map(profile.services.map((service) => [keyOf(service), service]));
  const open: KnownService[] = [];
  const dropped: KnownService[] = [];
  const arrivals: Movement[] = [];
  const departures: Movement[] = [];
  // Based on sources that this rulebook has not read before: possibly the rule was removed and not the service. What the
  // new rules find in the previous evidence was read.
  const unread: Movement[] = [];
  const wereRead = new Set(options.previous?.services.map(keyOf));

  for (const service of start) {
    const found = observed.get(keyOf(service));
    observed.delete(keyOf(service));
    const isOldEnough = (since: number) => now > since && now - since >= options.confirmAfterMs;
    if (found) {
      const fresh = {
        ...service,
        ...opinionOf(found),
        ...shownNow(service, found, profile),
        lastObserved: now,
        firstMissed: null,
      };
      if (service.status !== 'pending') open.push({ ...fresh, status: 'confirmed' });
      else if (isOldEnough(service.validFrom)) arrivals.push({ service: fresh, at: service.validFrom });
      else open.push(fresh);
    } else if (!canEnd(service, profile)) {
      open.push(service);
    } else if (service.status === 'pending') {
      dropped.push(service);
    } else if (
      !wereRead.has(keyOf(service)) &&
      sourcesOf(service).some((source) => !options.measuredBefore.has(source))
    ) {
      unread.push({ service, at: now });
    } else if (service.status === 'confirmed') {
      open.push({ ...service, status: 'ending', firstMissed: now });
    } else if (service.firstMissed !== null && isOldEnough(service.firstMissed)) {
      departures.push({ service, at: service.firstMissed });
    } else {
      open.push(service);
    }
  }

  const baseline: Movement[] = [];
  for (const service of observed.values()) {
    const isBaseline = sourcesOf(service).every((source) => !options.measuredBefore.has(source));
    const begun = begin(service, now, isBaseline ? 'confirmed' : 'pending');
    open.push(begun);
    if (isBaseline) baseline.push({ service: begun, at: now });
  }

  // In an exclusive role a new service waits while its predecessor is missing for the first time, so that both become
  // one
  // migration. It does not wait forever for a predecessor that can no longer be measured.
  const isWaiting = ({ service }: Movement) =>
    EXCLUSIVE_ROLES.has(service.role) &&
    open.some(
      (other) =>
        other.role === service.role &&
        other.status === 'ending' &&
        (canEnd(other, profile) || now - service.validFrom < LONGEST_WAIT * options.confirmAfterMs),
    );
  const confirmed = arrivals.filter((arrival) => !isWaiting(arrival));
  for (const { service } of arrivals.filter(isWaiting)) open.push(service);
  for (const { service } of confirmed) open.push({ ...service, status: 'confirmed' });

  return {
    open,
    ended: [
      ...(reclassified?.ended ?? []),
      ...[...unread, ...departures].map(({ service, at }) => ({ service, validTo: at })),
    ],
    dropped: [...(reclassified?.dropped ?? []), ...dropped],
    changes: [
      ...(reclassified?.changes ?? []),
      ...pairUp(baseline, unread)
        .filter(({ from }) => from)
        .map((pair) => changeOf(pair, 'reclassified', now)),
      ...changesOf(confirmed, departures, now),
    ],
    isPending: open.some((service) => service.status !== 'confirmed'),
  };
}

function unchanged(known: readonly KnownService[]): Reconciliation {
  const isPending = known.some((service) => service.status !== 'confirmed');
  return { open: known, ended: [], dropped: [], changes: [], isPending };
}

/** A version ends only if the headers and the page that would show it were measured. */
function shownNow(known: KnownService, found: Service, { sources }: Profile) {
  const isMeasured = [sources.header, sources.html].every((source) => source === 'observed' || source === 'absent');
  const { version, platform } = found.version !== null || isMeasured ? found : known;
  return { version, platform };
}

/**
 * Differences between the new and the old rulebook on the old evidence take effect at once and are not changes of the
 * domain. The roles of `known` are already the new ones.
 */
function reclassify(known: readonly KnownService[], previous: Profile, now: number) {
  const reclassified = new Map(previous.services.map((service) => [keyOf(service), service]));
  const open: KnownService[] = [];
  const dropped: KnownService[] = [];
  const departures: Movement[] = [];
  for (const service of known) {
    const isFound = reclassified.delete(keyOf(service));
    // A service that was already missing is absent from the old evidence for that reason, not because of the rulebook.
    if (isFound || service.status === 'ending' || !canEnd(service, previous)) open.push(service);
    else if (service.status === 'pending') dropped.push(service);
    else departures.push({ service, at: now });
  }
  const arrivals = [...reclassified.values()].map((service) => ({
    service: begin(service, now, 'confirmed'),
    at: now,
  }));
  open.push(...arrivals.map(({ service }) => service));
  const changes = pairUp(arrivals, departures).map((pair) => changeOf(pair, 'reclassified', now));
  return { open, dropped, ended: departures.map(({ service }) => ({ service, validTo: now })), changes };
}
