// Which tool answers a topic for a kind of subject, and the page of the explorer that shows the same.
import type { Category } from '@strata/detect';
import { MAX_LIMIT, type Question } from '../question.ts';
import { domainChanges, domainProfile, domainRisk } from '../questions/domains.ts';
import { feedDomain, feedLeaderboard } from '../questions/feeds.ts';
import { marketShare, migrations, securityScorecard, statistics } from '../questions/markets.ts';
import { adoption, leaderboard, provider, providerCustomers, supplyChain } from '../questions/providers.ts';
import { advisories, affectedDomains, alerts, anomalies } from '../questions/security.ts';
import type { Intent } from './intent.ts';
import type { TimeWindow } from './times.ts';
import { CHANGES, type Topic } from './topics.ts';

export interface ToolCall {
  readonly question: Question;
  readonly input: Readonly<Record<string, unknown>>;
  /** Path of the page, from the root of the explorer. */
  readonly page: string;
}

interface DomainFilter {
  readonly category?: Category | undefined;
  readonly window?: TimeWindow | undefined;
}

/** Items of a list: a chat is not a table. */
const limit = 8;
const page = (path: string, query: Readonly<Record<string, string | undefined>> = {}) => {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return search.size === 0 ? path : `${path}?${search}`;
};

export function domainCall(topic: Topic, domain: string, { category, window }: DomainFilter): ToolCall {
  const at = `/domain/${encodeURIComponent(domain)}`;
  switch (topic) {
    case 'moves':
    case 'lost':
    case 'gained':
      return { question: domainChanges, input: { domain, category, limit: window ? MAX_LIMIT : limit }, page: at };
    case 'risk':
      return { question: domainRisk, input: { domain }, page: at };
    case 'vulnerabilities':
      return { question: affectedDomains, input: { domain, limit }, page: at };
    case 'news':
      return { question: feedDomain, input: { domain, limit }, page: `/feeds/${encodeURIComponent(domain)}` };
    default:
      return { question: domainProfile, input: { domain, evidence: 1 }, page: at };
  }
}

export function providerCall(topic: Topic, name: string, window?: TimeWindow): ToolCall {
  const at = `/provider/${encodeURIComponent(name)}`;
  switch (topic) {
    case 'moves':
    case 'lost':
      return { question: providerCustomers, input: { provider: name, direction: 'out', ...window, limit }, page: at };
    case 'gained':
      return { question: providerCustomers, input: { provider: name, direction: 'in', ...window, limit }, page: at };
    case 'risk':
      return { question: supplyChain, input: { provider: name, limit: 5 }, page: at };
    case 'adoption':
      return { question: adoption, input: { tool: name, days: 30, limit: 5 }, page: at };
    default:
      return { question: provider, input: { provider: name, limit }, page: at };
  }
}

/** The windows of the leaderboard of feeds, by age. */
const FEED_WINDOWS: Readonly<Record<string, string>> = { '24h': '1d', '1d': '1d', '7d': '7d', '30d': '30d' };

/** Whether the answer about a topic can be limited to a time. */
export function hasWindow(topic: Topic, { since, until }: TimeWindow): boolean {
  if (topic === 'news') return until === undefined && Object.hasOwn(FEED_WINDOWS, since);
  // The answer has these days without a time.
  if (topic === 'adoption') return until === undefined && since === '30d';
  return topic === 'anomalies' || topic === 'alerts' || CHANGES.has(topic);
}

type Market = Pick<Intent, 'topic' | 'category' | 'asksForDomains' | 'isOfExploited' | 'advisory'>;

/** Of all domains, or of one market. */
export function marketCall({ topic, category, ...asked }: Market, window?: TimeWindow): ToolCall {
  const providers = topic === 'adoption' ? MAX_LIMIT : 10;
  switch (topic) {
    case 'moves':
    case 'lost':
    case 'gained':
      return {
        question: migrations,
        input: { category, ...(window ?? { days: 30 }), limit },
        page: page('/migrations', { category }),
      };
    case 'vulnerabilities':
      return {
        question: asked.asksForDomains ? affectedDomains : advisories,
        input: {
          ...(asked.isOfExploited && { known_exploited: true }),
          ...(asked.advisory && { advisory: asked.advisory }),
          limit: asked.asksForDomains ? limit : 5,
        },
        page: '/advisories',
      };
    case 'news':
      return {
        question: feedLeaderboard,
        input: { limit, ...(window && { window: FEED_WINDOWS[window.since] }) },
        page: '/feeds',
      };
    case 'anomalies':
      return { question: anomalies, input: { ...window, limit: 5 }, page: '/alerts' };
    case 'alerts':
      return { question: alerts, input: { ...window, limit: 5 }, page: '/alerts' };
    case 'security':
      return { question: securityScorecard, input: { limit: 3 }, page: '/security' };
    default:
      if (category !== undefined)
        return { question: marketShare, input: { category, limit: providers }, page: page('/market', { category }) };
      return topic === 'count' || topic === 'risk'
        ? { question: statistics, input: {}, page: '/status' }
        : { question: leaderboard, input: { limit: providers }, page: '/market' };
  }
}
