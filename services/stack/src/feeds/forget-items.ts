// Items grow old: an hourly look drops them in bites, so that nobody waits for it, and goes on with removals that were cut short.
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';

export interface ForgetParts {
  readonly store: Pick<Store, 'feeds'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const EVERY_MS = 3_600_000;
const BITE = 200;
/** Between two bites: polls and requests have their turn. */
const PAUSE_MS = 20;

/** Drops what is older than `keepMs`, again and again until `signal` aborts. */
export async function forgetOldItems(
  { store, logger, now }: ForgetParts,
  { keepMs, signal }: { readonly keepMs: number; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await store.feeds.finishLeaving();
      const before = new Date(now().getTime() - keepMs);
      while (!signal.aborted && (await store.feeds.forget(before, BITE)) > 0) await sleep(PAUSE_MS, signal);
    } catch (error) {
      logger.error({ err: error }, 'old items of feeds could not be dropped');
    }
    await sleep(EVERY_MS, signal);
  }
}
