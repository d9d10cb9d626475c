// Writes advisories within a transaction: records, merged advisories and the order of changes. Each function commits the
// transaction and takes a constant number of round trips.
import {
  type AdvisoryRecord,
  advisoryIdOf,
  type ExploitScore,
  type KnownExploited,
  mergeRecords,
  productKeysOf,
} from '@strata/advisories';
import { counterIncrement, executePipelined, jsonRows, listed } from '@strata/db';
import { type CompiledQuery, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';

type Tx = Transaction<Database>;

const RECORD = { source: 'text', record_id: 'text', advisory_id: 'text', body: 'text' } as const;
const SCORE = { cve: 'text', epss: 'real', percentile: 'real' } as const;

/** Writes changed records, and merges the advisories that they belong to. */
export async function putRecords(tx: Tx, records: readonly AdvisoryRecord[]): Promise<void> {
  const known = await tx
    .selectFrom('advisory_records')
    .where('source', 'in', listed(tx, [...new Set(records.map(({ source }) => source))]))
    .where(
      'record_id',
      'in',
      listed(
        tx,
        records.map(({ id }) => id),
      ),
    )
    .selectAll()
    .execute();
  const before = new Map(known.map((row) => [`${row.source} ${row.record_id}`, row]));
  const rows = records
    .map((record) => ({
      source: record.source,
      record_id: record.id,
      advisory_id: advisoryIdOf(record),
      body: JSON.stringify(record),
    }))
    .filter((row, at) => {
      const was = before.get(`${row.source} ${row.record_id}`);
      if (was === undefined) return true;
      if (was.body === row.body) return was.advisory_id !== row.advisory_id;
      // An older file does not replace a newer record.
      return (JSON.parse(was.body) as AdvisoryRecord).modified <= (records[at]?.modified ?? '');
    });
  if (rows.length === 0) return;
  const values = rows.map(({ source, record_id, advisory_id, body }) => [source, record_id, advisory_id, body]);
  const writing = sql<never>`
    insert into advisory_records (source, record_id, advisory_id, body)
    select * from ${jsonRows(tx, values, RECORD)} as new where true
    on conflict (source, record_id) do update set advisory_id = excluded.advisory_id, body = excluded.body`;
  const added = Map.groupBy(
    rows.filter(({ source, record_id }) => !before.has(`${source} ${record_id}`)),
    ({ source }) => source,
  );
  const counting = [...added].map(([source, { length }]) => counterIncrement(tx, `record-rows ${source}`, length));
  // A record that moved to another advisory also changes the one that it left.
  const left = rows.flatMap((row) => before.get(`${row.source} ${row.record_id}`)?.advisory_id ?? []);
  const ids = [...new Set([...rows.map((row) => row.advisory_id), ...left])];
  await mergeAdvisories(tx, { writing: writing.compile(tx), counting, ids });
}

/** Merges the records of these advisories after `writing`, and writes the advisories that changed. */
async function mergeAdvisories(
  tx: Tx,
  {
    writing,
    counting,
    ids,
  }: { readonly writing: CompiledQuery; readonly counting: readonly CompiledQuery[]; readonly ids: readonly string[] },
): Promise<void> {
  const records = new Map<string, AdvisoryRecord[]>(ids.map((id) => [id, []]));
  const selecting = tx
    .selectFrom('advisory_records')
    .where('advisory_id', 'in', listed(tx, ids))
    .select(['advisory_id', 'body'])
    .compile();
  const known = tx.selectFrom('advisories').where('id', 'in', listed(tx, ids)).selectAll().compile();
  const [, stored, merged] = await executePipelined(tx, [writing, selecting, known, ...counting]);
  for (const { advisory_id, body } of stored.rows) records.get(advisory_id)?.push(JSON.parse(body) as AdvisoryRecord);
  const before = new Map(merged.rows.map(({ id, body }) => [id, body]));
  const changed: { readonly id: string; readonly body: string; readonly products: readonly string[] }[] = [];
  const removed: string[] = [];
  for (const [id, ofAdvisory] of records) {
    const advisory = mergeRecords(id, ofAdvisory);
    if (!advisory) {
      if (before.has(id)) removed.push(id);
      continue;
    }
    const body = JSON.stringify(advisory);
    if (body !== before.get(id)) changed.push({ id, body, products: productKeysOf(advisory) });
  }
  const added = changed.filter(({ id }) => !before.has(id)).length;
  await writeAdvisories(tx, { changed, removed, more: added - removed.length });
}

async function writeAdvisories(
  tx: Tx,
  {
    changed,
    removed,
    more,
  }: {
    readonly changed: readonly { readonly id: string; readonly body: string; readonly products: readonly string[] }[];
    readonly removed: readonly string[];
    readonly more: number;
  },
): Promise<void> {
  const ids = [...changed.map(({ id }) => id), ...removed];
  if (ids.length === 0) return;
  const bodies = changed.map(({ id, body }) => [id, body]);
  const products = changed.flatMap((each) => each.products.map((product) => [product, each.id]));
  const queries = [
    tx.deleteFrom('advisory_products').where('advisory_id', 'in', listed(tx, ids)).compile(),
    tx.deleteFrom('advisories').where('id', 'in', listed(tx, removed)).compile(),
    upsertBodies(tx, 'advisories', bodies),
    sql<never>`
      insert into advisory_products (product_key, advisory_id)
      select * from ${jsonRows(tx, products, { product_key: 'text', advisory_id: 'text' })} as new`.compile(tx),
    ...(more === 0 ? [] : [counterIncrement(tx, 'advisory-rows', more)]),
    ...changeQueries(tx, ids),
  ];
  await executePipelined(tx, queries, { isLast: true });
}

function upsertBodies(tx: Tx, table: 'advisories' | 'known_exploited', rows: readonly string[][]): CompiledQuery {
  const key = table === 'advisories' ? 'id' : 'cve';
  return sql<never>`
    insert into ${sql.table(table)} (${sql.ref(key)}, body)
    select * from ${jsonRows(tx, rows, { [key]: 'text', body: 'text' })} as new where true
    on conflict (${sql.ref(key)}) do update set body = excluded.body`.compile(tx);
}

/** Writes changed entries, and deletes entries that are not in `all` and not `isListed`. */
export async function putExploited(
  tx: Tx,
  all: readonly KnownExploited[],
  isListed: (cve: string) => boolean,
): Promise<void> {
  const known = await tx.selectFrom('known_exploited').selectAll().execute();
  const before = new Map(known.map(({ cve, body }) => [cve, body]));
  const now = new Map(all.map((each) => [each.cve, JSON.stringify(each)]));
  const changed = [...now].filter(([cve, body]) => before.get(cve) !== body);
  const removed = [...before.keys()].filter((cve) => !now.has(cve) && !isListed(cve));
  const ids = [...changed.map(([cve]) => cve), ...removed];
  if (ids.length === 0) return;
  const queries = [
    upsertBodies(tx, 'known_exploited', changed),
    tx.deleteFrom('known_exploited').where('cve', 'in', listed(tx, removed)).compile(),
    ...changeQueries(tx, ids),
  ];
  await executePipelined(tx, queries, { isLast: true });
}

/** Writes changed scores, and records the change of their advisories. */
export async function putScores(tx: Tx, scores: readonly ExploitScore[]): Promise<void> {
  const cves = listed(
    tx,
    scores.map(({ cve }) => cve),
  );
  // A score without an advisory becomes visible when the advisory is added.
  const [known, described] = await executePipelined(tx, [
    tx.selectFrom('exploit_scores').where('cve', 'in', cves).selectAll().compile(),
    tx.selectFrom('advisories').where('id', 'in', cves).select('id').compile(),
  ]);
  const before = new Map(known.rows.map((row) => [row.cve, row]));
  const changed = scores.filter(({ cve, epss, percentile }) => {
    const was = before.get(cve);
    return was?.epss !== epss || was.percentile !== percentile;
  });
  if (changed.length === 0) return;
  const rows = changed.map(({ cve, epss, percentile }) => [cve, epss, percentile]);
  const writing = sql<never>`
    insert into exploit_scores (cve, epss, percentile)
    select * from ${jsonRows(tx, rows, SCORE)} as new where true
    on conflict (cve) do update set epss = excluded.epss, percentile = excluded.percentile`.compile(tx);
  const isDescribed = new Set(described.rows.map(({ id }) => id));
  const ids = changed.map(({ cve }) => cve).filter((cve) => isDescribed.has(cve));
  const added = changed.filter(({ cve }) => !before.has(cve)).length;
  const counting = added === 0 ? [] : [counterIncrement(tx, 'score-rows', added)];
  await executePipelined(tx, [writing, ...counting, ...changeQueries(tx, ids)], { isLast: true });
}

/** Moves each advisory to the end of the order, under a new number; numbers are never reused. */
function changeQueries(tx: Tx, ids: readonly string[]): CompiledQuery[] {
  const rows = [...new Set(ids)].map((id) => [id]);
  return [
    tx.deleteFrom('advisory_changes').where('advisory_id', 'in', listed(tx, ids)).compile(),
    sql<never>`
      insert into advisory_changes (advisory_id)
      select * from ${jsonRows(tx, rows, { advisory_id: 'text' })} as new`.compile(tx),
  ];
}
