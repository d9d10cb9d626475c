// Matches new events and mentions with watchlists, and stores what their rules report.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ProductBuild } from '@strata/analytics';
import { isSuperseded, StoreError } from '@strata/db';
import { buildsNamedBy } from '../enrichment/exposure/exposed-domains.ts';
import type { Exposures } from '../enrichment/exposure/exposures.ts';
import type { KnownNames } from '../index/known-names.ts';
import type { FollowedDomains, MatchedTo, Store, StoredEvent } from '../store/index.ts';
import { analyticsOfChanges, changedIn, firstStates } from './event-step.ts';
import { ExpiryCheck } from './expiry-check.ts';
import { type Match, type MatchContext, match, type Signal } from './match.ts';
import { type QueryListDeps, QueryLists } from './query-lists.ts';

export interface NotifierDeps extends QueryListDeps {
  readonly store: Pick<Store, 'watchlists' | 'watched' | 'notifications' | 'events' | 'feeds'>;
  readonly names: MatchContext & Pick<KnownNames, 'roleOf'>;
  readonly exposures: Exposures;
  /** The clock of deliveries. */
  readonly now: () => Date;
  /** The clock of the history. */
  readonly clock: () => Date;
}

const EVENTS_AT_ONCE = 200;
const MENTIONS_AT_ONCE = 500;
/** Stored in one transaction, which bounds memory. */
const MATCHES_AT_ONCE = 1_000;
/** An advisory that fails alone so often, or for so many lists, is left for a while: nothing else waits for it. */
const MAX_TRIES = 3;
const RETRY_MS = 60_000;
/** As long as messages are tried: an advisory that fails for one list is not compared with new lists forever. */
const MAX_AGE_MS = 3 * 86_400_000;
type FailedSignals = Map<Signal, readonly unknown[]>;

