// `/admin/usage`, also as CSV, and `/admin/audit`.
import { csvBytes } from '@strata/http';
import { z } from 'zod';
import { DAY_MS, dayOf } from '../../store/access/policy.ts';
import type { UsageTotal } from '../../store/access/usage.ts';
import type { GatewayApp } from '../route.ts';
import { adminRoute } from './admin-route.ts';
import { Limit } from './keys.ts';
import { KeyId, TeamName } from './schemas.ts';

const DEFAULT_DAYS = 30;
/** Rows of an answer. */
const MAX_JSON_ROWS = 10_000;
const MAX_CSV_ROWS = 100_000;

const filters = {
  since: z.iso.date().optional().describe('UTC day; 29 days before today if absent.'),
  until: z.iso.date().optional().describe('The last day.'),
  key: KeyId.optional(),
  team: TeamName.optional(),
  model: z.string().min(1).max(200).optional(),
  by: z.enum(['key', 'team', 'model']).optional().describe('One row per day and key, team or model.'),
};

interface Filters {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly key?: string | undefined;
  readonly team?: string | undefined;
  readonly model?: string | undefined;
  readonly by?: 'key' | 'team' | 'model' | undefined;
}

export const getUsage = adminRoute(
  {
    method: 'GET',
    path: '/admin/usage',
    query: z.object(filters),
    described: { summary: 'Requests, tokens and spending by day, key and model, newest first', answer: 'UsageReport' },
  },
  async (app, asked) => {
    const rows = await usageOf(app, asked, { limit: MAX_JSON_ROWS + 1 });
    return {
      object: 'list',
      is_truncated: rows.length > MAX_JSON_ROWS,
      data: rows.slice(0, MAX_JSON_ROWS).map(report),
    };
  },
);

const COLUMNS = ['day', 'key_id', 'label', 'team', 'model'] as const;
const COUNTS = ['requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens', 'spend_micros'] as const;

export const getUsageCsv = adminRoute(
  {
    method: 'GET',
    path: '/admin/usage.csv',
    query: z.object(filters),
    described: {
      summary: 'The same as CSV, at most 100,000 rows',
      description: '`x-truncated: true`: there are more.',
      answer: 'Csv',
    },
  },
  async (app, asked, { reply }) => {
    const rows = (await usageOf(app, asked, { limit: MAX_CSV_ROWS + 1 })).map(report);
    const cells = rows.slice(0, MAX_CSV_ROWS).map((row) => [...COLUMNS, ...COUNTS].map((column) => row[column]));
    return reply
      .headers({
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="usage.csv"',
        'cache-control': 'no-store',
        ...(rows.length > MAX_CSV_ROWS ? { 'x-truncated': 'true' } : {}),
      })
      .send(csvBytes([...COLUMNS, ...COUNTS], { rows: cells }));
  },
);

export const listAudit = adminRoute(
  {
    method: 'GET',
    path: '/admin/audit',
    query: z.object({ limit: Limit, cursor: z.coerce.number().int().min(1).optional() }),
    described: {
      summary: 'What was changed by whom, newest first',
      description: 'Kept for 400 days.',
      answer: 'AuditPage',
    },
  },
  async ({ admin }, { limit, cursor }) => {
    const actions = await admin.audit.list({ limit: limit + 1, before: cursor });
    const shown = actions.slice(0, limit);
    return {
      object: 'list',
      data: shown.map(({ seq: _, at, before, after, ...action }) => ({
        ...{ at: at.toISOString(), ...action, before: stateReport(before), after: stateReport(after) },
      })),
      next_cursor: actions.length > limit ? String(shown.at(-1)?.seq) : null,
    };
  },
);

/** The names that keys, teams and prices have in this API, of those in which the log stores them. */
const API_NAMES: ReadonlyMap<string, string> = new Map([
  ['tokensPerDay', 'tokens_per_day'],
  ['spend', 'spend_limit'],
  ['isAdmin', 'is_admin'],
  ['expiresAt', 'expires_at'],
  ['input', 'input_micros'],
  ['cached', 'cached_micros'],
  ['output', 'output_micros'],
]);

/** What the log has of a key, team or price, as their own paths show it. */
function stateReport(state: object | null) {
  const entries = Object.entries(state ?? {}).map(([name, value]: [string, unknown]) => {
    const isTime = name === 'expiresAt' && typeof value === 'number';
    return [API_NAMES.get(name) ?? name, isTime ? new Date(value).toISOString() : value] as const;
  });
  return state && Object.fromEntries(entries);
}

function usageOf(
  { admin, now }: Pick<GatewayApp, 'admin' | 'now'>,
  { since, until, key, team, model, by }: Filters,
  { limit }: { readonly limit: number },
): Promise<readonly UsageTotal[]> {
  const first = dayOf(new Date(now().getTime() - (DEFAULT_DAYS - 1) * DAY_MS));
  return admin.usage.totals({ since: since ?? first, until, keyId: key, team, model, by, limit });
}

const report = (row: UsageTotal) => ({
  ...{ day: row.day, key_id: row.keyId, label: row.label, team: row.team, model: row.model, requests: row.requests },
  ...{ prompt_tokens: row.promptTokens, cached_tokens: row.cachedTokens },
  ...{ completion_tokens: row.completionTokens, spend_micros: row.spendMicros },
});
