// A worker's life by audits alone: it answers, one answer of each run is audited, until it is quarantined.
import { AuditRun } from '../audit-run.ts';
import { afterFinding, atTime, auditShare, NEWCOMER, type Standing } from '../standing.ts';

export interface LifeOptions {
  /** Deviation of the next answer of a worker that is in this standing. */
  readonly deviationOf: (standing: Standing) => number;
  readonly requests: number;
  /** Share of answers audited in good standing. */
  readonly share?: number;
  readonly from?: Standing;
  readonly random: () => number;
  /** Between requests. */
  readonly everyMs?: number;
}

/** `caughtAfter`: requests answered until it was quarantined; undefined where it was not. */
export function audited(options: LifeOptions) {
  const { deviationOf, requests, share = 0.02, random, everyMs = 1_000 } = options;
  let standing = options.from ?? NEWCOMER;
  let audits = 0;
  const run = new AuditRun<number>(random);
  const startMs = standing.changedAtMs;
  for (let request = 1; request <= requests; request += 1) {
    const nowMs = startMs + request * everyMs;
    standing = atTime(standing, nowMs);
    const found = run.add(deviationOf(standing), { share: auditShare(standing, share), weight: 1 });
    if (found === undefined) continue;
    audits += 1;
    // One token that is off by so much: the deviation is what counts.
    standing = afterFinding(standing, { kind: 'scored', margins: [found] }, nowMs);
    if (standing.state === 'quarantined') return { standing, caughtAfter: request, audits };
  }
  return { standing, caughtAfter: undefined, audits };
}
