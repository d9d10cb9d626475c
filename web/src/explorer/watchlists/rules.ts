// The rules that the page offers, and names in pasted text.
import type { Watchlist } from '@strata/client';
import { formatName } from '../../ui/formats.ts';

/** Each with its label. */
export const RULES = {
  gained_provider: 'A provider was gained',
  lost_provider: 'A provider was lost',
  posture_fell: 'The security grade fell',
  advisory_known_exploited: 'Affected by an exploited vulnerability',
  expires_soon: 'The certificate expires within 14 days',
  named_in_feed: 'Named in a feed',
} as const;

export const MIGRATED_TO = 'Migrated to a competitor';

export type Rule = Watchlist['rules'][number];

/** Whether a checkbox says all of it. */
export const isPlain = (rule: Rule) => rule.kind in RULES && Object.keys(rule).length === 1;

export const ruleLabel = (kind: string): string =>
  (RULES as Readonly<Record<string, string>>)[kind] ?? formatName(kind);

/** Names by line, comma, blank or angle bracket; each once. */
export const namesIn = (text: string): string[] => [
  ...new Set(text.split(/[\s,;"<>]+/).filter((name) => /\.[^.]/.test(name))),
];
