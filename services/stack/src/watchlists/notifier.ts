// Matches new events and mentions with watchlists, and stores what their rules report.
import { domainsOf } from '../enrichment/exposure/exposed-domains.ts';
import type { Exposures } from '../enrichment/exposure/exposures.ts';
import type { MatchedTo, Store, StoredEvent } from '../store/index.ts';
import { ExpiryCheck } from './expiry-check.ts';
import { domainsIn, type Match, type MatchContext, match, type Signal } from './match.ts';

export interface NotifierDeps {
  readonly store: Pick<Store, 'watchlists' | 'watched' | 'notifications' | 'events' | 'feeds'>;
  readonly names: MatchContext;
  readonly exposures: Exposures;
  /** The name of a domain in the index, by its number. */
  readonly domainName: (id: number) => string;
  /** The clock of deliveries. */
  readonly now: () => Date;
  /** The clock of the history. */
  readonly clock: () => Date;
}

const EVENTS_AT_ONCE = 200;
const MENTIONS_AT_ONCE = 500;
/** Domains in one query. */
const DOMAINS_AT_ONCE = 1_000;

export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #expiry: ExpiryCheck;
  #to: MatchedTo;

  private constructor(deps: NotifierDeps, to: MatchedTo) {
    this.#deps = deps;
    this.#expiry = new ExpiryCheck(deps);
    this.#to = to;
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

  /** Matches everything new. The index must be up to date. Must not run concurrently. */
  async match(): Promise<void> {
    const { store, exposures } = this.#deps;
    // Until advisories are loaded, the domains that one affects are not known.
    if (!exposures.isLoaded) return;
    // Read first: an event of a list that is created before the next statement is not skipped.
    const to = await ends(store);
    if (!(await store.watchlists.isUsed())) return this.#skip(to);
    for (let isMore = true; isMore; ) isMore = await this.#matchEvents();
    for (let isMore = true; isMore; ) isMore = await this.#matchMentions();
    await this.#expiry.step();
  }

  async #skip(to: MatchedTo): Promise<void> {
    if (to.seq === this.#to.seq && to.mention === this.#to.mention) return;
    await this.#deps.store.notifications.moveTo(to);
    this.#to = to;
  }

  async #matchEvents(): Promise<boolean> {
    const events = await this.#deps.store.events.since(this.#to.seq, EVENTS_AT_ONCE);
    const last = events.at(-1);
    if (!last) return false;
    const signals = events.flatMap((event) => signalsOf(event, this.#deps));
    await this.#record(signals, { ...this.#to, seq: last.seq });
    return events.length === EVENTS_AT_ONCE;
  }

  async #matchMentions(): Promise<boolean> {
    const mentions = await this.#deps.store.watched.mentionsSince(this.#to.mention, MENTIONS_AT_ONCE);
    const last = mentions.at(-1);
    if (!last) return false;
    const signals = mentions.map(
      ({ id, ...mention }): Signal => ({ kind: 'mention', key: `mention_${id}`, ...mention }),
    );
    await this.#record(signals, { ...this.#to, mention: last.id });
    return mentions.length === MENTIONS_AT_ONCE;
  }

  async #record(signals: readonly Signal[], to: MatchedTo): Promise<void> {
    const { store, names, now } = this.#deps;
    const matches: Match[] = [];
    // The domains of one advisory may be many: each signal alone, the rest together.
    const [alone, together] = [signals.filter(isWide), signals.filter((signal) => !isWide(signal))];
    for (const { list, domains } of await store.watchlists.watching([...new Set(together.flatMap(domainsIn))]))
      for (const signal of together)
        matches.push(
          ...match(
            signal,
            list,
            domainsIn(signal).filter((domain) => domains.has(domain)),
            names,
          ),
        );
    for (const signal of alone)
      for (const { list, domains } of await this.#watching(domainsIn(signal)))
        matches.push(...match(signal, list, [...domains].sort(), names));
    if (matches.length > 0) await store.notifications.record(matches, { to, now: now() });
    else await store.notifications.moveTo(to);
    this.#to = to;
  }

  async #watching(domains: readonly string[]) {
    const lists = new Map<string, Awaited<ReturnType<Store['watchlists']['watching']>>[number]>();
    for (let from = 0; from < domains.length; from += DOMAINS_AT_ONCE)
      for (const found of await this.#deps.store.watchlists.watching(domains.slice(from, from + DOMAINS_AT_ONCE))) {
        const domains = new Set([...(lists.get(found.list.id)?.domains ?? []), ...found.domains]);
        lists.set(found.list.id, { list: found.list, domains });
      }
    return lists.values();
  }
}

const isWide = (signal: Signal) => domainsIn(signal).length > 1;

async function ends({ events, feeds }: Pick<Store, 'events' | 'feeds'>): Promise<MatchedTo> {
  return { seq: await events.latestSeq(), mention: await feeds.mentions.latestId() };
}

/** The same ids as in the public stream. */
const eventId = (seq: number) => `ev_${String(seq).padStart(10, '0')}`;

function signalsOf(
  event: StoredEvent,
  { exposures, domainName }: Pick<NotifierDeps, 'exposures' | 'domainName'>,
): Signal[] {
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
      const domains: string[] = [];
      domainsOf(exposures, entry).version.each((id) => domains.push(domainName(id)));
      const { id: advisory, title } = entry.advisory;
      return [{ kind: 'exploited', key, at, advisory, title, domains }];
    }
    case 'domain-exposed':
      return event.payload.advisoryIds.flatMap((id) => {
        const entry = exposures.advisories.find(id);
        if (!entry) return [];
        const { title } = entry.advisory;
        // A scan may find several advisories: each is an event of its own.
        return [{ kind: 'exploited', key: `${key} ${id}`, at, advisory: id, title, domains: [domain] } as const];
      });
    case 'posture-regressed':
    case 'anomaly-found':
    case 'domain-removed':
      return [];
    default:
      return event satisfies never;
  }
}
