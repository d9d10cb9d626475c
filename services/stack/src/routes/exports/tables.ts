// All tables that can be exported. A further table is declared in a file of its own and listed here.
import { z } from 'zod';
import type { StackApp, TableApp } from '../../context.ts';
import type { DumpTable } from '../../exports/dump/dump.ts';
import type { JobOrder } from '../../exports/job.ts';
import type { TableSource } from '../../exports/write-table.ts';
import { domainsTable, recordsTable, scorecardTable, servicesTable } from './domain-tables.ts';
import type { ExportTable } from './export-table.ts';
import { historyTable } from './history-table.ts';
import { lookupSource } from './lookup-table.ts';

export const EXPORT_TABLES: readonly ExportTable[] = [
  domainsTable,
  servicesTable,
  recordsTable,
  historyTable,
  scorecardTable,
];

/** All tables without a filter. */
export const completeTables = (app: TableApp): DumpTable[] =>
  EXPORT_TABLES.map(({ name, columns, parameters, rows }) => ({
    ...{ name, columns },
    rows: () => rows(app, z.object(parameters).parse({})),
  }));

/** The rows of an order. Throws a Refusal for a filter that cannot be used. */
export function sourceOf(
  app: StackApp,
  { table, filter, upload }: JobOrder,
  uploadPath: string,
): TableSource | Promise<TableSource> {
  if (table === 'lookup') return lookupSource(app, upload, uploadPath);
  const declared = EXPORT_TABLES.find(({ name }) => name === table);
  if (declared === undefined) throw new RangeError(`there is no table ${table}`);
  return { columns: declared.columns, batches: declared.rows(app, filter) };
}
