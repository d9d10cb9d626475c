// Takes up signing keys that an operator rotated while the process runs.
import type { Logger } from 'pino';
import type { Ledger } from './ledger.ts';
import { sleep } from './sleep.ts';

const LOOK_MS = 1_000;

/** Until `signal` aborts. */
export async function followKeys(ledger: Ledger, logger: Logger, signal: AbortSignal): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    const error = await ledger.reload().then(
      () => undefined,
      (error: unknown) => error,
    );
    const what = error === undefined ? undefined : String(error);
    // Once for as long as it lasts.
    if (what !== undefined && what !== told)
      logger.error({ err: error }, 'reading the signing keys failed: the keys of before sign on');
    told = what;
    await sleep(LOOK_MS, signal);
  }
}
