// The rules that the page offers, and names in pasted text.

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

/** Names by line, comma or blank; each once. */
export const namesIn = (text: string): string[] => [
  ...new Set(text.split(/[\s,;"]+/).filter((name) => name.includes('.'))),
];
