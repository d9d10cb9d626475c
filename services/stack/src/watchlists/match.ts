// What the rules of watchlists report about an event. Pure.
import { gradeOf, ROLE_FACTS } from '@strata/detect';
import type { ChangeConfirmed } from '../store/events/stored-event.ts';
import { type MatchedList, type Notification, type Rule, ruleKey } from './watchlist.ts';

/** An event as rules see it. `key` identifies it in the records of what was sent. */
export type Signal = { readonly key: string; readonly at: Date } & (
  | { readonly kind: 'change'; readonly domain: string; readonly change: ChangeConfirmed }
  | { readonly kind: 'score'; readonly domain: string; readonly before: number; readonly after: number }
  | {
      readonly kind: 'exploited';
      readonly advisory: string;
      readonly title: string | null;
      /** Undefined: all domains that the advisory affects. */
      readonly domain?: string;
    }
  | { readonly kind: 'certificate'; readonly domain: string; readonly expiresAt: Date }
  | {
      readonly kind: 'mention';
      readonly domain: string;
      readonly feed: string;
      /** Of the item. */
      readonly title: string | null;
      readonly url: string | null;
    }
);

export interface Match {
  readonly watchlistId: string;
  readonly rule: string;
  readonly event: string;
  readonly notification: Notification;
}

export interface MatchContext {
  readonly nameOf: (provider: string) => string;
}

const DAY_MS = 86_400_000;
export const DEFAULT_DAYS = 14;
/** Domains that a notification of an advisory names. */
const MAX_NAMED = 100;

/** What a list reports about an event, once per rule. `watched` are the domains of the event that the list contains. */
export function match(signal: Signal, list: MatchedList, watched: readonly string[], context: MatchContext): Match[] {
  if (watched.length === 0) return [];
  const found = new Map<string, Match>();
  for (const rule of list.rules) {
    const news = newsOf(signal, rule, watched, context);
    if (!news) continue;
    const key = ruleKey(rule);
    const notification = { rule: rule.kind, at: signal.at.toISOString(), ...news };
    found.set(key, { watchlistId: list.id, rule: key, event: signal.key, notification });
  }
  return [...found.values()];
}

type News = Omit<Notification, 'rule' | 'at'>;

function newsOf(signal: Signal, rule: Rule, watched: readonly string[], context: MatchContext): News | undefined {
  switch (signal.kind) {
    case 'change':
      return changeNews(signal.domain, signal.change, rule, context);
    case 'score': {
      const { domain, before, after } = signal;
      if (rule.kind !== 'posture_fell' || after >= before) return undefined;
      const grades = { from: gradeOf(before), to: gradeOf(after) };
      if (rule.points === undefined ? grades.from === grades.to : before - after < rule.points) return undefined;
      return {
        domain,
        title: `The security score of ${domain} fell from ${before} (${grades.from}) to ${after} (${grades.to})`,
        detail: { score_before: before, score: after, grade_before: grades.from, grade: grades.to },
        ref: `/stack/v1/intelligence/risk/${domain}`,
      };
    }
    case 'exploited': {
      if (rule.kind !== 'advisory_known_exploited') return undefined;
      const [domain = ''] = watched;
      const more = watched.length > 1 ? ` and ${watched.length - 1} more` : '';
      return {
        domain,
        title: `${signal.advisory}, known to be exploited, affects ${domain}${more}`,
        ...(watched.length > 1 && { domains: watched.slice(0, MAX_NAMED) }),
        detail: { advisory: signal.advisory, title: signal.title?.slice(0, 300) ?? null, domains: watched.length },
        ref: `/stack/v1/enrichment/affected?domain=${domain}`,
      };
    }
    case 'certificate': {
      const { domain, expiresAt, at } = signal;
      const days = Math.floor((expiresAt.getTime() - at.getTime()) / DAY_MS);
      if (rule.kind !== 'expires_soon' || days >= (rule.days ?? DEFAULT_DAYS)) return undefined;
      const when = expiresAt.toISOString();
      const verb = days < 0 ? 'expired' : 'expires';
      const title = `The certificate of ${domain} ${verb} on ${when.slice(0, 10)}`;
      return { domain, title, detail: { expires_at: when, days }, ref: `/stack/v1/domains/${domain}` };
    }
    case 'mention': {
      if (rule.kind !== 'named_in_feed') return undefined;
      const { domain, feed, title, url } = signal;
      const ref = `/stack/v1/feeds/domain/${domain}`;
      return { domain, title: `${feed} names ${domain}`, detail: { feed, item: title, url }, ref };
    }
    default:
      return signal satisfies never;
  }
}

function changeNews(domain: string, change: ChangeConfirmed, rule: Rule, { nameOf }: MatchContext): News | undefined {
  const { type, from, to, category, role, confidence } = change;
  if (rule.category !== undefined && rule.category !== category) return undefined;
  // Only the name of the provider changed.
  if (type === 'reclassified') return undefined;
  const news = (title: string): News => ({
    domain,
    title,
    detail: { change: type, category, from: from && nameOf(from), to: to && nameOf(to), confidence },
    ref: `/stack/v1/domains/${domain}/changes`,
  });
  const { label } = ROLE_FACTS[role];
  const isWanted = (provider: string) => rule.provider === undefined || rule.provider === provider;
  switch (rule.kind) {
    case 'gained_provider':
      return to !== null && isWanted(to) ? news(`${domain} now uses ${nameOf(to)} (${label})`) : undefined;
    case 'lost_provider':
      return from !== null && isWanted(from) ? news(`${domain} no longer uses ${nameOf(from)} (${label})`) : undefined;
    case 'migrated_to': {
      if (type !== 'migrated' || from === null || to === null || !isWanted(to)) return undefined;
      if (rule.from !== undefined && rule.from !== from) return undefined;
      return news(`${domain} moved from ${nameOf(from)} to ${nameOf(to)} (${label})`);
    }
    default:
      return undefined;
  }
}
