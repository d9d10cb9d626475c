// Takes up signing keys that an operator rotated while the process runs.
import type { Logger } from 'pino';
import type { Ledger } from './ledger.ts';
import { sleep } from './sleep.ts';

const LOOK_MS = 1_000;

/** Until `signal` aborts. */
export async function followKeys(ledger: Ledger, logger: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await ledger.reload().catch((error: unknown) => logger.error({ err: error }, 'reading the signing keys failed'));
    await sleep(LOOK_MS, signal);
  }
}
