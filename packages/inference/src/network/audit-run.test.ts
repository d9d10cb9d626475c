// Which answers of a worker are audited, over many runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AuditRun } from './audit-run.ts';
import { seeded } from './test/margins.ts';

const plain = { share: 0.02, weight: 1 };

/** Numbers of the answers that are audited, of so many, and when each was told. */
function auditsOf(run: AuditRun<number>, count: number, of: (i: number) => { share: number; weight: number }) {
  return Array.from({ length: count }, (_, i) => ({ at: i, audited: run.add(i, of(i)) })).filter(
    (each): each is { at: number; audited: number } => each.audited !== undefined,
  );
}

describe('of a run of answers', () => {
  it('exactly one is audited, anywhere in it, and told when the run is over', () => {
    const positions = new Set<number>();
    const run = new AuditRun<number>(seeded(1));
    const audits = auditsOf(run, 50_000, () => plain);
    assert.ok(audits.length === 1_000 || audits.length === 999);
    for (const [i, { at, audited }] of audits.entries()) {
      const before = audits[i - 1];
      if (!before) continue;
      assert.equal(at - before.at, 50);
      assert.ok(audited > before.at && audited <= at);
      positions.add(audited - before.at);
    }
    assert.equal(positions.size, 50, 'every place in the run is drawn sooner or later');
  });

  it('each has a chance by its weight', () => {
    const run = new AuditRun<number>(seeded(2));
    // Every tenth answer is four times as long.
    const audits = auditsOf(run, 100_000, (i) => ({ share: 0.02, weight: i % 10 === 0 ? 4 : 1 }));
    const long = audits.filter(({ audited }) => audited % 10 === 0).length / audits.length;
    assert.ok(Math.abs(long - 4 / 13) < 0.04, `${long}`);
  });

  it('all are audited at a share of 1, and none at 0', () => {
    for (const share of [1, 0])
      assert.equal(auditsOf(new AuditRun(seeded(3)), 100, () => ({ share, weight: 1 })).length, 100 * share);
  });

  it('a few are audited as often as the share says, though no run is over', () => {
    const random = seeded(4);
    const audits = Array.from({ length: 20_000 }, () => auditsOf(new AuditRun(random), 5, () => plain).length);
    const mean = audits.reduce((sum, count) => sum + count, 0) / audits.length;
    assert.ok(Math.abs(mean - 0.1) < 0.01, `${mean}`);
  });
});

describe('a run', () => {
  it('ends within two answers once half of them are asked for', () => {
    const random = seeded(5);
    for (let life = 0; life < 200; life += 1) {
      const run = new AuditRun<number>(random);
      auditsOf(run, life, () => plain);
      assert.ok(auditsOf(run, 2, () => ({ share: 0.5, weight: 1 })).length >= 1);
    }
  });

  it('makes up for audits that came to nothing, and forgives what is too much', () => {
    for (const [owed, more] of [
      [3, 3],
      [1_000, 10],
    ] as const) {
      const run = new AuditRun<number>(seeded(6));
      for (let i = 0; i < owed; i += 1) run.owe();
      const audits = auditsOf(run, 1_000, () => plain).length;
      assert.ok(audits === 20 + more || audits === 19 + more, `${audits}`);
    }
  });

  it('makes up for none where all answers are audited as it is', () => {
    const run = new AuditRun<number>(seeded(7));
    run.owe();
    assert.equal(auditsOf(run, 10, () => ({ share: 1, weight: 1 })).length, 10);
  });
});
