// Anomalies and alerts, each written once under an id that is derived from its content.
import type { Anomaly } from '@strata/analytics';
import {
  counterIncrement,
  counterOf,
  executePipelined,
  type Guard,
  readSetting,
  unguarded,
  writePipelined,
  writeSetting,
  writeTransaction,
} from '@strata/db';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';
import type { AnomalyFound } from './stored-event.ts';

export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface StoredAnomaly {
  readonly id: string;
  readonly at: Date;
  readonly subjectKind: 'provider' | 'category' | 'domain';
  readonly subject: string;
  readonly metric: string;
  readonly severity: Severity;
  readonly facts: AnomalyFacts;
}

interface AnomalyFacts extends Omit<Anomaly, 'day' | 'windowDays' | 'severity'> {
  readonly window_days: number;
}

export interface StoredAlert {
  readonly id: string;
  readonly at: Date;
  readonly kind: 'migration' | 'anomaly' | 'advisory' | 'security';
  readonly severity: Severity;
  /** Groups alerts; not published. */
  readonly subject: string;
  readonly domain: string | null;
  readonly provider: string | null;
  readonly title: string;
  readonly detail: string;
  readonly ref: string;
}

/** Position of the watch in the event log, and the last day that it evaluated, in days since the epoch. */
interface Watched {
  readonly seq: number;
  readonly day: number;
}

/** Time and id. */
type AnomalyKey = readonly [at: number, id: string];
/** `kind` is an index into the order of kinds, `severity` into that of severities. */
type AlertKey = readonly [at: number, kind: number, severity: number, id: string];
type AlertQuery = SelectQueryBuilder<Database, 'alerts', object>;
/** From one time to another, both included. */
interface Dates {
  readonly since?: Date;
  readonly until?: Date;
}

const KINDS = ['advisory', 'migration', 'anomaly', 'security'] as const;
const KIND_RANK = sql<number>`case kind when 'advisory' then 0 when 'migration' then 1 when 'anomaly' then 2 else 3 end`;
const WATCHED = 'watched';
const DAY_MS = 86_400_000;

export class SignalTable {
  readonly #db: Kysely<Database>;
  readonly #guard: Guard;

  constructor(db: Kysely<Database>, guard: Guard = unguarded) {
    this.#db = db;
    this.#guard = guard;
  }

