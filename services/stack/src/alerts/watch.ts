// Evaluates new events and completed days, and stores anomalies and alerts.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type Anomaly,
  DAY_MS,
  dayOf,
  firstWatchedDay,
  judge,
  type Sample,
  WINDOW_DAYS,
  watchedSeries,
} from '@strata/analytics';
import {
  type AlertDeps,
  type AnnounceFailures,
  announceDomain,
  type Reach,
  raiseReachAlerts,
  reachOf,
} from '../enrichment/exposure/announcements.ts';
import { dateOf } from '../index/live-index.ts';
import type { ChangeConfirmed, DomainChanged, StoredAlert, StoredAnomaly, StoredEvent } from '../store/index.ts';
import { anomalyAlert, massMigrationAlert, regressionAlert } from './alerts.ts';

const EVENTS_AT_ONCE = 500;
/** Minimum interval between alerts on the same subject. */
const QUIET_MS = 7 * DAY_MS;
/** After a long stop only the latest days are evaluated; older ones are not current. */
const MAX_DAYS = 7;
/** Series evaluated before the event loop runs other work. */
const SERIES_AT_ONCE = 60;

/** Threshold for a mass migration: a provider loses this share of its domains, and at least this number, within a week. */
const MASS = { days: 7, minDomains: 5, share: 0.1 } as const;

export interface WatchDeps extends AlertDeps {
  /** Takes the advisories that failed alone with the events to `seq`, to publish them later: the watch goes on. */
  readonly setAside: (failures: AnnounceFailures, seq: number) => void;
}

export class Watch {
  readonly #deps: WatchDeps;
  #seq: number;
  #day: number;

  private constructor(deps: WatchDeps, seq: number, day: number) {
    this.#deps = deps;
    this.#seq = seq;
    this.#day = day;
  }

  /** Without a stored position it begins with the present. */
  static async open(deps: WatchDeps): Promise<Watch> {
    const watched = await deps.store.signals.watched();
    if (watched) return new Watch(deps, watched.seq, watched.day);
    const begun = { seq: await deps.store.events.latestSeq(), day: dayOf(deps.now().getTime()) - 1 };
    // Stored immediately, so that a restart after a crash does not begin later.
    await deps.store.signals.setWatched(begun);
    return new Watch(deps, begun.seq, begun.day);
  }

