// The declaration of a table that can be exported: its columns, its filter and its rows.
import type { TableColumn } from '@strata/http';
import type { z } from 'zod';
import type { TableApp } from '../../context.ts';
import type { Batches } from '../../exports/write-table.ts';

export interface ExportTable<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** In the path and in file names. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly columns: readonly TableColumn[];
  /** Query parameters of the filter; their values survive JSON. */
  readonly parameters: Shape;
  /** Refuses an unusable filter at once; reads when the result is iterated, in batches of about a thousand rows. */
  readonly rows: (app: TableApp, filter: z.output<z.ZodObject<Shape>>) => Batches;
}

/** Relates parameters and rows; from here on all tables are alike. */
export function exportTable<Shape extends z.ZodRawShape>(table: ExportTable<Shape>): ExportTable {
  return table as unknown as ExportTable;
}

export const time = (ms: number | Date): string => new Date(ms).toISOString();
export const TIME = { description: 'ISO 8601 UTC.', type: 'time' } as const;
