// How far audits have shown that a worker runs the model that it claims.
import type { Verified } from '@strata/inference';

export interface AuditReach {
  /** Whether audits are on at all. */
  readonly isOn: boolean;
  /** Whether this gateway has an engine with the file. */
  readonly hasOwnEngine: boolean;
  /** Whether another connected worker offers the file. */
  readonly hasOtherWorkers: boolean;
}

const claimed = (reason: string): Verified => ({ level: 'claimed', reason });

/** `cleanAudits`: of the worker for this model, since the last audit with a deviation. */
export function auditedLevel(cleanAudits: number, { isOn, hasOwnEngine, hasOtherWorkers }: AuditReach): Verified {
  if (cleanAudits > 0)
    return {
      level: 'audited',
      reason: `${cleanAudits} ${cleanAudits === 1 ? 'answer' : 'answers'} of the worker scored clean by ${
        hasOwnEngine ? "this gateway's copy of the file" : 'other workers that claim the file'
      }`,
    };
  if (!isOn) return claimed('audits are off');
  if (!hasOwnEngine && !hasOtherWorkers)
    return claimed('no audit reaches its answers: no other worker and no engine of this gateway has the file');
  return claimed('no answer of the worker has been audited yet');
}
