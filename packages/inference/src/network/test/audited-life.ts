// A worker's life by audits alone: it answers, one answer of each run is audited, until it is quarantined.
import { AuditRun } from '../audit/audit-run.ts';
import { afterFinding, atTime, auditShare, NEW_WORKER, type Reputation } from '../audit/reputation.ts';

export interface LifeOptions {
  /** Deviation of the next answer of a worker with this reputation. */
  readonly deviationOf: (reputation: Reputation) => number;
  readonly requests: number;
  /** Share of answers audited where the reputation is good. */
  readonly share?: number;
  readonly from?: Reputation;
  readonly random: () => number;
  /** Between requests. */
  readonly everyMs?: number;
}

/** `caughtAfter`: requests answered until it was quarantined; undefined where it was not. */
export function audited(options: LifeOptions) {
  const { deviationOf, requests, share = 0.02, random, everyMs = 1_000 } = options;
  let reputation = options.from ?? NEW_WORKER;
  let audits = 0;
  const run = new AuditRun<number>(random);
  const startMs = reputation.changedAtMs;
  for (let request = 1; request <= requests; request += 1) {
    const nowMs = startMs + request * everyMs;
    reputation = atTime(reputation, nowMs);
    const found = run.add(deviationOf(reputation), { share: auditShare(reputation, share), weight: 1 });
    if (found === undefined) continue;
    audits += 1;
    // One token that is off by so much: the deviation is what counts.
    reputation = afterFinding(reputation, { kind: 'scored', margins: [found] }, nowMs);
    if (reputation.state === 'quarantined') return { reputation, caughtAfter: request, audits };
  }
  return { reputation, caughtAfter: undefined, audits };
}
