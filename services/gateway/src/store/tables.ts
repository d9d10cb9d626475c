// The tables of the gateway, for Kysely. Times are milliseconds since the epoch.
import type { CommonTables } from '@strata/db';
import type { SegmentTables } from '@strata/segments';
import type { Generated } from 'kysely';

/** Counters: `keys`: keys revoked. `gateway-term`: the current term of the lock. */
export interface GatewayDatabase extends CommonTables, SegmentTables {
  answer_receipts: {
    seq: Generated<number>;
    /** `rwr_` and a ULID: sorts by time. */
    id: string;
    key_id: string;
    /** The signed receipt, JSON. */
    body: string;
  };
  /** Streams that have begun and not ended. */
  begun_answers: {
    /** The id of the receipt. */
    id: string;
    key_id: string;
    /** The receipt without signature, JSON, as it is signed if the process is killed. */
    body: string;
  };
  token_usage: {
    key_id: string;
    day: string;
    model: string;
    requests: number;
    prompt_tokens: number;
    cached_tokens: number;
    completion_tokens: number;
  };
  /** Reputations of workers. */
  standings: {
    /** Peer id. */
    peer: string;
    /** JSON. */
    standing: string;
  };
}
