// What a batch of answers adds to the usage, and takes from what was reserved for them.
import type { GatewayDatabase } from '../tables.ts';
import { accountOf, endOfPeriod } from './policy.ts';

export interface TokensUsed {
  readonly promptTokens: number;
  /** The part of the prompt tokens that came from the prompt cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface AnswerUsage extends TokensUsed {
  readonly keyId: string;
  readonly model: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  /** What it costs in millionths, and the accounts in which it was reserved in addition to the key's tokens of the day. */
  readonly charge?: { readonly micros: number; readonly accounts: readonly string[] } | undefined;
}

/** A row of `token_usage`. */
export type UsageSum = Omit<GatewayDatabase['token_usage'], 'spend'> & { spend: number };

/** Sums the usage by key, day and model. */
export function summed(used: readonly AnswerUsage[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const { keyId, day, model, promptTokens, cachedTokens, completionTokens, charge } of used) {
    const name = JSON.stringify([keyId, day, model]);
    const sum = sums.get(name) ?? {
      ...{ key_id: keyId, day, model, requests: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, spend: 0 },
    };
    sum.requests += 1;
    sum.prompt_tokens += promptTokens;
    sum.cached_tokens += cachedTokens;
    sum.completion_tokens += completionTokens;
    sum.spend += charge?.micros ?? 0;
    sums.set(name, sum);
  }
  return [...sums.values()];
}

/** What was reserved for answers, by account and the last day of its period: of keys, and of their policies. */
export function reservedFor(used: readonly AnswerUsage[]) {
  type Sum = { readonly key_id: string; readonly day: string; used: number };
  const [ofKeys, ofPolicies] = [new Map<string, Sum>(), new Map<string, Sum>()];
  for (const { keyId, day, promptTokens, completionTokens, charge } of used)
    for (const account of [keyId, ...(charge?.accounts ?? [])]) {
      const { unit, period } = accountOf(account);
      const end = endOfPeriod(day, period);
      const sums = account === keyId ? ofKeys : ofPolicies;
      const sum = sums.get(`${account} ${end}`) ?? { key_id: account, day: end, used: 0 };
      sum.used += unit === 'spend' ? (charge?.micros ?? 0) : promptTokens + completionTokens;
      sums.set(`${account} ${end}`, sum);
    }
  return { ofKeys: [...ofKeys.values()], ofPolicies: [...ofPolicies.values()] };
}
