// Simulates a worker under audits: it answers, one answer of each run is audited, until it is quarantined.
import { AuditRun } from '../audit/audit-run.ts';
import { afterFinding, atTime, auditShare, NEW_WORKER, type Reputation } from '../audit/reputation.ts';

export interface LifeOptions {
  /** The deviation of the next answer of a worker with this reputation. */
  readonly deviationOf: (reputation: Reputation) => number;
  readonly requests: number;
  /** The share of answers to audit for a good reputation. */
  readonly share?: number;
  readonly from?: Reputation;
  readonly random: () => number;
  /** The time between requests. */
  readonly everyMs?: number;
}

/** `caughtAfter`: the number of answers before quarantine; undefined if the worker was not caught. */
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
    // One token with this deviation: only the deviation matters.
    reputation = afterFinding(reputation, { kind: 'scored', margins: [found] }, nowMs);
    if (reputation.state === 'quarantined') return { reputation, caughtAfter: request, audits };
  }
  return { reputation, caughtAfter: undefined, audits };
}
