// Takes up signing keys that an operator rotated while the process runs.
import type { Logger } from 'pino';
import type { Ledger } from './ledger.ts';
import { sleep } from './sleep.ts';
import { TroubleLog } from './trouble-log.ts';

const LOOK_MS = 1_000;

/** Until `signal` aborts. */
export async function followKeys(ledger: Ledger, logger: Logger, signal: AbortSignal): Promise<void> {
  const trouble = new TroubleLog(logger, { what: 'reading the signing keys' });
  while (!signal.aborted) {
    await ledger.reload().then(
      () => trouble.well(),
      (error: unknown) => trouble.failed(error),
    );
    await sleep(LOOK_MS, signal);
  }
}
