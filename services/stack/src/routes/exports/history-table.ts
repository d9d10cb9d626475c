// The table of all recorded changes.
import type { ChangeType } from '@strata/detect';
import type { Row } from '@strata/http';
import type { z } from 'zod';
import type { TableApp } from '../../context.ts';
import { withNames } from '../../index/listed-changes.ts';
import { changeReport } from '../../reports/domain-report.ts';
import { datesOf, windowOf, windowParameters } from '../market/window.ts';
import { CategoryParameter, providerIn, Text, Word } from '../parameters.ts';
import { exportTable, TIME } from './export-table.ts';

const TYPES = ['added', 'removed', 'migrated', 'reclassified'] as const satisfies readonly ChangeType[];
/** Ten years. */
const MAX_DAYS = 3_650;

const parameters = {
  provider: Text.describe('Id, name or alias of the previous or new provider.').optional(),
  category: CategoryParameter.optional(),
  type: Word(TYPES).describe('Type of the change.').optional(),
  ...windowParameters(MAX_DAYS),
};
type Input = z.output<z.ZodObject<typeof parameters>>;

export const historyTable = exportTable({
  name: 'history',
  summary: 'All recorded changes of services',
  description: 'In the order of confirmation; a window is of the time of confirmation.',
  columns: [
    { name: 'id', description: 'Id of the change.' },
    { name: 'at', ...TIME, description: 'Time of the first observation.' },
    { name: 'confirmed_at', ...TIME, description: 'Time of the confirming observation.' },
    { name: 'domain', description: 'Registrable domain.' },
    { name: 'type', description: TYPES.join(', ') },
    { name: 'category', description: 'Category of the service.' },
    { name: 'role', description: 'Role within the category.' },
    { name: 'from_id', description: 'Id of the previous provider.' },
    { name: 'from', description: 'Previous provider.' },
    { name: 'to_id', description: 'Id of the new provider.' },
    { name: 'to', description: 'New provider.' },
    { name: 'confidence', description: 'high, medium or low.' },
    { name: 'importance', description: 'high, medium or low.' },
  ],
  parameters,
  rows: (app, input) => {
    const window = windowOf(input, { now: app.clock().getTime(), maxDays: MAX_DAYS });
    const { category, type } = input;
    const provider = input.provider === undefined ? undefined : providerIn(app, 'provider', input.provider);
    return changeRows(app, { category, type, provider, ...(window && datesOf(window)) });
  },
});

interface Filter extends Pick<Input, 'category' | 'type'> {
  /** Id. */
  readonly provider: string | undefined;
  readonly since?: Date;
  readonly until?: Date;
}

async function* changeRows(app: TableApp, filter: Filter): AsyncGenerator<Row[]> {
  const { provider, category, type, since, until } = filter;
  for await (const batch of app.store.bulk.changes()) {
    const matching = batch.filter(
      (change) =>
        (provider === undefined || change.from === provider || change.to === provider) &&
        (category === undefined || change.category === category) &&
        (type === undefined || change.type === type) &&
        (since === undefined || change.confirmedAt >= since) &&
        (until === undefined || change.confirmedAt <= until),
    );
    yield (await withNames(app, matching)).map((change) => {
      const report = changeReport(change, app.names);
      return [
        ...[report.id, report.at, report.confirmed_at, change.domain, report.type, report.category, report.role],
        ...[report.from_id, report.from, report.to_id, report.to, report.confidence, report.importance],
      ];
    });
  }
}
