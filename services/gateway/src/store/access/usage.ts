// Totals of usage and spending, by day and by key, team or model.
import { type Kysely, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';

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

export class UsageTable {
  readonly #db: Kysely<GatewayDatabase>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#db = db;
  }

  /** Newest day first. */
  async totals({ since, until, keyId, team, model, by, limit }: UsageQuery): Promise<readonly UsageTotal[]> {
    const ofKey = by === undefined || by === 'key';
    const ofTeam = by === undefined || by === 'team';
    const ofModel = by === undefined || by === 'model';
    const { rows } = await sql<UsageTotal>`
      select day, ${ofKey ? sql`key_id` : NOTHING} as "keyId", ${ofKey ? sql`label` : NOTHING} as label,
        ${ofTeam ? sql`team` : NOTHING} as team, ${ofModel ? sql`model` : NOTHING} as model,
        sum(requests) as requests, sum(prompt_tokens) as "promptTokens", sum(cached_tokens) as "cachedTokens",
        sum(completion_tokens) as "completionTokens", sum(spend) as "spendMicros"
      from token_usage left join api_keys on api_keys.id = token_usage.key_id
      where day >= ${since} ${until === undefined ? sql`` : sql`and day <= ${until}`}
        ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
        ${team === undefined ? sql`` : sql`and team = ${team}`}
        ${model === undefined ? sql`` : sql`and model = ${model}`}
      group by 1, 2, 3, 4, 5 order by 1 desc, 2, 4, 5 limit ${limit}`.execute(this.#db);
    return rows;
  }
}
