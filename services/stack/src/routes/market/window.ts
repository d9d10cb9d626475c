// The windows that migrations are asked for by: whole UTC days, or hours back from now. Both go by when a change was confirmed.
import { DAY_MS, dayOf, type FlowFilter, type Flows, TREND_DAYS } from '@strata/analytics';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { WholeNumber } from '../parameters.ts';

/** As many days as the index keeps migrations in memory. */
const MAX_DAYS = 60;

/** Query parameters of a window. */
export const windowParameters = {
  days: WholeNumber({ min: 1, max: MAX_DAYS })
    .describe('Only those confirmed on the last so many UTC days, today among them.')
    .optional(),
  hours: WholeNumber({ min: 1, max: MAX_DAYS * 24 })
    .describe('Only those confirmed within so many hours, as `/stack/v1/stats` counts them; goes before `days`.')
    .optional(),
};
const Window = z.object(windowParameters);

export interface WindowOfFlows extends Flows {
  /** Undefined without a window: then the flows are those of 30 days, and a list is of any age. */
  readonly since: Date | undefined;
}

/** Who went where within a window, and when it begins. */
export function flowsWithin(
  { index, clock }: Pick<StackApp, 'index' | 'clock'>,
  { days, hours }: z.output<typeof Window>,
  filter: FlowFilter,
): WindowOfFlows {
  const now = clock().getTime();
  if (hours !== undefined) {
    const after = now - hours * (DAY_MS / 24);
    return { ...index.history.flowsBetween(after, now, filter), since: new Date(after + 1) };
  }
  const today = dayOf(now);
  const first = today - (days ?? TREND_DAYS) + 1;
  const since = days === undefined ? undefined : new Date(first * DAY_MS);
  return { ...index.history.flows(first, today, filter), since };
}
