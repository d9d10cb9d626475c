import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import type { VersionRange } from '../advisory.ts';
import { versionsOf } from './cna-versions.ts';

type Entry = Parameters<typeof versionsOf>[0][number];
const read = (entries: Entry[], otherwise?: 'affected' | 'unaffected') => versionsOf(entries, otherwise, undefined);
const affected = (version: string, more: Partial<Entry> = {}): Entry => ({ version, status: 'affected', ...more });
const inclusive = (version: string) => ({ version, isInclusive: true });
const exclusive = (version: string) => ({ version, isInclusive: false });

describe('versions of a CVE record', () => {
  it('0, unspecified and n/a below a bound are no lower bound', () => {
    for (const version of ['0', 'unspecified', 'n/a', 'N/A', '']) {
      const claim = read([affected(version, { lessThan: '1.2.3', versionType: 'custom' })], 'unaffected');
      assert.deepEqual(claim.affected, [{ to: exclusive('1.2.3') }], version);
      assert.equal(claim.otherwise, 'unaffected');
    }
  });
  it('0, unspecified and n/a alone say nothing, so no version is called unaffected', () => {
    for (const version of ['0', 'unspecified', 'n/a', '-', 'unknown']) {
      const claim = read([affected(version)], 'unaffected');
      assert.deepEqual([claim.affected, claim.affectedVersions, claim.otherwise], [[], [], 'unknown'], version);
    }
  });
  it('an infinity is no upper bound, or the end of its series', () => {
    const upper = (lessThan: string) => read([affected('1.0', { lessThan })]).affected;
    assert.deepEqual(upper('*'), [{ from: inclusive('1.0') }]);
    assert.deepEqual(upper('2.*'), [{ from: inclusive('1.0'), to: exclusive('3') }]);
    assert.deepEqual(upper('2.1.*'), [{ from: inclusive('1.0'), to: exclusive('2.2') }]);
    assert.deepEqual(upper('log4j-core*'), [{ from: inclusive('1.0') }]);
  });
  it('lessThanOrEqual includes its version', () => {
    const claim = read([affected('1.0', { lessThanOrEqual: '1.5', versionType: 'semver' })]);
    assert.deepEqual(claim.affected, [{ from: inclusive('1.0'), to: inclusive('1.5') }]);
    assert.equal(claim.scheme, 'semver');
  });

  it('changes break a range up, whatever order they are given in', () => {
    const changes: Entry['changes'] = [
      { at: '2.10.0', status: 'unaffected' },
      { at: '2.5.2', status: 'unaffected' },
      { at: '2.6.0', status: 'affected' },
    ];
    const claim = read([affected('2.0.0', { lessThan: '2.*', versionType: 'semver', changes })], 'unaffected');
    assert.deepEqual(claim.affected, [
      { from: inclusive('2.0.0'), to: exclusive('2.5.2') },
      { from: inclusive('2.6.0'), to: exclusive('2.10.0') },
    ]);
    assert.deepEqual(claim.unaffected, [
      { from: inclusive('2.5.2'), to: exclusive('2.6.0') },
      { from: inclusive('2.10.0'), to: exclusive('3') },
    ]);
  });

  it('a change at the lower bound holds from the start, one beyond the upper never', () => {
    const changes: Entry['changes'] = [
      { at: '1.0', status: 'affected' },
      { at: '9.0', status: 'affected' },
    ];
    const entry: Entry = { version: '1.0', status: 'unaffected', lessThan: '2.0', changes };
    const claim = read([entry]);
    assert.deepEqual(claim.affected, [{ from: inclusive('1.0'), to: exclusive('2.0') }]);
    assert.deepEqual(claim.unaffected, []);
  });

  it('bounds and changes stand in the order of the scheme that is named', () => {
    const changes: Entry['changes'] = [{ at: '16.0.0', status: 'unaffected' }];
    const versionType = 'semver';
    const before = affected('16.0.0-experimental.1', { lessThan: '16.0.0', versionType });
    const until = affected('16.0.0-experimental.1', { lessThan: '17.0.0', versionType, changes });
    for (const entry of [before, until]) {
      const claim = read([entry], 'unaffected');
      assert.deepEqual(claim.affected, [{ from: inclusive('16.0.0-experimental.1'), to: exclusive('16.0.0') }]);
      assert.equal(claim.otherwise, 'unaffected');
    }
  });

  it('unaffected versions are ranges of one', () => {
    const claim = read([affected('2.4'), { version: '2.6', status: 'unaffected' }]);
    assert.deepEqual(claim.affectedVersions, ['2.4']);
    assert.deepEqual(claim.unaffected, [{ from: inclusive('2.6'), to: inclusive('2.6') }]);
    assert.equal(claim.otherwise, 'unknown');
  });
  it('commits are passed over beside versions, and leave everything open alone', () => {
    const commit = affected('2f75300', { lessThan: '2c6c9d4', versionType: 'git' });
    const beside = read([commit, affected('1.0', { lessThan: '1.5' })], 'unaffected');
    assert.deepEqual(beside.affected, [{ from: inclusive('1.0'), to: exclusive('1.5') }]);
    assert.equal(beside.otherwise, 'unaffected');
    assert.equal(read([commit], 'unaffected').otherwise, 'unknown');
  });

  it('a range that no version is in, and text that cannot be read, make the rest unknown', () => {
    const unreadable: Entry[] = [
      affected('1.2.3', { lessThan: '1.2.3' }),
      affected('2.0', { lessThan: '1.0' }),
      affected('1.0', { lessThan: 'unspecified' }),
      affected('FortiOS', { lessThan: '7.2' }),
      affected('see advisory'),
      affected('1.0', { changes: [{ at: '1.1', status: 'unaffected' }] }),
      affected('1.0', { lessThan: '2.0', changes: [{ at: 'later', status: 'unaffected' }] }),
      { version: '1.0', status: 'unknown' },
    ];
    for (const entry of unreadable) {
      const claim = read([affected('3.1'), entry], 'unaffected');
      assert.deepEqual(
        [claim.affectedVersions, claim.affected, claim.otherwise],
        [['3.1'], [], 'unknown'],
        entry.version,
      );
    }
  });

  it('without entries the default stands for all', () => {
    assert.equal(read([], 'affected').otherwise, 'affected');
    assert.equal(read([]).otherwise, 'unknown');
  });

  it('an order is believed where all name it and their versions have its form', () => {
    const scheme = (...entries: Entry[]) => read(entries).scheme;
    for (const [version, versionType, expected] of [
      ['1.0', 'python', 'python'],
      ['1:1.0-1', 'dpkg', 'deb'],
      ['1.2.3', 'semver', 'semver'],
      ['1.2.3.4', 'semver', 'dotted'],
      ['1.0', 'maven', 'dotted'],
      ['1.0', '__proto__', 'dotted'],
    ] as const) {
      assert.equal(scheme(affected(version, { versionType })), expected, versionType);
    }
    assert.equal(scheme(affected('1.0', { versionType: 'rpm' }), affected('1.1', { versionType: 'semver' })), 'dotted');
  });

  it('come to what the published algorithm says of every version', () => {
    const status = fc.constantFrom('affected' as const, 'unaffected' as const);
    const number = fc.integer({ min: 1, max: 12 });
    const changes = fc.uniqueArray(fc.record({ at: number, status }), { selector: ({ at }) => at, maxLength: 5 });
    const ranges = fc.record({ start: number, length: number, first: status, isInclusive: fc.boolean() });
    holds(100, [ranges, status, changes], ({ start, length, first, isInclusive }, otherwise, points) => {
      const end = start + length;
      const entry: Entry = {
        version: String(start),
        status: first,
        [isInclusive ? 'lessThanOrEqual' : 'lessThan']: String(end),
        changes: points.map((point) => ({ at: String(point.at), status: point.status })),
      };
      const claim = read([entry], otherwise);
      for (let v = 0; v <= 26; v += 1) {
        const isWithin = v >= start && (isInclusive ? v <= end : v < end);
        const before = points.filter(({ at }) => at <= v).sort((a, b) => b.at - a.at);
        const expected = isWithin ? (before[0]?.status ?? first) : otherwise;
        assert.equal(statusIn(claim, v), expected, `version ${v}`);
      }
    });
  });
});

/** What a claim says of a whole number as a version. */
function statusIn({ affected, unaffected, otherwise }: ReturnType<typeof versionsOf>, v: number): string {
  const isIn = ({ from, to }: VersionRange) =>
    (from === undefined || v > Number(from.version) || (from.isInclusive && v === Number(from.version))) &&
    (to === undefined || v < Number(to.version) || (to.isInclusive && v === Number(to.version)));
  if (unaffected.some(isIn)) return 'unaffected';
  return affected.some(isIn) ? 'affected' : otherwise;
}