  /** Writes an anomaly and its event, unless it exists. Returns whether it is new. */
  async addAnomaly(anomaly: StoredAnomaly): Promise<boolean> {
    const { id, subjectKind: subject_kind, subject, metric, severity } = anomaly;
    const at = anomaly.at.getTime();
    const facts = JSON.stringify(anomaly.facts);
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      const result = await tx
        .insertInto('anomalies')
        .values({ id, at, subject_kind, subject, metric, severity, facts })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      if (Number(result.numInsertedOrUpdatedRows ?? 0) === 0) return false;
      const payload: AnomalyFound = { anomalyId: id };
      const domain = subject_kind === 'domain' ? subject : '';
      const event = { at, kind: 'anomaly-found', domain, payload: JSON.stringify(payload) } as const;
      const queries = [counterIncrement(tx, 'anomaly-rows'), tx.insertInto('events').values(event).compile()];
      await executePipelined(tx, queries, { isLast: true });
      return true;
    });
  }

  /** The position of the watch; undefined before the first. */
  async watched(): Promise<Watched | undefined> {
    const value = await readSetting(this.#db, WATCHED);
    return value === undefined ? undefined : (JSON.parse(value) as Watched);
  }

  /** Called after the signals are written: after a kill some events are evaluated again, which writes no signal twice. */
  async setWatched(watched: Watched): Promise<void> {
    await writePipelined(this.#db, [writeSetting(this.#db, WATCHED, JSON.stringify(watched))], this.#guard);
  }

  /** Anomalies since a time, oldest first. */
  async anomaliesSince(since: Date): Promise<StoredAnomaly[]> {
    const rows = await this.#db
      .selectFrom('anomalies')
      .where('at', '>=', since.getTime())
      .orderBy('at')
      .orderBy('id')
      .selectAll()
      .execute();
    return rows.map(storedAnomaly);
  }

  async anomaly(id: string): Promise<StoredAnomaly | undefined> {
    const row = await this.#db.selectFrom('anomalies').where('id', '=', id).selectAll().executeTakeFirst();
    return row && storedAnomaly(row);
  }

  /** Newest first; with `domain` only those of the domain. */
  async anomalies({ domain, ...dates }: { readonly domain?: string } & Dates, limit: number, after?: AnomalyKey) {
    const start = () => {
      const query = within(this.#db.selectFrom('anomalies'), dates);
      return domain === undefined ? query : query.where('subject_kind', '=', 'domain').where('subject', '=', domain);
    };
    const rest = after
      ? start()
          .where('at', '<=', after[0])
          .where((is) => is.or([is('at', '<', after[0]), is('id', '<', after[1])]))
      : start();
    const rows = await rest.selectAll().orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
    const total =
      domain === undefined && !dates.since
        ? await counterOf(this.#db, 'anomaly-rows')
        : (await start().select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow()).n;
    return { total: Number(total), anomalies: rows.map(storedAnomaly) };
  }

  /**
   * Writes an alert. An alert on the same subject within `quietMs` is updated instead: it keeps its id and time, and changes
   * only if the severity is higher, or equal with another detail. Returns whether anything was written.
   */
  async addAlert(alert: StoredAlert, options: { readonly quietMs: number }): Promise<boolean> {
    const { id, kind, subject, domain, provider, title, detail, ref } = alert;
    const at = alert.at.getTime();
    const severity = SEVERITIES.indexOf(alert.severity);
    return writeTransaction(this.#db, async (tx) => {
      await this.#guard(tx);
      const recent = await tx
        .selectFrom('alerts')
        .where('subject', '=', subject)
        .where('at', '>', at - options.quietMs)
        .orderBy('at', 'desc')
        .select(['id', 'severity', 'detail'])
        .limit(1)
        .executeTakeFirst();
      if (recent) {
        if (recent.severity > severity || recent.detail === detail) return false;
        const update = tx.updateTable('alerts').set({ severity, title, detail }).where('id', '=', recent.id);
        await executePipelined(tx, [update.compile(), counterIncrement(tx, 'alerts')], { isLast: true });
        return true;
      }
      const result = await tx
        .insertInto('alerts')
        .values({ id, at, kind, subject, domain, provider, title, detail, ref, severity })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      if (Number(result.numInsertedOrUpdatedRows ?? 0) === 0) return false;
      await executePipelined(tx, [counterIncrement(tx, 'alert-rows'), counterIncrement(tx, 'alerts')], {
        isLast: true,
      });
      return true;
    });
  }

  /** By UTC day, newest first; within a day advisories, migrations, anomalies, then security alerts, each by severity. */
  async alerts(limit: number, after?: AlertKey, dates: Dates = {}) {
    const all = within(this.#db.selectFrom('alerts'), dates);
    const start = () => (after ? pastAlert(all, after) : all);
    const edge = await start()
      .orderBy('at', 'desc')
      .offset(limit - 1)
      .limit(1)
      .select('at')
      .executeTakeFirst();
    // Rounded to a full day, since the order within a day is not by time: limits the rows to sort.
    const since = edge ? Math.floor(edge.at / DAY_MS) * DAY_MS : 0;
    const rows = await start()
      .where('at', '>=', since)
      .selectAll()
      .orderBy(sql`at / ${sql.lit(DAY_MS)}`, 'desc')
      .orderBy(KIND_RANK)
      .orderBy('severity', 'desc')
      .orderBy('at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute();
    const total = dates.since
      ? (await all.select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow()).n
      : await counterOf(this.#db, 'alert-rows');
    return { total: Number(total), alerts: rows.map(storedAlert) };
  }
}

function within<Table extends 'alerts' | 'anomalies'>(
  query: SelectQueryBuilder<Database, Table, object>,
  { since, until }: Dates,
): SelectQueryBuilder<Database, Table, object> {
  const from = since ? query.where(sql<boolean>`at >= ${since.getTime()}`) : query;
  return until ? from.where(sql<boolean>`at <= ${until.getTime()}`) : from;
}

/** The alert in the order of the list. */
export const alertKey = ({ at, kind, severity, id }: StoredAlert): AlertKey => [
  at.getTime(),
  Math.max(0, KINDS.indexOf(kind)),
  SEVERITIES.indexOf(severity),
  id,
];

/** The remaining alerts of its day, and those of earlier days. */
function pastAlert(query: AlertQuery, [at, kind, severity, id]: AlertKey): AlertQuery {
  const day = Math.floor(at / DAY_MS) * DAY_MS;
  return query
    .where('at', '<', day + DAY_MS)
    .where((is) =>
      is.or([
        is('at', '<', day),
        sql<boolean>`(${KIND_RANK}, -severity, -at, id) > (${kind}, ${-severity}, ${-at}, ${id})`,
      ]),
    );
}

function storedAlert(row: Database['alerts']): StoredAlert {
  const { severity, kind, at, ...same } = row;
  return { ...same, kind: kind as StoredAlert['kind'], at: new Date(at), severity: SEVERITIES[severity] ?? 'info' };
}

function storedAnomaly(row: Database['anomalies']): StoredAnomaly {
  const { id, subject_kind, subject, metric, severity } = row;
  return {
    id,
    at: new Date(row.at),
    subjectKind: subject_kind as StoredAnomaly['subjectKind'],
    subject,
    metric,
    severity: severity as Severity,
    facts: JSON.parse(row.facts) as AnomalyFacts,
  };
}
