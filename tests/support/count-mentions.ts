// Mentions counted the slow and plain way, to hold the service's numbers against.

export interface CountedMention {
  readonly feed: string;
  readonly domain: string;
  readonly at: number;
}

export interface CountedLeader {
  readonly rank: number;
  readonly domain: string;
  readonly mentions: number;
  readonly feeds: number;
  readonly previous_rank: number | null;
}

const DAY_MS = 86_400_000;
export const dayOf = (at: number) => Math.floor(at / DAY_MS);

/** Mentions of `days` UTC days, of which the last is `last`. */
export function within(mentions: readonly CountedMention[], { last, days }: { last: number; days: number }) {
  return mentions.filter(({ at }) => dayOf(at) <= last && dayOf(at) > last - days);
}

/** The whole leaderboard of a window that ends with a day. */
export function leadersOf(
  mentions: readonly CountedMention[],
  { last, days }: { readonly last: number; readonly days: number },
): CountedLeader[] {
  const before = new Map(
    ranked(within(mentions, { last: last - days, days })).map(({ domain, rank }) => [domain, rank]),
  );
  return ranked(within(mentions, { last, days })).map((leader) => ({
    ...leader,
    previous_rank: before.get(leader.domain) ?? null,
  }));
}

function ranked(mentions: readonly CountedMention[]) {
  const of = Map.groupBy(mentions, ({ domain }) => domain);
  const rows = [...of].map(([domain, named]) => ({
    domain,
    mentions: named.length,
    feeds: new Set(named.map(({ feed }) => feed)).size,
  }));
  rows.sort((a, b) => b.mentions - a.mentions || (a.domain < b.domain ? -1 : 1));
  return rows.map((row) => ({ rank: 1 + rows.filter((other) => other.mentions > row.mentions).length, ...row }));
}

/** Mentions of each of `days` days, oldest first. */
export function sumsByDay(
  mentions: readonly CountedMention[],
  { last, days }: { readonly last: number; readonly days: number },
): { date: string; mentions: number }[] {
  return Array.from({ length: days }, (_, i) => last - days + 1 + i).map((day) => ({
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
    mentions: mentions.filter(({ at }) => dayOf(at) === day).length,
  }));
}
