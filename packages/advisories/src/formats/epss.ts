// FIRST's daily file of exploit predictions, line by line: https://www.first.org/epss/data_stats
import { z } from 'zod';
import type { ExploitScore } from '../advisory.ts';
import { CveId } from './reading.ts';
import { utcTime } from './text.ts';

interface EpssHead {
  /** `v2025.03.14`. */
  readonly modelVersion: string;
  /** ISO 8601 UTC. */
  readonly scoredAt: string;
}

/** FIRST writes the zone as `+0000`. */
const HEAD = /^#model_version:([\w.-]{1,32}),score_date:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:Z|\+00:?00)$/;
const NUMBER = /^\d(?:\.\d{1,20})?(?:e-\d{1,3})?$/i;

const Share = z
  .string()
  .regex(NUMBER)
  .transform(Number)
  .refine((share) => share <= 1);
const Row = z.tuple([CveId, Share, Share], z.unknown());

/** Parses the first line of the file; null if it has another form. */
export function readEpssHead(line: string): EpssHead | null {
  const [, modelVersion, time] = HEAD.exec(line.slice(0, 200).trim()) ?? [];
  const scoredAt = time && utcTime(time);
  return modelVersion && scoredAt ? { modelVersion, scoredAt } : null;
}

/** Whether a line names the columns `cve,epss,percentile`; files with other columns are not read. */
export function isEpssColumns(fields: readonly string[]): boolean {
  return fields[0] === 'cve' && fields[1] === 'epss' && fields[2] === 'percentile';
}

/** Parses a row after the columns; null if it is invalid. */
export function readEpssRow(fields: readonly string[]): ExploitScore | null {
  const row = Row.safeParse(fields.slice(0, 3));
  if (!row.success) return null;
  const [cve, epss, percentile] = row.data;
  return { cve, epss, percentile };
}
