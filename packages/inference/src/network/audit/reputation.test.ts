// The sequential test against seeded simulated workers: which answers are audited, who is caught, and how soon.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf, randomFrom } from '../../../../../tests/support/index.ts';
import { audited, type LifeOptions } from '../test/audited-life.ts';
import { type MarginOptions, marginsOf } from '../test/margins.ts';
import { AuditRun } from './audit-run.ts';
import {
  afterFinding,
  atTime,
  auditShare,
  CONVICTION,
  deviation,
  type Finding,
  NEW_WORKER,
  Reputation,
  TOLERATED_DEVIATION,
  trust,
} from './reputation.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = 1_000 * DAY_MS;
const CLEAN: Finding = { kind: 'scored', margins: [0, 0, 0.0004, 0] };
const WRONG: Finding = { kind: 'scored', margins: [20, 3, 4, 7] };
const PROOF: Finding = { kind: 'proof', reason: 'forged receipt' };

const after = (reputation: Reputation, findings: readonly Finding[], nowMs = NOW) =>
  findings.reduce((each, finding) => afterFinding(each, finding, nowMs), reputation);
const times = (count: number, finding: Finding): readonly Finding[] => Array.from({ length: count }, () => finding);
const GOOD = after(NEW_WORKER, times(12, CLEAN));

/** Repeatedly draws deviations from those of 200 answers. */
function deviations(options: MarginOptions, random: () => number): () => number {
  const pool = Array.from({ length: 200 }, () => deviation({ margins: marginsOf(options, random) }));
  return () => pool[Math.floor(random() * pool.length)] as number;
}

describe('the deviation of an answer', () => {
  it('is the mean of its margins, each clipped to one nat', () => {
    assert.deepEqual([deviation({ margins: [] }), deviation({ margins: [0, 0, 0, 0.4] })], [0, 0.1]);
    assert.equal(deviation({ margins: [100, 0] }), 0.5);
  });
  it('weighs a false end of a long answer with one eighth if all tokens are right', () => {
    const margins = Array.from({ length: 4_000 }, () => 0);
    assert.equal(deviation({ margins, end: 100 }), 1 / 8);
    assert.deepEqual([deviation({ margins, end: 0 }), deviation({ margins: [], end: 0.5 })], [0, 0.5]);
    assert.equal(after(GOOD, times(8, { kind: 'scored', margins, end: 5 })).state, 'quarantined');
  });
});

