// Takes up signing keys that an operator rotated while the process runs, and logs while it cannot sign or witnesses do not cosign.
import { witnessProblem } from '@strata/http';
import { KEY_OVERLAP_MS } from '@strata/receipts';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import { sleep } from '../sleep.ts';
import type { Ledger } from './ledger.ts';

const LOOK_MS = 1_000;

/** Until `signal` aborts. */
export async function followKeys(
  ledger: Pick<Ledger, 'reload' | 'retiredAt' | 'signer' | 'problem' | 'witnesses'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const trouble = new FailureLog(logger, { what: 'reading the signing keys' });
  const signing = new FailureLog(logger, { what: 'signing receipts' });
  const cosigning = new FailureLog(logger, { what: 'having checkpoints cosigned' });
  let { keyId } = ledger.signer;
  let toldOf: string | undefined;
  const tell = () => {
    const retiredAt = ledger.retiredAt();
    if (retiredAt !== undefined && retiredAt !== toldOf) {
      const until = new Date(Date.parse(retiredAt) + KEY_OVERLAP_MS).toISOString();
      logger.warn(
        { retiredAt, until },
        'the signing keys were rotated on another node: this one signs with the old ones until then, and no longer; give it the newest keys folder',
      );
    }
    toldOf = retiredAt;
    if (ledger.signer.keyId !== keyId) logger.info({ keyId: ledger.signer.keyId }, 'new signing keys are taken up');
    keyId = ledger.signer.keyId;
  };
  while (!signal.aborted) {
    await ledger.reload().then(
      () => {
        trouble.recovered();
        tell();
      },
      (error: unknown) => trouble.failed(error),
    );
    for (const [log, problem] of [
      [signing, ledger.problem()],
      [cosigning, witnessProblem(ledger.witnesses())],
    ] as const)
      if (problem === undefined) log.recovered();
      else log.failed(new Error(problem));
    await sleep(LOOK_MS, signal);
  }
}
