// Ends the open requests of revoked keys: polls the store for revocations by other processes, such as the CLI.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { GatewayStore } from '../store/index.ts';
import type { Callers } from './callers.ts';

/** One small query each time. Together with the key query, a revocation takes effect in less than a second. */
const POLL_MS = 250;

export interface RevocationDeps {
  readonly store: Pick<GatewayStore, 'revocations'>;
  readonly callers: Pick<Callers, 'endRevoked'>;
  readonly logger: Logger;
}

/** Runs until `signal` aborts. Errors are retried. */
export async function followRevocations(
  { store, callers, logger }: RevocationDeps,
  signal: AbortSignal,
): Promise<void> {
  let before = 0;
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const keys = await store.revocations();
      if (keys !== before) await callers.endRevoked();
      before = keys;
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'polling for revoked keys failed; retrying');
      isFailing = true;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
