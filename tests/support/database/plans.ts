// How a database executes the queries of the store: what it reads from one end to the other, and what it sorts.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, Kysely } from 'kysely';
import { pathOf } from './backends.ts';
import { connect, databaseOf } from './connections.ts';

export interface QueryPlan {
  readonly sql: string;
  /** What is read completely, or from an end on: `feeds`, or `feeds by feeds_due`. */
  readonly scans: readonly string[];
  /** The indexes in which something is looked up. */
  readonly indexes: readonly string[];
  readonly isSorted: boolean;
  /** The database's own description. */
  readonly text: string;
}

/** The plans of all queries of `work`: of a database without statistics of its tables, then of one that has them. */
export async function plansOf<Tables>(url: string, work: (db: Kysely<Tables>) => Promise<void>): Promise<QueryPlan[]> {
  const path = pathOf(url);
  const queries: CompiledQuery[] = [];
  {
    await using db = databaseOf<Tables>(url, ({ query }) => void queries.push(query));
    await work(db);
  }
  const asked = queries.filter(({ sql }) => !/^(begin|commit)/i.test(sql));
  return path === undefined ? postgresPlans(url, asked) : sqlitePlans(path, asked);
}

function sqlitePlans(path: string, queries: readonly CompiledQuery[]): QueryPlan[] {
  using database = new DatabaseSync(path);
  return ['', 'ANALYZE'].flatMap((statistics) => {
    database.exec(statistics);
    return queries.map(({ sql, parameters }) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as SQLInputValue[]));
      const details = steps.map(({ detail }) => String(detail));
      const text = details.join('\n');
      // Lists passed as parameters are read completely.
      const scans = text.matchAll(/^SCAN (?!json_each\b)(\w+)(?: USING (?:COVERING )?INDEX (\w+))?/gm);
      const lookups = text.matchAll(/^SEARCH .* USING (?:COVERING )?INDEX (\w+)/gm);
      return {
        sql,
        scans: [...scans].map(([, table = '', index]) => nameOf(table, index)),
        indexes: [...lookups].map(([, index = '']) => index),
        isSorted: /^USE TEMP B-TREE FOR ORDER BY/m.test(text),
        text,
      };
    });
  });
}

const nameOf = (table: string, index: string | undefined) => (index === undefined ? table : `${table} by ${index}`);

type PlanNode = Readonly<Partial<Record<'Relation Name' | 'Index Name' | 'Index Cond', string>>> & {
  readonly 'Node Type': string;
  readonly Plans?: readonly PlanNode[];
};

/** For a few rows these are no better than an index, and hide a missing one. */
const WITHOUT = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin', 'material', 'memoize'];

async function postgresPlans(url: string, queries: readonly CompiledQuery[]): Promise<QueryPlan[]> {
  await using client = await connect(url);
  for (const method of WITHOUT) await client.query(`set enable_${method} = off`);
  const plans: QueryPlan[] = [];
  for (const statistics of ['select 1', 'analyze']) {
    await client.query(statistics);
    for (const { sql } of queries) {
      const { rows } = await client.query(`explain (generic_plan, format json) ${sql}`);
      plans.push(planOf(sql, rows[0]['QUERY PLAN'][0].Plan));
    }
  }
  return plans;
}

function planOf(sql: string, root: PlanNode): QueryPlan {
  const nodes = withAllBelow(root);
  return {
    sql,
    scans: nodes.flatMap((node) => {
      const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
      return type.includes('Scan') && table !== undefined && condition === undefined ? nameOf(table, index) : [];
    }),
    indexes: nodes.flatMap((node) => (node['Index Cond'] === undefined ? [] : (node['Index Name'] ?? []))),
    isSorted: nodes.some((node) => node['Node Type'].endsWith('Sort')),
    text: JSON.stringify(root, null, 1),
  };
}

const withAllBelow = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withAllBelow)];
