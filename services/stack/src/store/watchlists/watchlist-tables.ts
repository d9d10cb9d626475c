// The tables of watchlists, for Kysely.
import type { Generated } from 'kysely';
import type { AddressState } from '../../watchlists/watchlist.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
export const DELIVERY_KINDS = ['notifications', 'test', 'confirmation'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

export interface WatchlistTables {
  watchlists: {
    id: string;
    key_id: string;
    name: string;
    /** JSON of the rules and of the channels. */
    rules: string;
    channels: string;
    feed_token: string;
    domain_count: number;
    /** Decides the domains; evaluated at this time. */
    query: string | null;
    evaluated_at: number | null;
    created_at: number;
    updated_at: number;
  };
  watchlist_domains: {
    watchlist_id: string;
    domain: string;
  };
  watchlist_notifications: {
    id: Generated<number>;
    watchlist_id: string;
    /** `ruleKey`. */
    rule: string;
    /** The event that the rule reports. */
    event: string;
    created_at: number;
    /** JSON of a `Notification`. */
    body: string;
  };
  /** A message to a channel with the notifications of its list from the first to the last. */
  watchlist_deliveries: {
    id: Generated<number>;
    /** Identifies the message to its receiver, in every attempt. */
    message_id: string;
    watchlist_id: string;
    channel: string;
    /** `receiverOf` its channel; empty in old rows. */
    receiver: string;
    kind: DeliveryKind;
    /** 0 for a test and for a confirmation. */
    first_notification: number;
    last_notification: number;
    notifications: number;
    state: DeliveryState;
    attempts: number;
    /** Of the next attempt. */
    due_at: number;
    created_at: number;
    finished_at: number | null;
    /** HTTP status or SMTP reply of the last attempt, and why it failed. */
    status: number | null;
    error: string | null;
  };
  /** The e-mail addresses that a key has named, in lower case. */
  watchlist_addresses: {
    key_id: string;
    address: string;
    /** The address without a tag. */
    mailbox: string;
    /** Secret of its links. */
    token: string;
    state: AddressState;
    asked_at: number;
  };
}
