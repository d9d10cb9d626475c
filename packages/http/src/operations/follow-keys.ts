// Reloads signing keys that an operator rotated, and logs failures to sign and to get cosignatures.
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_OVERLAP_MS, type WitnessReport } from '@strata/receipts';
import type { Logger } from 'pino';
import { FailureLog } from './failure-log.ts';
import { witnessProblem } from './witnesses.ts';

const CHECK_INTERVAL_MS = 1_000;

/** A ledger and its signing keys; see `SignedLedger` of @strata/log. */
interface FollowedLedger {
  readonly signer: { readonly keyId: string };
  reload(): Promise<void>;
  retiredAt(): string | undefined;
  problem(): string | undefined;
  witnesses(): WitnessReport | undefined;
}

/** Runs until `signal` aborts. */
export async function followKeys(ledger: FollowedLedger, logger: Logger, signal: AbortSignal): Promise<void> {
  const failures = new FailureLog(logger, { what: 'reading the signing keys' });
  const signing = new FailureLog(logger, { what: 'signing receipts' });
  const cosigning = new FailureLog(logger, { what: 'having checkpoints cosigned' });
  let { keyId } = ledger.signer;
  let reportedRetirement: string | undefined;
  const logRotation = () => {
    const retiredAt = ledger.retiredAt();
    if (retiredAt !== undefined && retiredAt !== reportedRetirement) {
      const until = new Date(Date.parse(retiredAt) + KEY_OVERLAP_MS).toISOString();
      logger.warn(
        { retiredAt, until },
        'the signing keys were rotated on another node: this node signs with the old keys until the given time; copy the new keys folder to it',
      );
    }
    reportedRetirement = retiredAt;
    if (ledger.signer.keyId !== keyId) logger.info({ keyId: ledger.signer.keyId }, 'new signing keys are in use');
    keyId = ledger.signer.keyId;
  };
  while (!signal.aborted) {
    await ledger.reload().then(
      () => {
        failures.recovered();
        logRotation();
      },
      (error: unknown) => failures.failed(error),
    );
    for (const [log, problem] of [
      [signing, ledger.problem()],
      [cosigning, witnessProblem(ledger.witnesses())],
    ] as const)
      if (problem === undefined) log.recovered();
      else log.failed(new Error(problem));
    await sleep(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
