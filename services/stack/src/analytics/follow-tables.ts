// Follows the position of the tables in ClickHouse, for the cached answers of this process.
import type { Analytics } from '@strata/analytics';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { OutdatedAnswers } from './outdated-answers.ts';

export interface FollowTablesDeps {
  readonly analytics: Pick<Analytics, 'asOf'>;
  readonly outdated: Pick<OutdatedAnswers, 'moved' | 'recovered'>;
  readonly logger: Logger;
  /** Replaces the delay between polls in tests. */
  readonly wait?: typeof sleep;
}

const POLL_MS = 500;

/** Until the signal aborts. A failure is logged once. */
export async function followTables(deps: FollowTablesDeps, signal: AbortSignal): Promise<void> {
  const { analytics, outdated, logger, wait = sleep } = deps;
  const failures = new FailureLog(logger, { what: 'reading the position of ClickHouse' });
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const position = await analytics.asOf();
      failures.recovered();
      if (isFailing) outdated.recovered();
      isFailing = false;
      outdated.moved(position);
    } catch (error) {
      isFailing = true;
      if (!signal.aborted) failures.failed(error);
    }
    await wait(POLL_MS, signal);
  }
}
