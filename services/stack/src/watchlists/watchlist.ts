// Watchlists: domains, the rules about them, and the channels that notifications are sent to. Types and limits.
import { type Category, registrableDomain } from '@strata/detect';

export const RULE_KINDS = [
  'gained_provider',
  'lost_provider',
  'migrated_to',
  'posture_fell',
  'advisory_known_exploited',
  'expires_soon',
  'named_in_feed',
] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

/** `provider` and `from` are ids. Optional conditions narrow the rule. */
export interface Rule {
  readonly kind: RuleKind;
  /** gained_provider, lost_provider; migrated_to: the new provider, required. */
  readonly provider?: string | undefined;
  /** migrated_to: the previous provider. */
  readonly from?: string | undefined;
  readonly category?: Category | undefined;
  /** posture_fell: the score fell by at least this; without it, to a worse grade. */
  readonly points?: number | undefined;
  /** expires_soon: days before the certificate expires. */
  readonly days?: number | undefined;
}

export const CHANNEL_KINDS = ['webhook', 'slack', 'teams', 'email'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];
export const DIGESTS = ['none', 'hourly', 'daily'] as const;

export const ADDRESS_STATES = ['waiting', 'confirmed', 'refused'] as const;
export type AddressState = (typeof ADDRESS_STATES)[number];

export interface Channel {
  readonly id: string;
  readonly kind: ChannelKind;
  /** URL, or the address of an e-mail. */
  readonly target: string;
  /** webhook: the key of the signature, `whsec_` and base64. */
  readonly secret?: string | undefined;
  readonly digest: (typeof DIGESTS)[number];
  /** IANA name. */
  readonly timeZone: string;
  /** Local times, `22:00`; deliveries wait until `to`. */
  readonly quietHours?: { readonly from: string; readonly to: string } | undefined;
  /** email: the decision of the owner of the address, and the secret of its links. Stored with the address, not the channel. */
  readonly confirmation?: { readonly state: AddressState; readonly token: string } | undefined;
}

/** Those who receive the messages of a channel, by the registrable domain or the address of its host. */
export function receiverOf({ kind, target }: Channel): string {
  if (kind === 'email') return kind;
  const host = URL.parse(target)?.hostname ?? '';
  return registrableDomain(host) ?? host;
}

export interface Watchlist {
  readonly id: string;
  readonly keyId: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly channels: readonly Channel[];
  /** Secret of the address of the feed. */
  readonly feedToken: string;
  readonly domainCount: number;
  /** Of a list that follows a query. */
  readonly query?: string | undefined;
  readonly evaluatedAt?: Date | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What matching needs of a list. */
export type MatchedList = Pick<Watchlist, 'id' | 'rules'>;

/** What a rule reports. Times are ISO 8601 UTC. */
export interface Notification {
  readonly rule: RuleKind;
  readonly at: string;
  readonly title: string;
  readonly domain: string;
  /** Of an advisory that affects several domains of the list: the first of them. */
  readonly domains?: readonly string[];
  readonly detail: Readonly<Record<string, string | number | null>>;
  /** Path of the underlying data. */
  readonly ref: string;
}

export const MAX_RULES = 20;
export const MAX_CHANNELS = 5;
/** Notifications in one message. */
export const MAX_PER_MESSAGE = 100;

/** Limits by the tier of the key: free keys are created without an account. */
export const limitsOf = (tier: string) =>
  tier === 'free' ? { lists: 5, domains: 1_000 } : { lists: 50, domains: 10_000 };

/** Names the rule in the records of what was sent: the same rule of a changed list notifies of an event only once. */
export function ruleKey({ kind, provider, from, category, points, days }: Rule): string {
  return [kind, provider, from, category, points, days]
    .map((part) => part ?? '')
    .join(' ')
    .trimEnd();
}
