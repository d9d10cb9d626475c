// Time windows of migrations: complete UTC days, or hours back from now. Both use the time of confirmation.
import { DAY_MS, dayOf, type FlowFilter, type Flows, TREND_DAYS } from '@strata/analytics';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { Integer } from '../parameters.ts';

/** Days for which the index keeps migrations in memory. */
const MAX_DAYS = 60;

/** Query parameters of a window. */
export const windowParameters = {
  days: Integer({ min: 1, max: MAX_DAYS })
    .describe('Only migrations confirmed within this number of UTC days, including today.')
    .optional(),
  hours: Integer({ min: 1, max: MAX_DAYS * 24 })
    .describe(
      'Only migrations confirmed within this number of hours, as counted by `/stack/v1/stats`; takes precedence over `days`.',
    )
    .optional(),
};
const Window = z.object(windowParameters);

export interface WindowOfFlows extends Flows {
  /** Undefined without a window: flows are then those of 30 days, and lists are unlimited in age. */
  readonly since: Date | undefined;
}

/** The flows within a window, and its start. */
export function flowsWithin(
  { index, clock }: Pick<StackApp, 'index' | 'clock'>,
  { days, hours }: z.output<typeof Window>,
  filter: FlowFilter,
): WindowOfFlows {
  const now = clock().getTime();
  if (hours !== undefined) {
    const after = now - hours * (DAY_MS / 24);
    return { ...index.history.migrationLog.flowsBetween(after, now, filter), since: new Date(after + 1) };
  }
  const today = dayOf(now);
  const first = today - (days ?? TREND_DAYS) + 1;
  const since = days === undefined ? undefined : new Date(first * DAY_MS);
  return { ...index.history.migrationLog.flows(first, today, filter), since };
}