export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #expiry: ExpiryCheck;
  readonly #queries: QueryLists;
  #to: MatchedTo;
  /** How often an advisory failed alone, by the key of its signal. */
  readonly #failed = new Map<string, number>();
  /** The events of those that failed too often, stored with the position: tried again at this time of deliveries. */
  #left: { readonly seqs: readonly number[]; readonly at: number };

  private constructor(deps: NotifierDeps, to: MatchedTo) {
    this.#deps = deps;
    this.#expiry = new ExpiryCheck(deps);
    this.#queries = new QueryLists(deps);
    this.#to = to;
    this.#left = { seqs: to.left ?? [], at: 0 };
  }

  /** Without a stored position it begins with the present. */
  static async open(deps: NotifierDeps): Promise<Notifier> {
    const { notifications } = deps.store;
    const stored = await notifications.matchedTo();
    if (stored) return new Notifier(deps, stored);
    const to = await ends(deps.store);
    await notifications.moveTo(to);
    return new Notifier(deps, to);
  }

  /** Matches everything new; the advisories before it are loaded. Must not run concurrently. */
  async match(): Promise<void> {
    const { store } = this.#deps;
    // Read first: an event of a list that is created before the next statement is not skipped.
    const to = await ends(store);
    if (!(await store.watchlists.isUsed())) return this.#skip(to);
    const failures: unknown[] = [];
    // What fails holds up nothing else.
    const attempt = async (step: () => Promise<unknown>): Promise<boolean> => {
      try {
        return (await step()) === true;
      } catch (error) {
        if (isSuperseded(error)) throw error;
        failures.push(error);
        return false;
      }
    };
    let areEventsMatched = false;
    const matchEvents = async () => {
      const isMore = await this.#matchEvents();
      areEventsMatched = !isMore;
      return isMore;
    };
    for (let [events, mentions] = [true, true]; events || mentions; ) {
      events = events && (await attempt(matchEvents));
      mentions = mentions && (await attempt(() => this.#matchMentions({ mayLeave: areEventsMatched })));
    }
    await attempt(() => this.#matchLeft());
    await attempt(() => this.#expiry.step());
    // Last: a domain that no longer matches was on the list at the time of the events above.
    if (areEventsMatched) await attempt(() => this.#queries.step(this.#to.seq));
    if (failures.length > 0) throw failures[0];
  }

  async #skip(to: MatchedTo): Promise<void> {
    if (to.seq === this.#to.seq && to.mention === this.#to.mention) return;
    await this.#deps.store.notifications.moveTo(to);
    this.#to = to;
  }

  async #matchEvents(): Promise<boolean> {
    const { store, exposures, names, analytics } = this.#deps;
    const stored = await store.events.since(this.#to.seq, EVENTS_AT_ONCE);
    if (stored.length === 0) return false;
    const { seq: known } = await analytics.asOf();
    // The domains that an advisory affects are asked when the answers include the events before it.
    const found = stored.filter(({ seq }) => seq <= known);
    const isCut = found.length === EVENTS_AT_ONCE || found.length < stored.length;
    const events = firstStates(found, isCut);
    const last = events.at(-1);
    if (!last) return false;
    const signals = events.flatMap((event) => signalsOf(event, exposures));
    // A domain is on a list for the events by which it begins to match and for those by which it no longer does.
    const pending = changedIn(found);
    const settled = signals.filter(({ domain = '' }) => !pending.includes(domain));
    await this.#updateLists(settled, { mayLeave: true });
    const left = await this.#queries.join(changedIn(events), () =>
      analyticsOfChanges(events, { live: analytics, roleOf: names.roleOf }),
    );
    await this.#record(signals, { to: { ...this.#to, seq: last.seq }, left });
    return isCut || events.length < found.length;
  }

  /** A domain is on the lists whose query it matches now; `mayLeave`: its events are matched, so that it may leave a list. */
  async #updateLists(signals: readonly Signal[], { mayLeave }: { readonly mayLeave: boolean }): Promise<void> {
    const domains = new Set(signals.map(({ domain }) => domain).filter((domain) => domain !== undefined));
    const { store, analytics } = this.#deps;
    const left = await this.#queries.join([...domains]);
    // Older answers do not include why a matched event has added the domain.
    if (mayLeave && left.length > 0 && (await analytics.asOf()).seq >= this.#to.seq) await store.watched.unfollow(left);
  }

  async #matchMentions(options: { readonly mayLeave: boolean }): Promise<boolean> {
    const mentions = await this.#deps.store.watched.mentionsSince(this.#to.mention, MENTIONS_AT_ONCE);
    const last = mentions.at(-1);
    if (!last) return false;
    const signals = mentions.map(
      ({ id, ...mention }): Signal => ({ kind: 'mention', key: `mention_${id}`, ...mention }),
    );
    await this.#updateLists(signals, options);
    await this.#record(signals, { to: { ...this.#to, mention: last.id } });
    return mentions.length === MENTIONS_AT_ONCE;
  }

  async #matchLeft(): Promise<void> {
    const { store, exposures, clock, ...deps } = this.#deps;
    const [{ seqs, at }, now] = [this.#left, deps.now().getTime()];
    // A later time than any delay was set by a clock that was ahead.
    if (seqs.length === 0 || (at > now && at <= now + RETRY_MS)) return;
    this.#left = { seqs: [], at: 0 };
    try {
      const signals: Signal[] = [];
      for (const seq of seqs) {
        const event = (await store.events.since(seq - 1, 1)).find((each) => each.seq === seq);
        if (event && clock().getTime() - event.at.getTime() < MAX_AGE_MS) signals.push(...signalsOf(event, exposures));
      }
      await this.#record(signals, { to: this.#to });
    } catch (error) {
      this.#left = { seqs, at };
      throw error;
    }
  }

  async #record(
    signals: readonly Signal[],
    { to: { seq, mention }, left = [] }: { readonly to: MatchedTo; readonly left?: readonly FollowedDomains[] },
  ): Promise<void> {
    const { notifications } = this.#deps.store;
    const now = this.#deps.now();
    let matches: Match[] = [];
    for await (const found of this.#matches(signals)) {
      matches.push(...found);
      if (matches.length < MATCHES_AT_ONCE) continue;
      await notifications.record(matches, { now });
      matches = [];
    }
    const to: MatchedTo = { seq, mention, ...(this.#left.seqs.length > 0 ? { left: this.#left.seqs } : {}) };
    if (matches.length + left.length > 0) await notifications.record(matches, { to, left, now });
    else await notifications.moveTo(to);
    this.#to = to;
  }

  async *#matches(signals: readonly Signal[]): AsyncGenerator<Match[]> {
    const { store, names } = this.#deps;
    const byDomain = Map.groupBy(signals, ({ domain }) => domain);
    const wide = byDomain.get(undefined) ?? [];
    byDomain.delete(undefined);
    for await (const page of store.watched.watching([...byDomain.keys()].filter((name) => name !== undefined)))
      for (const { domain, list } of page)
        yield (byDomain.get(domain) ?? []).flatMap((signal) => match(signal, list, [domain], names));
    if (wide.length > 0) yield* this.#wideMatches(wide);
  }

  /** The domains that an advisory affects may be all: each list is compared with them. */
  async *#wideMatches(signals: readonly Signal[]): AsyncGenerator<Match[]> {
    const { store, names, exposures } = this.#deps;
    const affected: { readonly signal: Signal; readonly builds: readonly ProductBuild[] }[] = [];
    const failed: FailedSignals = new Map();
    for (const signal of signals) {
      const entry = signal.kind === 'exploited' ? exposures.advisories.find(signal.advisory) : undefined;
      const uses = entry && (await this.#alone(signal, failed, () => exposures.uses(entry.products)));
      if (!uses) continue;
      const { version: builds } = buildsNamedBy(exposures, entry, uses);
      if (builds.length > 0) affected.push({ signal, builds });
    }
    let list = affected.length > 0 ? await store.watched.nextWith('advisory_known_exploited', '') : undefined;
    for (; list; list = await store.watched.nextWith('advisory_known_exploited', list.id)) {
      const watched = await store.watchlists.domainsOf(list.id);
      for (const { signal, builds } of affected) {
        const filter = { builds, among: { names: watched } };
        const answer = await this.#alone(signal, failed, () =>
          this.#deps.analytics.search({ filter, limit: watched.length, offset: 0 }),
        );
        const found = new Set(answer?.domains.map(({ name }) => name));
        yield match(
          signal,
          list,
          watched.filter((name) => found.has(name)),
          names,
        );
        await yieldToEventLoop();
      }
    }
    this.#leave(failed);
  }

  /** The answer to a question about an advisory; undefined if it fails alone, or has failed for too many lists. */
  async #alone<T>(signal: Signal, failed: FailedSignals, ask: () => Promise<T>): Promise<T | undefined> {
    const errors = failed.get(signal) ?? [];
    if (errors.length === MAX_TRIES) return undefined;
    try {
      return await ask();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // While ClickHouse does not respond, it is not the advisory that fails.
      await this.#deps.analytics.asOf();
      failed.set(signal, [...errors, error]);
      return undefined;
    }
  }

  /** Leaves advisories for later, after all were tried; rejects if one is tried again before. */
  #leave(failed: FailedSignals): void {
    const again: unknown[] = [];
    for (const [{ key }, [err]] of failed) {
      const failures = (this.#failed.get(key) ?? 0) + 1;
      this.#failed.set(key, failures);
      if (failures < MAX_TRIES) again.push(err);
      if (failures === MAX_TRIES)
        this.#deps.logger.error({ err, event: key }, 'an advisory cannot be matched with watchlists: is retried');
    }
    if (again.length > 0) throw again[0];
    if (failed.size === 0) return;
    const seqs = [...failed.keys()].map(({ key }) => Number(key.slice(EVENT.length)));
    this.#left = { seqs: [...this.#left.seqs, ...seqs], at: this.#deps.now().getTime() + RETRY_MS };
  }
}