describe('reputation', () => {
  it('is new until ten audits were clean, then good, and then audited a tenth as often', () => {
    assert.deepEqual([atTime(NEW_WORKER, NOW).state, GOOD.state], ['new', 'good']);
    assert.deepEqual([auditShare(NEW_WORKER, 0.02), auditShare(GOOD, 0.02)], [0.2, 0.02]);
    assert.deepEqual([auditShare(NEW_WORKER, 0), auditShare(NEW_WORKER, 0.5)], [0, 1]);
    assert.ok(trust(NEW_WORKER) < trust(GOOD));
  });
  it('is not lost by a single answer, however wrong, because its tokens are dependent', () => {
    const once = afterFinding(GOOD, { kind: 'scored', margins: Array.from({ length: 5_000 }, () => 100) }, NOW);
    assert.deepEqual([once.state, auditShare(once, 0.02)], ['suspect', 0.5]);
    assert.ok(trust(once) < trust(GOOD));
    assert.equal(after(GOOD, times(4, WRONG)).state, 'quarantined');
  });
  it('is quarantined immediately on proof, for a day, and for longer than on evidence', () => {
    const proven = afterFinding(GOOD, PROOF, NOW);
    const { state, reason, untilMs } = proven;
    assert.deepEqual([state, reason, untilMs], ['quarantined', 'forged receipt', NOW + DAY_MS]);
    assert.equal(trust(proven), 0);
    // Several proofs in one quarantine are one strike.
    assert.partialDeepStrictEqual(after(GOOD, times(40, PROOF)), { strikes: 1, untilMs: NOW + DAY_MS });
    assert.equal(after(GOOD, times(4, WRONG)).untilMs, NOW + HOUR_MS);
  });
  it('is lost by two misjudgements, unless clean audits come in between', () => {
    const once = afterFinding(GOOD, { kind: 'misjudged' }, NOW);
    assert.equal(once.state, 'suspect');
    assert.equal(afterFinding(once, { kind: 'misjudged' }, NOW).reason, 'misjudged answers of other workers');
    assert.equal(afterFinding(after(once, times(20, CLEAN)), { kind: 'misjudged' }, NOW).state, 'suspect');
  });
  it('returns on probation, with few requests and half of them audited, and recovers by clean audits', () => {
    const convicted = after(GOOD, times(4, WRONG));
    assert.equal(atTime(convicted, NOW + HOUR_MS - 1).state, 'quarantined');
    // Late audits of older answers have no effect.
    assert.equal(after(convicted, [...times(50, CLEAN), ...times(3, WRONG)]).untilMs, convicted.untilMs);
    const back = atTime(convicted, NOW + HOUR_MS);
    assert.deepEqual([back.state, back.untilMs], ['suspect', undefined]);
    assert.ok(trust(back) > 0 && trust(back) < 0.2);
    assert.equal(auditShare(back, 0.02), 0.5);
    assert.equal(after(back, times(2, WRONG), NOW + HOUR_MS).state, 'quarantined', 'sooner than the first time');
    assert.equal(after(back, times(35, CLEAN), NOW + HOUR_MS).state, 'good');
  });
  it('is quarantined for twice as long each time, up to a month, and strikes halve in a month', () => {
    let reputation: Reputation = NEW_WORKER;
    const lasted: number[] = [];
    let nowMs = NOW;
    for (let i = 0; i < 4; i += 1) {
      reputation = after(reputation, times(5, WRONG), nowMs);
      lasted.push(((reputation.untilMs ?? 0) - nowMs) / HOUR_MS);
      nowMs = reputation.untilMs ?? 0;
    }
    assert.deepEqual(lasted.map(Math.round), [1, 2, 4, 8]);
    assert.ok(atTime(reputation, nowMs + 30 * DAY_MS).strikes < 2.1);
    assert.equal(after({ ...NEW_WORKER, strikes: 60, changedAtMs: NOW }, [PROOF]).untilMs, NOW + 30 * DAY_MS);
  });
  it('decays: suspicion halves in a week, and after months without requests a worker is as good as new', () => {
    const suspect = after(GOOD, [WRONG]);
    const week = atTime(suspect, NOW + 7 * DAY_MS);
    assert.ok(Math.abs(week.evidence - suspect.evidence / 2) < 1e-9);
    assert.equal(atTime(GOOD, NOW + 90 * DAY_MS).state, 'new');
    const stepwise = atTime(atTime(suspect, NOW + DAY_MS), NOW + 7 * DAY_MS);
    assert.ok(Math.abs(stepwise.evidence - week.evidence) < 1e-9, 'independent of the number of steps');
    assert.deepEqual(atTime(GOOD, NOW - DAY_MS), GOOD, 'the clock moves backwards');
  });
  it('raises the audit share on a finding, and restores it after clean audits', () => {
    const slightly = afterFinding(GOOD, { kind: 'scored', margins: [2 * TOLERATED_DEVIATION] }, NOW);
    assert.deepEqual([slightly.state, auditShare(slightly, 0.02)], ['suspect', 0.5]);
    assert.equal(auditShare(afterFinding(slightly, CLEAN, NOW), 0.02), 0.02);
    const cleared = after(GOOD, [WRONG, ...times(25, CLEAN)]);
    assert.deepEqual([cleared.state, auditShare(cleared, 0.02)], ['good', 0.2], 'severe evidence is lasting');
    assert.equal(auditShare(after(GOOD, [PROOF]), 0.02), 0, 'no audits in quarantine');
  });
  it('survives serialisation as JSON', () => {
    for (const reputation of [NEW_WORKER, GOOD, after(GOOD, [PROOF])])
      assert.deepEqual(Reputation.parse(JSON.parse(JSON.stringify(reputation))), reputation);
  });
});

/** Simulates workers with a common seed: after how many answers each was caught. */
function caught(count: number, draw: (random: () => number) => LifeOptions['deviationOf'], more: Partial<LifeOptions>) {
  const random = randomFrom(5);
  const deviationOf = draw(random);
  const life = () => audited({ deviationOf, requests: 500, random, ...more }).caughtAfter;
  return Array.from({ length: count }, life);
}
const isCaught = (caughtAfter: number | undefined) => caughtAfter !== undefined;

it('an honest worker is convicted in less than 0.1 % of runs of 10,000 audits, by the bound and by simulation', () => {
  assert.ok(2 * 10_000 * Math.exp(-CONVICTION) < 0.001);
  // The tolerated mean deviation, concentrated in single outliers: the worst case of the bound.
  const kinds: [string, (random: () => number) => () => number][] = [
    ['rounding', (random) => deviations({ error: 0.02, tokens: 64 }, random)],
    ['another processor', (random) => deviations({ error: 0.05, spread: 1.5, tokens: 64 }, random)],
    ['short answers', (random) => deviations({ error: 0.05, spread: 1.5, tokens: 3 }, random)],
    ['wild bursts', (random) => () => (random() < TOLERATED_DEVIATION ? 1 : 0)],
  ];
  for (const [what, draw] of kinds)
    assert.equal(caught(20, draw, { requests: 10_000, share: 1 }).filter(isCaught).length, 0, what);
});

