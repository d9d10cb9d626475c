// Ends what revoked keys have open: looks again and again whether another process, such as the CLI, has revoked any.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import type { Callers } from './callers.ts';

/** One small statement each time; with the one that finds the keys it makes less than a second. */
const LOOK_MS = 250;

export interface RevocationParts {
  readonly store: Pick<Store, 'heads'>;
  readonly callers: Pick<Callers, 'endRevoked'>;
  readonly logger: Logger;
}

/** Until `signal` aborts. What fails is tried again. */
export async function followRevocations(
  { store, callers, logger }: RevocationParts,
  signal: AbortSignal,
): Promise<void> {
  let before = 0;
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const { keys } = await store.heads();
      if (keys !== before) await callers.endRevoked();
      before = keys;
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'looking for revoked keys failed: it is tried again');
      isFailing = true;
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}