  /** Evaluates everything new; the advisories are loaded. Must not run concurrently. */
  async evaluate(): Promise<void> {
    const before = { seq: this.#seq, day: this.#day };
    for (let isMore = true; isMore; ) isMore = await this.#evaluateEvents();
    const yesterday = dayOf(this.#deps.now().getTime()) - 1;
    for (let day = Math.max(this.#day + 1, yesterday - MAX_DAYS + 1); day <= yesterday; day += 1) {
      await this.#judgeDay(day);
      this.#day = day;
    }
    if (this.#seq !== before.seq || this.#day !== before.day) {
      await this.#deps.store.signals.setWatched({ seq: this.#seq, day: this.#day });
    }
  }

  async #evaluateEvents(): Promise<boolean> {
    const { seq: known } = await this.#deps.analytics.asOf();
    // What follows from an event is asked when the answers include it.
    const found = await this.#deps.store.events.since(this.#seq, EVENTS_AT_ONCE);
    const events = found.filter(({ seq }) => seq <= known);
    const left = new Map<string, ChangeConfirmed>();
    const reached: Reach[] = [];
    for (const event of events) {
      if (event.kind === 'domain-changed') {
        if (!event.payload.isFirst) await this.#judgeDomain(event, event.payload);
        const reach = reachOf(event.payload, this.#deps.exposures);
        await announceDomain(event, event.payload, reach, this.#deps);
        reached.push(reach);
      }
      if (event.kind === 'change-confirmed' && event.payload.type === 'migrated' && event.payload.from !== null) {
        left.set(`${event.payload.category} ${event.payload.from}`, event.payload);
      }
      if (event.kind === 'posture-regressed') {
        for (const regression of event.payload.regressions) {
          await this.#alert(regressionAlert({ domain: event.domain, regression, at: event.at }));
        }
      }
    }
    for (const change of left.values()) await this.#checkMassMigration(change);
    const failures = await raiseReachAlerts(reached, this.#deps);
    this.#seq = events.at(-1)?.seq ?? this.#seq;
    this.#deps.setAside(failures, this.#seq);
    return events.length === EVENTS_AT_ONCE;
  }

  /** Alerts if the losses of a provider exceed the usual fluctuation. */
  async #checkMassMigration({ category, from: provider, confirmedAt }: ChangeConfirmed): Promise<void> {
    if (provider === null) return;
    const { analytics, names } = this.#deps;
    const day = dayOf(confirmedAt);
    const days = { since: (day - MASS.days + 1) * DAY_MS, until: (day + 1) * DAY_MS - 1 };
    const { flows } = await analytics.flows({ ...days, category, provider, limit: 1_000 });
    const out = flows.filter((flow) => flow.from === provider).reduce((sum, flow) => sum + flow.domains, 0);
    if (out < MASS.minDomains) return;
    // Within this category: the provider's other categories do not count.
    const { total: left } = await analytics.search({ filter: { provider, category }, limit: 0, offset: 0 });
    const share = out / (left + out);
    if (share < MASS.share) return;
    const at = new Date(confirmedAt);
    await this.#alert(massMigrationAlert({ category, provider, out, share, days: MASS.days, at, flows, names }));
  }

  async #judgeDay(day: number): Promise<void> {
    const { known, store } = this.#deps;
    const now = dayOf(this.#deps.now().getTime());
    const earlier = await store.signals.anomaliesSince(new Date((day - WINDOW_DAYS) * DAY_MS));
    const isAnomaly = new Set(
      earlier.map((each) => `${each.subjectKind} ${each.subject} ${each.metric} ${anomalyDay(each)}`),
    );
    const series = [];
    const history = await known.historySince(firstWatchedDay(day));
    const { size } = known;
    const usersOf = (provider: string) => known.usersOf(provider);
    for (const each of watchedSeries({ size, history, usersOf }, { day, now })) {
      series.push(each);
      if (series.length % SERIES_AT_ONCE === 0) await yieldToEventLoop();
    }
    for (const [i, { subjectKind, subject, metric, kind, samples, today }] of series.entries()) {
      if (i % SERIES_AT_ONCE === 0) await yieldToEventLoop();
      const marked = samples.map((sample) => ({
        ...sample,
        isAnomaly: isAnomaly.has(`${subjectKind} ${subject} ${metric} ${sample.day}`),
      }));
      const found = judge(marked, today, { kind, tests: series.length });
      // The last millisecond of the day, which still belongs to the day.
      if (found) await this.#raise({ subjectKind, subject, metric, at: (day + 1) * DAY_MS - 1 }, found);
    }
  }

  /** Evaluates a domain after a scan with changes: an unchanged domain cannot become anomalous. */
  async #judgeDomain({ domain, at }: StoredEvent, { domainId, rulebook }: DomainChanged): Promise<void> {
    const { store, known } = this.#deps;
    const day = dayOf(at.getTime());
    const since = new Date((day - WINDOW_DAYS) * DAY_MS);
    const scans = await store.lists.scansOf(domainId, { since, rulebook });
    const byDay = new Map(scans.filter((scan) => dayOf(scan.at) <= day).map((scan) => [dayOf(scan.at), scan]));
    if (byDay.size < 2) return;
    const changes = new Map<number, number>();
    for (const confirmedAt of await store.lists.changesOf(domainId, since)) {
      changes.set(dayOf(confirmedAt), (changes.get(dayOf(confirmedAt)) ?? 0) + 1);
    }
    // About one percent of domains change in a day; each of their three series is tested.
    const tests = Math.max(300, Math.round(known.size * 0.03));
    for (const metric of ['services', 'records', 'changes'] as const) {
      const samples: Sample[] = [...byDay].map(([each, scan]) => ({
        day: each,
        value: metric === 'changes' ? (changes.get(each) ?? 0) : scan[metric],
        exposure: 1,
      }));
      const today = samples.find((sample) => sample.day === day);
      const found = today && judge(samples, today, { kind: metric === 'changes' ? 'count' : 'level', tests });
      if (found) await this.#raise({ subjectKind: 'domain', subject: domain, metric, at: at.getTime() }, found);
    }
  }

  async #raise(
    {
      subjectKind,
      subject,
      metric,
      at,
    }: Pick<StoredAnomaly, 'subjectKind' | 'subject' | 'metric'> & { readonly at: number },
    found: Anomaly,
  ): Promise<void> {
    const { store, names } = this.#deps;
    const { value, mean, stddev, sigma, direction, samples, windowDays: window_days, chance, severity } = found;
    const anomaly: StoredAnomaly = {
      id: `an_${dateOf(found.day)}_${subjectKind}_${subject}_${metric}`,
      at: new Date(at),
      subjectKind,
      subject,
      metric,
      severity,
      facts: { value, mean, stddev, sigma, direction, window_days, samples, chance },
    };
    await store.signals.addAnomaly(anomaly);
    await this.#alert(anomalyAlert(anomaly, names));
  }

  async #alert(alert: StoredAlert): Promise<void> {
    const { store, events } = this.#deps;
    if (await store.signals.addAlert(alert, { quietMs: QUIET_MS })) events.publish('alert-stored');
  }
}

const anomalyDay = ({ at }: StoredAnomaly): number => dayOf(at.getTime());
