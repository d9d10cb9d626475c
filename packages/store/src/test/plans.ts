// How a database goes about the queries of the store: what it reads from one end to the other, and what it sorts.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type CompiledQuery, type Dialect, Kysely } from 'kysely';
import pg from 'pg';
import { openPool, postgresDialect } from '../postgres-dialect.ts';
import type { Database } from '../schema.ts';
import { openDatabase, sqliteDialect } from '../sqlite-dialect.ts';
import { pathOf } from './places.ts';

export interface QueryPlan {
  readonly sql: string;
  /** What is read whole, or from an end on: `feeds`, or `feeds by feeds_due`. */
  readonly scans: readonly string[];
  /** The indexes in which something is looked up. */
  readonly indexes: readonly string[];
  /** Whether the order asked for is made by sorting. */
  readonly isSorted: boolean;
  /** As the database tells it. */
  readonly text: string;
}

/** The plans of all that `work` asks: of a database that knows nothing of its tables' sizes, then of one that has counted. */
export async function plansOf(url: string, work: (db: Kysely<Database>) => Promise<void>): Promise<QueryPlan[]> {
  const path = pathOf(url);
  const queries: CompiledQuery[] = [];
  {
    await using db = new Kysely<Database>({ dialect: dialectOf(url), log: ({ query }) => void queries.push(query) });
    await work(db);
  }
  const asked = queries.filter(({ sql }) => !/^(begin|commit)/i.test(sql));
  return path === undefined ? postgresPlans(url, asked) : sqlitePlans(path, asked);
}

/** The store's own way to a place, for what is below its tables. */
export function dialectOf(url: string): Dialect {
  const path = pathOf(url);
  return path === undefined ? postgresDialect(openPool(url)) : sqliteDialect(openDatabase(path));
}

function sqlitePlans(path: string, queries: readonly CompiledQuery[]): QueryPlan[] {
  using database = new DatabaseSync(path);
  return ['', 'ANALYZE'].flatMap((statistics) => {
    database.exec(statistics);
    return queries.map(({ sql, parameters }) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as SQLInputValue[]));
      const details = steps.map(({ detail }) => String(detail));
      return {
        sql,
        scans: details.flatMap((detail) => {
          const [, table, index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
          return table === undefined ? [] : [index === undefined ? table : `${table} by ${index}`];
        }),
        indexes: details.flatMap((detail) => /^SEARCH .* USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? []),
        isSorted: details.some((detail) => detail.startsWith('USE TEMP B-TREE FOR ORDER BY')),
        text: details.join('; '),
      };
    });
  });
}

/** A node of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** What these would do for a few rows is no better than an index, and hides that there is none. */
const WITHOUT = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin', 'material', 'memoize'];

async function postgresPlans(url: string, queries: readonly CompiledQuery[]): Promise<QueryPlan[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const way of WITHOUT) await client.query(`set enable_${way} = off`);
    const plans: QueryPlan[] = [];
    for (const statistics of ['select 1', 'analyze']) {
      await client.query(statistics);
      for (const { sql } of queries) {
        const { rows } = await client.query(`explain (generic_plan, format json) ${sql}`);
        plans.push(planOf(sql, rows[0]['QUERY PLAN'][0].Plan));
      }
    }
    return plans;
  } finally {
    await client.end();
  }
}

function planOf(sql: string, root: PlanNode): QueryPlan {
  const nodes = withAllBelow(root);
  return {
    sql,
    scans: nodes.flatMap((node) => {
      const { 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
      if (!node['Node Type'].includes('Scan') || table === undefined || condition !== undefined) return [];
      return [index === undefined ? table : `${table} by ${index}`];
    }),
    indexes: nodes.flatMap((node) => (node['Index Cond'] === undefined ? [] : (node['Index Name'] ?? []))),
    isSorted: nodes.some((node) => node['Node Type'].endsWith('Sort')),
    text: JSON.stringify(root, null, 1),
  };
}

function withAllBelow(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withAllBelow)];
}
