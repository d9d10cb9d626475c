// Segment receipts: the work that a worker did for a gateway, signed by both.
import { type Generated, type Kysely, type RawBuilder, sql } from 'kysely';

export interface SegmentTables {
  segments: {
    seq: Generated<number>;
    nonce: Uint8Array;
    /** Peer ids. */
    worker: string;
    gateway: string;
    /** Id of the requesting API key; unknown to a worker. */
    caller: string | null;
    /** Hex. */
    model_sha256: string;
    prompt_tokens: number;
    cached_tokens: number;
    output_tokens: number;
    ended_at: number;
    /** The signed Protocol Buffers message SegmentReceipt. */
    receipt: Uint8Array;
    worker_signature: Uint8Array;
    /** Null until the gateway has signed. */
    gateway_signature: Uint8Array | null;
  };
}

export interface SegmentRecord {
  /** 16 bytes; unique. */
  readonly nonce: Uint8Array;
  /** Peer ids. */
  readonly worker: string;
  readonly gateway: string;
  /** Id of the requesting API key; unknown to workers. */
  readonly caller: string | undefined;
  readonly modelSha256: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** By the local clock: the times in a receipt are only the worker's claim. */
  readonly endedAtMs: number;
  /** The signed SegmentReceipt. Empty, like the signatures, after `forgetProofs`; the counts are kept. */
  readonly receipt: Uint8Array;
  readonly workerSignature: Uint8Array;
  /** Undefined until the gateway has signed. */
  readonly gatewaySignature: Uint8Array | undefined;
}

export interface SegmentTotals {
  /** Peer id, key id (empty: unknown), model digest or UTC day (`2026-01-31`), by `by`. */
  readonly key: string;
  readonly segments: number;
  /** Segments signed by both. */
  readonly settled: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

export interface Segments {
  /** False if a segment with this nonce exists; then nothing is changed. */
  put(segment: SegmentRecord): Promise<boolean>;
  /** Adds the gateway's signature. False if there is no such segment, or it has a signature. */
  settle(nonce: Uint8Array, gatewaySignature: Uint8Array): Promise<boolean>;
  get(nonce: Uint8Array): Promise<SegmentRecord | undefined>;
  /** Deletes receipt and signatures of at most `limit` segments that ended before; returns how many. Counts are kept. */
  forgetProofs(beforeMs: number, limit: number): Promise<number>;
  /** Sums over segments that ended from `fromMs` up to, not including, `toMs`; in key order. */
  totals(options: {
    readonly by: 'worker' | 'gateway' | 'caller' | 'model' | 'day';
    readonly fromMs?: number;
    readonly toMs?: number;
  }): Promise<readonly SegmentTotals[]>;
  /** Newest first, in order of storage; `before` is the nonce of the last segment of the previous page. Empty if it is unknown. */
  list(options: { readonly limit: number; readonly before?: Uint8Array }): Promise<readonly SegmentRecord[]>;
}

const DAY_MS = 86_400_000;
/** SQL of the key to sum by; a day as days since the epoch. */
const KEYS: Readonly<Record<Parameters<Segments['totals']>[0]['by'], RawBuilder<string | number>>> = {
  worker: sql.ref('worker'),
  gateway: sql.ref('gateway'),
  caller: sql`coalesce(caller, '')`,
  model: sql.ref('model_sha256'),
  day: sql`ended_at / ${sql.lit(DAY_MS)}`,
};

export class SegmentTable implements Segments {
  readonly #db: Kysely<SegmentTables>;

  constructor(db: Kysely<SegmentTables>) {
    this.#db = db;
  }

  async put(segment: SegmentRecord): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#db
      .insertInto('segments')
      .values(rowOf(segment))
      .onConflict((conflict) => conflict.column('nonce').doNothing())
      .executeTakeFirstOrThrow();
    return Number(numInsertedOrUpdatedRows) > 0;
  }

  async settle(nonce: Uint8Array, gatewaySignature: Uint8Array): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('segments')
      .set({ gateway_signature: gatewaySignature })
      .where('nonce', '=', nonce)
      .where('gateway_signature', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows) > 0;
  }

  async get(nonce: Uint8Array): Promise<SegmentRecord | undefined> {
    const row = await this.#db.selectFrom('segments').where('nonce', '=', nonce).selectAll().executeTakeFirst();
    return row && recordOf(row);
  }

  async forgetProofs(beforeMs: number, limit: number): Promise<number> {
    const empty = new Uint8Array();
    const { numUpdatedRows } = await this.#db
      .updateTable('segments')
      .set({
        receipt: empty,
        worker_signature: empty,
        // Null or not null is preserved, since it shows whether the segment is settled.
        gateway_signature: sql<Uint8Array | null>`substr(gateway_signature, 1, 0)`,
      })
      .where('seq', 'in', (eb) =>
        eb
          .selectFrom('segments')
          .where('ended_at', '<', beforeMs)
          // Must match the condition of the index `segments_proved`.
          .where(sql<boolean>`length(receipt) > 0`)
          .orderBy('ended_at')
          .limit(limit)
          .select('seq'),
      )
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  }

  async totals({
    by,
    fromMs = 0,
    toMs = Number.MAX_SAFE_INTEGER,
  }: Parameters<Segments['totals']>[0]): Promise<readonly SegmentTotals[]> {
    const key = KEYS[by];
    const rows = await this.#db
      .selectFrom('segments')
      .where('ended_at', '>=', fromMs)
      .where('ended_at', '<', toMs)
      .groupBy(key)
      .orderBy(key)
      .select([
        key.as('key'),
        sql<number>`count(*)`.as('segments'),
        sql<number>`count(gateway_signature)`.as('settled'),
        sql<number>`sum(prompt_tokens)`.as('promptTokens'),
        sql<number>`sum(cached_tokens)`.as('cachedTokens'),
        sql<number>`sum(output_tokens)`.as('outputTokens'),
      ])
      .execute();
    return rows.map((row) => ({
      ...row,
      key: typeof row.key === 'number' ? new Date(row.key * DAY_MS).toISOString().slice(0, 10) : row.key,
    }));
  }

  async list({ limit, before }: Parameters<Segments['list']>[0]): Promise<readonly SegmentRecord[]> {
    const newest = this.#db.selectFrom('segments').orderBy('seq', 'desc').limit(limit).selectAll();
    const older =
      before === undefined
        ? newest
        : newest.where('seq', '<', (eb) => eb.selectFrom('segments').where('nonce', '=', before).select('seq'));
    return (await older.execute()).map(recordOf);
  }
}

const rowOf = (segment: SegmentRecord) => ({
  nonce: segment.nonce,
  worker: segment.worker,
  gateway: segment.gateway,
  caller: segment.caller ?? null,
  model_sha256: segment.modelSha256,
  prompt_tokens: segment.promptTokens,
  cached_tokens: segment.cachedTokens,
  output_tokens: segment.outputTokens,
  ended_at: segment.endedAtMs,
  receipt: segment.receipt,
  worker_signature: segment.workerSignature,
  gateway_signature: segment.gatewaySignature ?? null,
});

const recordOf = (row: ReturnType<typeof rowOf>): SegmentRecord => ({
  nonce: row.nonce,
  worker: row.worker,
  gateway: row.gateway,
  caller: row.caller ?? undefined,
  modelSha256: row.model_sha256,
  promptTokens: row.prompt_tokens,
  cachedTokens: row.cached_tokens,
  outputTokens: row.output_tokens,
  endedAtMs: row.ended_at,
  receipt: row.receipt,
  workerSignature: row.worker_signature,
  gatewaySignature: row.gateway_signature ?? undefined,
});
