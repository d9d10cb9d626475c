// What audits have shown of each worker for each model, since the gateway started.
import type { Verified } from '@strata/inference';
import { LRUCache } from 'lru-cache';

export interface AuditReach {
  /** Whether audits are on at all. */
  readonly isOn: boolean;
  /** Whether this gateway has an engine with the file. */
  readonly hasOwnEngine: boolean;
  /** Whether another connected worker offers the file. */
  readonly hasOtherWorkers: boolean;
}

/** Workers can come and go freely. */
const MAX_WORKERS = 10_000;

const claimed = (reason: string): Verified => ({ level: 'claimed', reason });

export class AuditTally {
  readonly #clean = new LRUCache<string, number>({ max: MAX_WORKERS });

  /** The outcome of an audit; one that found nothing changes nothing. */
  note({ peer, modelSha256, outcome }: { peer: string; modelSha256: string; outcome: string }): void {
    const key = `${peer} ${modelSha256}`;
    if (outcome === 'clean') this.#clean.set(key, (this.#clean.get(key) ?? 0) + 1);
    else if (outcome === 'deviating' || outcome === 'proof') this.#clean.delete(key);
  }

  of(peer: string, modelSha256: string, { isOn, hasOwnEngine, hasOtherWorkers }: AuditReach): Verified {
    const clean = this.#clean.get(`${peer} ${modelSha256}`) ?? 0;
    const by = hasOwnEngine ? "this gateway's copy of the file" : 'other workers that claim the file';
    if (clean > 0)
      return {
        level: 'audited',
        reason: `${clean} ${clean === 1 ? 'answer' : 'answers'} of the worker scored clean by ${by}`,
      };
    if (!isOn) return claimed('audits are off');
    if (!hasOwnEngine && !hasOtherWorkers)
      return claimed('no audit reaches its answers: no other worker and no engine of this gateway has the file');
    return claimed('no answer of the worker has been audited yet');
  }
}
