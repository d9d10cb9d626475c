// The limits of a key's policy and of its team's: what an answer may cost is reserved in each account before the work, by
// the same reservations as the tokens of a key's day, and replaced afterwards by what it has cost.
import { CompletionError } from '@strata/inference';
import { LRUCache } from 'lru-cache';
import {
  type Account,
  ANY_MODEL,
  accountOf,
  accountsOf,
  amountText,
  type Charge,
  costOf,
  dayOf,
  endOfPeriod,
  type GatewayKey,
  type Period,
  type Price,
} from '../store/access/policy.ts';
import type { GatewayStore } from '../store/index.ts';
import type { PlannedTokens, TakenTokens, TokenQuota } from './token-quota.ts';

export interface BudgetDeps {
  readonly tokens: TokenQuota;
  readonly teams: Pick<GatewayStore['teams'], 'prices'>;
  readonly now: () => Date;
  /** An account has reached its warning in the period that ends on this day; called once by this gateway. */
  readonly onWarning?: (account: Account, day: string) => void;
}

/** What was reserved in all accounts. `settle` as that of a reservation. */
export interface Budgeted {
  readonly charge: Charge;
  readonly settle: (usedTokens: number, micros: number, endedAt?: Date | undefined) => () => void;
}

type Taken = readonly [Pick<Account, 'unit' | 'period'>, TakenTokens];

export class Budgets {
  readonly #deps: BudgetDeps;
  /** By account: the period and amount that were reported. */
  readonly #warned = new LRUCache<string, string>({ max: 10_000 });
  #prices: ReadonlyMap<string, Price> = new Map();

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  /** Reads the prices; called when they may have changed. Answers in progress keep theirs. */
  async refresh(): Promise<void> {
    this.#prices = await this.#deps.teams.prices();
  }

  /** Whether an answer has a price, or its key limits of its own. */
  concern({ access }: GatewayKey, model: string): boolean {
    return access !== null || this.#priceOf(model) !== null;
  }

  #priceOf(model: string): Price | null {
    return this.#prices.get(model) ?? this.#prices.get(ANY_MODEL) ?? null;
  }

  /**
   * Reserves what an answer may cost. Undefined, without any work, for a model without a price and a key without limits of
   * its own. Throws CompletionError if an account has less left, or if its spend is limited and the model has no price.
   */
  async reserve(key: GatewayKey, planned: PlannedTokens, model: string): Promise<Budgeted | undefined> {
    const price = this.#priceOf(model);
    const accounts = key.access?.limits.flatMap(accountsOf) ?? [];
    if (accounts.length === 0) return price ? { charge: { price, accounts: [] }, settle: () => () => {} } : undefined;
    if (price === null && accounts.some(({ unit }) => unit === 'spend')) throw unpriced(model);
    const { promptTokens, answerTokens } = planned;
    const used = { promptTokens, cachedTokens: 0, completionTokens: answerTokens };
    const max = { tokens: promptTokens + answerTokens, spend: costOf(maxPrice(price), used) };
    const taken: Taken[] = [];
    try {
      for (const account of accounts) taken.push([account, await this.#take(account, max[account.unit])]);
    } catch (error) {
      this.#settle(taken, { tokens: 0, spend: 0 });
      throw error;
    }
    return this.#budgeted(taken, { price, accounts: accounts.map(({ name }) => name) });
  }

  /** Reserves what an answer that another gateway has admitted may cost, whatever is left. */
  reserveAgain(charge: Charge, { promptTokens, answerTokens }: PlannedTokens): Budgeted {
    const used = { promptTokens, cachedTokens: 0, completionTokens: answerTokens };
    const max = { tokens: promptTokens + answerTokens, spend: costOf(maxPrice(charge.price), used) };
    const taken = charge.accounts.map((name): Taken => {
      const account = accountOf(name);
      const of = { keyId: name, day: endOfPeriod(this.#today(), account.period) };
      return [account, this.#deps.tokens.takeAnyway(of, max[account.unit])];
    });
    return this.#budgeted(taken, charge);
  }

  async #take(account: Account, amount: number): Promise<TakenTokens> {
    const { name, unit, period, limit } = account;
    const of = { keyId: name, day: endOfPeriod(this.#today(), period), limit };
    const taken = await this.#deps.tokens.take(of, amount);
    if ('settle' in taken) {
      this.#warn(account, of.day, taken.used);
      return taken;
    }
    const left = Math.max(0, limit - taken.used);
    const owner = accountOf(name).team === undefined ? 'key' : 'team';
    throw refusal({ unit, period, limit, left, owner, amount, waitMs: untilEnd(this.#deps.now(), period) });
  }

  #warn(account: Account, day: string, used: number): void {
    const { name, warning } = account;
    if (warning === undefined || used < warning || this.#warned.get(name) === `${day} ${warning}`) return;
    this.#warned.set(name, `${day} ${warning}`);
    this.#deps.onWarning?.(account, day);
  }

  #budgeted(taken: readonly Taken[], charge: Charge): Budgeted {
    return {
      charge,
      settle: (usedTokens, micros, endedAt) => this.#settle(taken, { tokens: usedTokens, spend: micros }, endedAt),
    };
  }

  /** An answer counts in the period in which it ends. */
  #settle(
    taken: readonly Taken[],
    used: Readonly<Record<Account['unit'], number>>,
    endedAt = this.#deps.now(),
  ): () => void {
    const today = dayOf(endedAt);
    const released = taken.map(([{ unit, period }, { settle }]) => settle(used[unit], endOfPeriod(today, period)));
    return () => {
      for (const release of released) release();
    };
  }

  #today(): string {
    return dayOf(this.#deps.now());
  }
}

/** A prompt may come from the cache or not, whichever costs more. */
const maxPrice = (price: Price | null): Price | null =>
  price && { ...price, input: Math.max(price.input, price.cached) };

interface Exhausted extends Pick<Account, 'unit' | 'period' | 'limit'> {
  readonly left: number;
  readonly owner: 'key' | 'team';
  readonly amount: number;
  /** Undefined: the period has no end. */
  readonly waitMs: number | undefined;
}

const PERIOD_TEXT: Readonly<Record<Period, string>> = { day: ' a day', month: ' a month', total: '' };

function refusal({ unit, period, limit, left, owner, amount, waitMs }: Exhausted): CompletionError {
  const text = (of: number) => (unit === 'spend' ? amountText(of) : `${of} tokens`);
  const message = `This key's ${owner === 'team' ? 'team may' : 'limit is to'} ${unit === 'spend' ? 'spend' : 'use'} ${text(limit)}${PERIOD_TEXT[period]} (UTC), of which ${text(left)} is left; the request needs up to ${text(amount)}.`;
  const isRetried = amount <= limit && waitMs !== undefined;
  return new CompletionError('insufficient_quota', message, isRetried ? { retryAfterMs: waitMs } : {});
}

const unpriced = (model: string) =>
  new CompletionError(
    'unsupported_value',
    `The spend of this key is limited, and the model '${model.slice(0, 100)}' has no price; the operator of the gateway sets one.`,
    { param: 'model' },
  );

/** Milliseconds to the end of the period in UTC. */
function untilEnd(now: Date, period: Period): number | undefined {
  if (period === 'total') return undefined;
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return (period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)) - now.getTime();
}
