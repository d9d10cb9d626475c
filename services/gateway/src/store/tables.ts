// The tables of the gateway, for Kysely. Times are milliseconds since the epoch.
import type { CommonTables } from '@strata/db';
import type { LedgerDatabase } from '@strata/log';
import type { SegmentTables } from '@strata/segments';
import type { Generated } from 'kysely';

/** Counters: `keys`: changes of keys, teams and prices. `gateway-term`: the current term of the lock. `standings`: changes. */
export interface GatewayDatabase extends CommonTables, SegmentTables, LedgerDatabase {
  /** Running gateways, and ended ones whose records are not settled yet. */
  gateways: {
    /** Random, another one in each process. */
    id: number;
    /** The gateway that settles its records: itself while it runs. */
    settler: number;
    /** Increases while it runs. */
    heartbeat: number;
    /** JSON: its multiaddrs with its peer id. Null: it is in no network. */
    addresses: string | null;
    /** Its receipts up to this number are in the ledger, and their usage is counted. Of a gateway without a row: all. */
    entered: number;
  };
  answer_receipts: {
    seq: Generated<number>;
    /** `rwr_` and a ULID: sorts by time. */
    id: string;
    key_id: string;
    /** The signed receipt, JSON. */
    body: string;
    /** Id of the gateway that stored it. */
    gateway: Generated<number>;
  };
  /** Streams that have begun and not ended. */
  begun_answers: {
    /** The id of the receipt. */
    id: string;
    key_id: string;
    /** The receipt without signature, JSON, as it is signed if the process is killed. */
    body: string;
    gateway: Generated<number>;
  };
  /** Answers that clients asked to store. Such an answer runs, or can go on, while `begun_answers` has it. */
  stored_answers: {
    id: string;
    receipt_id: string;
    key_id: string;
    /** When it began; marked every minute while it is generated. */
    changed_at: number;
    /** Characters of all parts; a mean share of what a key may store for an answer that runs or is smaller. */
    size: number;
  };
  /** `body`: encrypted with a key that only the client has, base64. Number 0 is the request. */
  stored_answer_parts: { answer: string; number: number; body: string };
  token_usage: {
    key_id: string;
    day: string;
    model: string;
    requests: number;
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
    /** Millionths of the operator's currency. */
    spend: Generated<number>;
  };
  /**
   * What a gateway has reserved of an account, without what is counted as usage. `key_id`: a key, for its tokens of a day; or
   * an account of a policy (access/policy.ts). `day`: the last one of the account's period.
   */
  token_reservations: { key_id: string; day: string; gateway: number; tokens: number };
  /** What an account of a policy has used in the period that ends on `day` (access/account-usage.ts). */
  account_usage: { account: string; day: string; used: number };
  /** Of a key and a limit: when all of it is available again, in microseconds since the epoch (minute-usage.ts). */
  minute_usage: { account: string; full_at: number };
  /** `policy`: JSON. */
  teams: { id: string; policy: string; created_at: number };
  /** `price`: JSON. The model `*`: all models without a price. */
  model_prices: { model: string; price: string };
  /** What operators have changed. `actor`: the id of an admin key, or `local` for a process with the database. */
  admin_actions: {
    seq: Generated<number>;
    at: number;
    actor: string;
    action: string;
    /** The key, team or model. */
    target: string;
    /** JSON, without secrets. */
    before: string | null;
    after: string | null;
  };
  /** Reputations of workers. */
  standings: {
    peer: string;
    /** JSON. */
    standing: string;
    /** Increases with each change of any row. */
    revision: number;
  };
}
