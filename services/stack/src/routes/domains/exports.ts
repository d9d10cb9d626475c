// CSV exports with at most a thousand rows, ordered so that the least relevant rows are cut.
import { LEVELS } from '@strata/analytics';
import { gradeOf, SECTORS } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { listedChangesOf } from '../../index/listed-changes.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { changeReport } from '../../reports/domain-report.ts';
import { migrationFilter, migrationParameters } from '../market/migrations.ts';
import { datesOf, windowOf } from '../market/window.ts';
import { Integer, ProviderPath, providerOf, SectorParameter } from '../parameters.ts';
import { queryParameter, selectionOf } from '../query-parameter.ts';
import { POSTURE_COLUMNS, postureCells } from './posture-columns.ts';
import { UNCHANGED_MS } from './search.ts';

/** Maximum rows of an export. */
const MAX_ROWS = 1_000;

export const getSecurityCsv = route(
  {
    method: 'GET',
    path: '/stack/v1/security/export.csv',
    tag: 'Exports',
    summary: 'Security scorecard as CSV, at most 1000 rows',
    description:
      'Worst score first, then by name. Domains without a score are excluded. An empty cell means unmeasured.',
    query: z.object({
      sector: SectorParameter.optional(),
      score_lte: Integer({ min: 0, max: 100 }).describe('Maximum score.').default(100),
      ...queryParameter,
    }),
    output: {
      kind: 'csv',
      description: 'One domain per row.',
      columns: [
        { name: 'domain', description: 'Registrable domain.' },
        { name: 'sector', description: SECTORS.join(', ') },
        { name: 'score', description: '0 to 100.' },
        { name: 'grade', description: 'A+ to F.' },
        ...POSTURE_COLUMNS,
        { name: 'scanned_at', description: 'ISO 8601 UTC.' },
      ],
    },
    cache: (_app: StackApp, input) => ({
      key: `security.csv ${JSON.stringify(input)}`,
      tags: [...tags.domains],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: UNCHANGED_MS,
    }),
  },
  async (app, { sector, score_lte, ...input }) => {
    const restriction = { sector, score: { from: 0, to: score_lte }, query: selectionOf(app, input)?.query };
    const { total, domains } = await app.analytics.search({
      filter: { state: 'live', ...restriction },
      order: { by: 'score', isDescending: false },
      ...{ limit: MAX_ROWS, offset: 0 },
    });
    return {
      filename: sector === undefined ? 'security.csv' : `security-${sector}.csv`,
      isTruncated: total > domains.length,
      rows: domains.map((row) => [
        ...[row.name, row.sector, row.score, row.score === null ? null : gradeOf(row.score)],
        ...postureCells(row.posture),
        new Date(row.scannedAt).toISOString(),
      ]),
    };
  },
);

export const getMigrationsCsv = route(
  {
    method: 'GET',
    path: '/stack/v1/migrations/export.csv',
    tag: 'Exports',
    summary: 'Migration history as CSV, at most 1000 rows',
    description:
      'Confirmed migrations, newest first. `direction`: `in` is to the provider, `out` away from it; without a provider it has no effect. The remaining filters are those of `/stack/v1/stats/migrations`.',
    query: z.object(migrationParameters),
    output: {
      kind: 'csv',
      description: 'One migration per row.',
      columns: [
        { name: 'id', description: 'Id of the change.' },
        { name: 'at', description: 'Time of the first observation.' },
        { name: 'confirmed_at', description: 'Time of the confirming observation.' },
        { name: 'domain', description: 'Registrable domain.' },
        { name: 'category', description: 'Category of the role.' },
        { name: 'from', description: 'Previous provider.' },
        { name: 'to', description: 'New provider.' },
        { name: 'from_id', description: 'Id of the previous provider.' },
        { name: 'to_id', description: 'Id of the new provider.' },
        { name: 'confidence', description: 'high, medium or low.' },
        { name: 'importance', description: 'high, medium or low.' },
      ],
    },
    cache: (app: StackApp, { days, hours, since, until, ...input }) => ({
      key: `migrations.csv ${JSON.stringify([migrationFilter(app, input), input.query, days, hours, since, until])}`,
      tags: [...tags.changes, ...(input.query === undefined ? [] : tags.domains)],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: UNCHANGED_MS,
    }),
  },
  async (app, input) => {
    const chosen = migrationFilter(app, input);
    const window = windowOf(input, { now: app.clock().getTime(), maxDays: Number.POSITIVE_INFINITY });
    const filter = { type: 'migrated', ...chosen, ...(window && datesOf(window)) } as const;
    // One additional row shows whether there are more.
    const page = { limit: MAX_ROWS + 1, offset: 0, within: selectionOf(app, input)?.query };
    const { changes: found, next } = await listedChangesOf(app, filter, page);
    return {
      filename: ['migrations', chosen.provider, chosen.direction]
        .filter((part) => part !== undefined)
        .join('-')
        .concat('.csv'),
      isTruncated: found.length > MAX_ROWS || next !== undefined,
      rows: found.slice(0, MAX_ROWS).map((change) => {
        const { domain } = change;
        const report = changeReport(change, app.names);
        return [
          report.id,
          report.at,
          report.confirmed_at,
          domain,
          report.category,
          report.from,
          report.to,
          report.from_id,
          report.to_id,
          report.confidence,
          report.importance,
        ];
      }),
    };
  },
);

export const getProviderDomainsCsv = route(
  {
    method: 'GET',
    path: '/stack/v1/providers/{provider}/domains.csv',
    tag: 'Exports',
    summary: 'Domains using a provider as CSV, at most 1000 rows',
    description: 'In alphabetical order.',
    params: ProviderPath,
    query: z.object(queryParameter),
    output: {
      kind: 'csv',
      description: 'One domain per row.',
      columns: [
        { name: 'domain', description: 'Registrable domain.' },
        { name: 'categories', description: 'Categories in which it uses the provider, separated by blanks.' },
        { name: 'confidence', description: 'The highest confidence of these services.' },
        { name: 'state', description: 'active, parked or nonexistent.' },
        { name: 'sector', description: SECTORS.join(', ') },
        { name: 'score', description: 'Security score, 0 to 100.' },
        { name: 'scanned_at', description: 'ISO 8601 UTC.' },
      ],
    },
    errors: ['unknown_provider'],
    cache: (app: StackApp, input, context) => {
      const { id } = providerOf(app, input.provider, context);
      const key = `domains.csv ${JSON.stringify([id, input.query])}`;
      return { key, tags: [tags.provider(id)], maxStaleMs: MAX_STALE_MS, maxAgeMs: UNCHANGED_MS };
    },
  },
  async (app, input, context) => {
    const { id } = providerOf(app, input.provider, context);
    const filter = { provider: id, query: selectionOf(app, input)?.query };
    const { total, domains } = await app.analytics.search({ filter, limit: MAX_ROWS, offset: 0 });
    return {
      filename: `${id}-domains.csv`,
      isTruncated: total > domains.length,
      rows: domains.map(({ name, services, state, sector, score, scannedAt }) => {
        const uses = services.filter(([, provider]) => provider === id);
        const best = LEVELS.find((level) => uses.some(([, , confidence]) => confidence === level)) ?? null;
        const categories = uses.map(([category]) => category).join(' ');
        return [name, categories, best, state, sector, score, new Date(scannedAt).toISOString()];
      }),
    };
  },
);
