// What a key may do: the policies of the key and of its team, the accounts that they limit, and the prices of models.
import type { StoredKey } from '@strata/db';

/** Periods of a spend limit, in UTC. */
export const PERIODS = ['day', 'month', 'total'] as const;
export type Period = (typeof PERIODS)[number];
export const DAY_MS = 86_400_000;
/** The UTC day of a time: `2026-01-31`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Limits of a key or a team; null: unlimited. Amounts of money are millionths of the operator's currency. */
export interface Policy {
  /** Names that requests may use. */
  readonly models: readonly string[] | null;
  readonly tokensPerDay: number | null;
  readonly spend: SpendLimit | null;
}

export interface SpendLimit {
  readonly micros: number;
  readonly period: Period;
  /** The amount at which a warning is logged; absent: none. */
  readonly warning?: number | undefined;
}

/** The policy of a key, as its row has it. */
export interface KeyPolicy extends Policy {
  /** Whether it administers the gateway. Such a key asks no model. */
  readonly isAdmin: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | null;
}

export const NO_POLICY: KeyPolicy = { models: null, tokensPerDay: null, spend: null, isAdmin: false, expiresAt: null };

/** A key that has a policy or a team. */
export interface Access {
  readonly policy: KeyPolicy;
  readonly team: string | null;
  /** The key's policy and then its team's: a request must fit each. */
  readonly limits: readonly (Policy & { readonly subject: string })[];
}

export interface GatewayKey extends StoredKey {
  /** Null for a key with neither policy nor team. */
  readonly access: Access | null;
  /** Milliseconds since the epoch: when the key expires, or its secret of before a rotation. */
  readonly validUntil: number | null;
}

/** Whether a key may use a model of this name. */
export const mayUse = (access: Access | null, model: string): boolean =>
  access === null || access.limits.every(({ models }) => models === null || models.includes(model));

/** Of a million tokens, in millionths of the operator's currency; `cached`: prompt tokens that came from the cache. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** A million a million tokens: the usage of a day stays an exact number. */
export const MAX_PRICE = 1e12;

/** The price of all models without one of their own. */
export const ANY_MODEL = '*';
const MILLION = 1_000_000n;

/** What an answer costs, rounded up to a millionth. Without a price: 0. */
export function costOf(
  price: Price | null,
  used: { readonly promptTokens: number; readonly cachedTokens: number; readonly completionTokens: number },
): number {
  if (price === null) return 0;
  const cost = (tokens: number, perMillion: number) => BigInt(tokens) * BigInt(perMillion);
  const { promptTokens, cachedTokens, completionTokens } = used;
  const sum =
    cost(promptTokens - cachedTokens, price.input) +
    cost(cachedTokens, price.cached) +
    cost(completionTokens, price.output);
  return Number((sum + MILLION - 1n) / MILLION);
}

/** How an answer is charged: the price at its beginning, and the accounts in which it was reserved. */
export interface Charge {
  readonly price: Price | null;
  readonly accounts: readonly string[];
}

/** An account of a policy, and its limit. */
export interface Account {
  readonly name: string;
  readonly unit: 'tokens' | 'spend';
  readonly period: Period;
  readonly limit: number;
  /** Of what was used or reserved. */
  readonly warning?: number | undefined;
}

/** Millionths as a decimal: `25.5`. Exact below 10^15, which have at most 15 digits. */
export const amountText = (micros: number): string => String(micros / 1_000_000);

/** `25.5/month, warning at 20`. */
export const spendText = ({ micros, period, warning }: SpendLimit): string =>
  `${amountText(micros)}/${period}${warning === undefined ? '' : `, warning at ${amountText(warning)}`}`;

/** Names of teams. */
export const TEAM_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** A team in the name of an account. The id of a key has no slash. */
export const teamSubject = (team: string): string => `team/${team}`;

/** The beginning of the name of an account, before its subject. */
export const accountPrefix = (unit: Account['unit'], period: Period): string => `${unit}:${period}:`;

/** The accounts that a policy limits. The name says all that `accountOf` returns. */
export function accountsOf({ subject, tokensPerDay, spend }: Access['limits'][number]): readonly Account[] {
  const account = (unit: Account['unit'], period: Period, limit: number, warning?: number) => ({
    ...{ name: accountPrefix(unit, period) + subject, unit, period, limit, warning },
  });
  return [
    ...(tokensPerDay === null ? [] : [account('tokens', 'day', tokensPerDay)]),
    ...(spend === null ? [] : [account('spend', spend.period, spend.micros, spend.warning)]),
  ];
}

/** What the name of an account counts, and of whom. A name without parts is a key, whose tokens of a day it counts. */
export function accountOf(name: string) {
  const [unit, period, subject] = name.split(':');
  if (subject === undefined) return { unit: 'tokens', period: 'day', keyId: name, team: undefined } as const;
  const team = subject.startsWith('team/') ? subject.slice('team/'.length) : undefined;
  // Names are made only by `accountsOf`.
  return { unit: unit as Account['unit'], period: period as Period, keyId: subject, team };
}

/** The last day of a period, as names of days sort: every month has a day 31 here. */
export function endOfPeriod(day: string, period: Period): string {
  if (period === 'day') return day;
  return period === 'month' ? `${day.slice(0, 7)}-31` : '9999-12-31';
}

/** The date of the day that `endOfPeriod` returns. */
export function dateOfEnd(end: string, period: Period): string {
  if (period !== 'month') return end;
  const [year = 0, month = 0] = end.split('-').map(Number);
  // Day 0 of the month after it.
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

/** The first day of the period that ends on this one. */
export function startOfPeriod(end: string, period: Period): string {
  if (period === 'day') return end;
  return period === 'month' ? `${end.slice(0, 7)}-01` : '0000-01-01';
}