async function ends({ events, feeds }: Pick<Store, 'events' | 'feeds'>): Promise<MatchedTo> {
  return { seq: await events.latestSeq(), mention: await feeds.mentions.latestId() };
}

/** The same ids as in the public stream. */
const EVENT = 'ev_';
const eventId = (seq: number) => `${EVENT}${String(seq).padStart(10, '0')}`;

function signalsOf(event: StoredEvent, exposures: Exposures): Signal[] {
  const { at, domain } = event;
  const key = eventId(event.seq);
  switch (event.kind) {
    case 'change-confirmed':
      return [{ kind: 'change', key, at, domain, change: event.payload }];
    case 'domain-changed': {
      const { scoreBefore: before, score: after } = event.payload;
      return before === undefined || after === null ? [] : [{ kind: 'score', key, at, domain, before, after }];
    }
    case 'advisory-touched': {
      const entry = exposures.advisories.find(event.payload.advisoryId);
      if (event.payload.reason !== 'exploited' || !entry) return [];
      const { id: advisory, title } = entry.advisory;
      return [{ kind: 'exploited', key, at, advisory, title }];
    }
    case 'domain-exposed':
      return event.payload.advisoryIds.flatMap((id) => {
        const entry = exposures.advisories.find(id);
        if (!entry) return [];
        const { title } = entry.advisory;
        // A scan may find several advisories: each is an event of its own.
        return [{ kind: 'exploited', key: `${key} ${id}`, at, advisory: id, title, domain } as const];
      });
    case 'posture-regressed':
    case 'anomaly-found':
    case 'domain-removed':
      return [];
    default:
      return event satisfies never;
  }
}
