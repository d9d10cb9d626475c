// Totals of usage and spending, by day and by key, team or model.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { DAY_MS, dayOf } from './policy.ts';

export interface UsageQuery {
  /** UTC days, both included. */
  readonly since: string;
  readonly until?: string | undefined;
  readonly keyId?: string | undefined;
  readonly team?: string | undefined;
  readonly model?: string | undefined;
  /** Undefined: by all three. */
  readonly by?: 'key' | 'team' | 'model' | undefined;
  readonly limit: number;
}

export interface UsageTotal {
  readonly day: string;
  /** Null: rows are not by it; a team is also null for keys without one. */
  readonly keyId: string | null;
  readonly label: string | null;
  readonly team: string | null;
  readonly model: string | null;
  readonly requests: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly spendMicros: number;
}

const NOTHING = sql`cast(null as text)`;
const dayBefore = (day: string): string => dayOf(new Date(Date.parse(day) - DAY_MS));

export class UsageTable {
  readonly #db: Kysely<GatewayDatabase>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#db = db;
  }

  /** Newest day first. Each day is a query: on SQLite a long range would stop the process for as long. */
  async totals({ since, until = '9999-12-31', ...query }: UsageQuery): Promise<readonly UsageTotal[]> {
    const all: UsageTotal[] = [];
    for (let day = await this.#last(since, until); day !== null; day = await this.#last(since, dayBefore(day))) {
      all.push(...(await this.#ofDay(day, { ...query, limit: query.limit - all.length })));
      if (all.length >= query.limit) break;
      await yieldToEventLoop();
    }
    return all;
  }

  /** The last day with usage. */
  async #last(since: string, until: string): Promise<string | null> {
    const { rows } = await sql<{ readonly day: string | null }>`
      select max(day) as day from token_usage where day >= ${since} and day <= ${until}`.execute(this.#db);
    return rows[0]?.day ?? null;
  }

  async #ofDay(
    day: string,
    { keyId, team, model, by, limit }: Omit<UsageQuery, 'since' | 'until'>,
  ): Promise<readonly UsageTotal[]> {
    const ofKey = by === undefined || by === 'key';
    const ofTeam = by === undefined || by === 'team';
    const ofModel = by === undefined || by === 'model';
    const { rows } = await sql<UsageTotal>`
      select day, ${ofKey ? sql`key_id` : NOTHING} as "keyId", ${ofKey ? sql`label` : NOTHING} as label,
        ${ofTeam ? sql`team` : NOTHING} as team, ${ofModel ? sql`model` : NOTHING} as model,
        sum(requests) as requests, sum(prompt_tokens) as "promptTokens", sum(cached_tokens) as "cachedTokens",
        sum(completion_tokens) as "completionTokens", sum(spend) as "spendMicros"
      from token_usage left join api_keys on api_keys.id = token_usage.key_id
      where day = ${day}
        ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
        ${team === undefined ? sql`` : sql`and team = ${team}`}
        ${model === undefined ? sql`` : sql`and model = ${model}`}
      group by 1, 2, 3, 4, 5 order by 2, 4, 5 limit ${limit}`.execute(this.#db);
    return rows;
  }
}