const cheats: [string, MarginOptions][] = casesOf('inference', 'cheats');
for (const [what, options] of cheats)
  it(`a worker that cheats after it has become trusted is caught within 500 requests at 2 %: ${what}`, () => {
    const lives = caught(500, (random) => deviations(options, random), { from: GOOD });
    assert.ok(lives.every(isCaught));
  });

const wrong = (random: () => number) => deviations({ error: 3, tokens: 64 }, random);
for (const [what, isWrong, min] of [
  ['only while nothing is held against it', ({ state }: Reputation) => state !== 'suspect', 200],
  ['in one answer of three', (_: Reputation, random: () => number) => random() < 1 / 3, 190],
] as const)
  it(`a worker that cheats after it has become trusted is caught when it cheats ${what}`, () => {
    const draw = (random: () => number) => {
      const next = wrong(random);
      return (reputation: Reputation) => (isWrong(reputation, random) ? next() : 0);
    };
    assert.ok(caught(200, draw, { from: GOOD }).filter(isCaught).length >= min);
  });
it('a worker that cheats after it has become trusted gains at most a dozen answers by a new key', () => {
  const answered = caught(200, wrong, {}).reduce<number>((sum, caughtAfter = 500) => sum + caughtAfter, 0);
  assert.ok(answered / 200 < 16);
});

const plain = { share: 0.02, weight: 1 };

/** The numbers of the audited answers, and when each audit was sent. */
function auditsOf(run: AuditRun<number>, count: number, of: (i: number) => { share: number; weight: number }) {
  const answers = Array.from({ length: count }, (_, at) => ({ at, audited: run.add(at, of(at)) ?? -1 }));
  return answers.filter(({ audited }) => audited >= 0);
}

it('a run of answers has exactly one audit at a random position, which is reported when the run has ended', () => {
  const positions = new Set<number>();
  const run = new AuditRun<number>(randomFrom(1));
  const audits = auditsOf(run, 50_000, () => plain);
  assert.ok(audits.length === 1_000 || audits.length === 999);
  for (const [i, { at, audited }] of audits.entries()) {
    const before = audits[i - 1];
    if (!before) continue;
    assert.equal(at - before.at, 50);
    assert.ok(audited > before.at && audited <= at);
    positions.add(audited - before.at);
  }
  assert.equal(positions.size, 50, 'every position in the run is eventually drawn');
});
it('a run of answers selects each answer with a chance proportional to its weight', () => {
  const run = new AuditRun<number>(randomFrom(2));
  // Every tenth answer is four times as long.
  const audits = auditsOf(run, 100_000, (i) => ({ share: 0.02, weight: i % 10 === 0 ? 4 : 1 }));
  const long = audits.filter(({ audited }) => audited % 10 === 0).length / audits.length;
  assert.ok(Math.abs(long - 4 / 13) < 0.04, `${long}`);
});
it('a run of answers audits every answer at a share of 1, and no answer at 0', () => {
  for (const share of [1, 0])
    assert.equal(auditsOf(new AuditRun(randomFrom(3)), 100, () => ({ share, weight: 1 })).length, 100 * share);
});
it('a run of answers audits the configured share even if no run ends', () => {
  const random = randomFrom(4);
  const audits = Array.from({ length: 20_000 }, () => auditsOf(new AuditRun(random), 5, () => plain).length);
  const mean = audits.reduce((sum, count) => sum + count, 0) / audits.length;
  assert.ok(Math.abs(mean - 0.1) < 0.01, `${mean}`);
});
it('a run of answers ends within two answers at a share of one half', () => {
  const random = randomFrom(5);
  for (let life = 0; life < 200; life += 1) {
    const run = new AuditRun<number>(random);
    auditsOf(run, life, () => plain);
    assert.ok(auditsOf(run, 2, () => ({ share: 0.5, weight: 1 })).length >= 1);
  }
});
it('a run of answers repays missed audits up to a limit', () => {
  for (const owed of [3, 1_000]) {
    const more = Math.min(owed, 10);
    const run = new AuditRun<number>(randomFrom(6));
    for (let i = 0; i < owed; i += 1) run.owe();
    const audits = auditsOf(run, 1_000, () => plain).length;
    assert.ok(audits === 20 + more || audits === 19 + more, `${audits}`);
  }
  // Nothing is repaid where every answer is audited.
  const run = new AuditRun<number>(randomFrom(7));
  run.owe();
  assert.equal(auditsOf(run, 10, () => ({ share: 1, weight: 1 })).length, 10);
});
