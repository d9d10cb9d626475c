// What a transaction writes of advisories: the records, all that is said of each vulnerability together, and the order of changes.
import { type AdvisoryRecord, advisoryIdOf, type ExploitScore, mergeRecords, productKeysOf } from '@strata/advisories';
import type { Transaction } from 'kysely';
import { batches } from './batches.ts';
import type { Database } from './schema.ts';

export const IDS_AT_ONCE = 500;

type Tx = Transaction<Database>;

/** Writes those that say something else than before, and merges anew what they speak of. */
export async function putRecords(tx: Tx, records: readonly AdvisoryRecord[]): Promise<void> {
  const known = await tx
    .selectFrom('advisory_records')
    .where('source', 'in', [...new Set(records.map(({ source }) => source))])
    .where(
      'record_id',
      'in',
      records.map(({ id }) => id),
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
      // A file of last year does not take back what was said since.
      return (JSON.parse(was.body) as AdvisoryRecord).modified <= (records[at]?.modified ?? '');
    });
  if (rows.length === 0) return;
  await tx
    .insertInto('advisory_records')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['source', 'record_id']).doUpdateSet({
        advisory_id: (eb) => eb.ref('excluded.advisory_id'),
        body: (eb) => eb.ref('excluded.body'),
      }),
    )
    .execute();
  // A record that has come to speak of another vulnerability leaves the one that it spoke of.
  const left = rows.flatMap((row) => before.get(`${row.source} ${row.record_id}`)?.advisory_id ?? []);
  await mergeAnew(tx, [...new Set([...rows.map((row) => row.advisory_id), ...left])]);
}

/** Puts together what is said of these vulnerabilities, and notes those of which that came out otherwise than before. */
async function mergeAnew(tx: Tx, ids: readonly string[]): Promise<void> {
  const records = new Map<string, AdvisoryRecord[]>(ids.map((id) => [id, []]));
  const rows = await tx
    .selectFrom('advisory_records')
    .where('advisory_id', 'in', ids)
    .select(['advisory_id', 'body'])
    .execute();
  for (const { advisory_id, body } of rows) records.get(advisory_id)?.push(JSON.parse(body) as AdvisoryRecord);
  const known = await tx.selectFrom('advisories').where('id', 'in', ids).selectAll().execute();
  const before = new Map(known.map(({ id, body }) => [id, body]));
  const changed: { readonly id: string; readonly body: string; readonly products: readonly string[] }[] = [];
  const gone: string[] = [];
  for (const [id, said] of records) {
    const advisory = mergeRecords(id, said);
    if (!advisory) {
      if (before.has(id)) gone.push(id);
      continue;
    }
    const body = JSON.stringify(advisory);
    if (body !== before.get(id)) changed.push({ id, body, products: productKeysOf(advisory) });
  }
  await writeAdvisories(tx, changed, gone);
}

async function writeAdvisories(
  tx: Tx,
  changed: readonly { readonly id: string; readonly body: string; readonly products: readonly string[] }[],
  gone: readonly string[],
): Promise<void> {
  const ids = [...changed.map(({ id }) => id), ...gone];
  if (ids.length === 0) return;
  await tx.deleteFrom('advisory_products').where('advisory_id', 'in', ids).execute();
  if (gone.length > 0) await tx.deleteFrom('advisories').where('id', 'in', gone).execute();
  if (changed.length > 0) {
    await tx
      .insertInto('advisories')
      .values(changed.map(({ id, body }) => ({ id, body })))
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ body: (eb) => eb.ref('excluded.body') }))
      .execute();
  }
  const products = changed.flatMap((each) =>
    each.products.map((product_key) => ({ product_key, advisory_id: each.id })),
  );
  for (const batch of batches(products, IDS_AT_ONCE)) await tx.insertInto('advisory_products').values(batch).execute();
  await noteChanges(tx, ids);
}

/** Writes those that changed, and notes the advisories that they are of. */
export async function putScores(tx: Tx, scores: readonly ExploitScore[]): Promise<void> {
  const cves = scores.map(({ cve }) => cve);
  const known = await tx.selectFrom('exploit_scores').where('cve', 'in', cves).selectAll().execute();
  const before = new Map(known.map((row) => [row.cve, row]));
  const changed = scores.filter(({ cve, epss, percentile }) => {
    const was = before.get(cve);
    return was?.epss !== epss || was.percentile !== percentile;
  });
  if (changed.length === 0) return;
  await tx
    .insertInto('exploit_scores')
    .values(changed.map(({ cve, epss, percentile }) => ({ cve, epss, percentile })))
    .onConflict((conflict) =>
      conflict.column('cve').doUpdateSet({
        epss: (eb) => eb.ref('excluded.epss'),
        percentile: (eb) => eb.ref('excluded.percentile'),
      }),
    )
    .execute();
  // A score of a vulnerability that nobody has told of yet is read with it when it comes.
  const told = await tx
    .selectFrom('advisories')
    .where(
      'id',
      'in',
      changed.map(({ cve }) => cve),
    )
    .select('id')
    .execute();
  await noteChanges(
    tx,
    told.map(({ id }) => id),
  );
}

/** Each moves to the end of the order: a number never comes back. */
export async function noteChanges(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const batch of batches([...new Set(ids)], IDS_AT_ONCE)) {
    await tx.deleteFrom('advisory_changes').where('advisory_id', 'in', batch).execute();
    await tx
      .insertInto('advisory_changes')
      .values(batch.map((advisory_id) => ({ advisory_id })))
      .execute();
  }
}
