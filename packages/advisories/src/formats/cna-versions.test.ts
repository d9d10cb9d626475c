import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { VersionRange } from '../advisory.ts';
import { versionsOf } from './cna-versions.ts';

type Entry = Parameters<typeof versionsOf>[0][number];
const affected = (version: string, more: Partial<Entry> = {}): Entry => ({ version, status: 'affected', ...more });
const inclusive = (version: string) => ({ version, isInclusive: true });
const exclusive = (version: string) => ({ version, isInclusive: false });

describe('versions of a CVE record', () => {
  it('0, unspecified and n/a below a bound are no lower bound', () => {
    for (const version of ['0', 'unspecified', 'n/a', 'N/A', '']) {
      const read = versionsOf(
        [affected(version, { lessThan: '1.2.3', versionType: 'custom' })],
        'unaffected',
        undefined,
      );
      assert.deepEqual(read.affected, [{ to: exclusive('1.2.3') }], version);
      assert.equal(read.otherwise, 'unaffected');
    }
  });

  it('0, unspecified and n/a alone say nothing, so no version is called unaffected', () => {
    for (const version of ['0', 'unspecified', 'n/a', '-', 'unknown']) {
      const read = versionsOf([affected(version)], 'unaffected', undefined);
      assert.deepEqual([read.affected, read.affectedVersions, read.otherwise], [[], [], 'unknown'], version);
    }
  });

  it('an infinity is no upper bound, or the end of its series', () => {
    const upper = (lessThan: string) => versionsOf([affected('1.0', { lessThan })], undefined, undefined).affected;
    assert.deepEqual(upper('*'), [{ from: inclusive('1.0') }]);
    assert.deepEqual(upper('2.*'), [{ from: inclusive('1.0'), to: exclusive('3') }]);
    assert.deepEqual(upper('2.1.*'), [{ from: inclusive('1.0'), to: exclusive('2.2') }]);
    assert.deepEqual(upper('log4j-core*'), [{ from: inclusive('1.0') }]);
  });

  it('lessThanOrEqual includes its version', () => {
    const read = versionsOf([affected('1.0', { lessThanOrEqual: '1.5', versionType: 'semver' })], undefined, undefined);
    assert.deepEqual(read.affected, [{ from: inclusive('1.0'), to: inclusive('1.5') }]);
    assert.equal(read.scheme, 'semver');
  });

  it('changes break a range up, whatever order they are given in', () => {
    const changes: Entry['changes'] = [
      { at: '2.10.0', status: 'unaffected' },
      { at: '2.5.2', status: 'unaffected' },
      { at: '2.6.0', status: 'affected' },
    ];
    const read = versionsOf(
      [affected('2.0.0', { lessThan: '2.*', versionType: 'semver', changes })],
      'unaffected',
      undefined,
    );
    assert.deepEqual(read.affected, [
      { from: inclusive('2.0.0'), to: exclusive('2.5.2') },
      { from: inclusive('2.6.0'), to: exclusive('2.10.0') },
    ]);
    assert.deepEqual(read.unaffected, [
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
    const read = versionsOf([entry], undefined, undefined);
    assert.deepEqual(read.affected, [{ from: inclusive('1.0'), to: exclusive('2.0') }]);
    assert.deepEqual(read.unaffected, []);
  });

  it('bounds and changes stand in the order of the scheme that is named', () => {
    const changes: Entry['changes'] = [{ at: '16.0.0', status: 'unaffected' }];
    const versionType = 'semver';
    const before = affected('16.0.0-experimental.1', { lessThan: '16.0.0', versionType });
    const until = affected('16.0.0-experimental.1', { lessThan: '17.0.0', versionType, changes });
    for (const entry of [before, until]) {
      const read = versionsOf([entry], 'unaffected', undefined);
      assert.deepEqual(read.affected, [{ from: inclusive('16.0.0-experimental.1'), to: exclusive('16.0.0') }]);
      assert.equal(read.otherwise, 'unaffected');
    }
  });

  it('unaffected versions are ranges of one', () => {
    const read = versionsOf([affected('2.4'), { version: '2.6', status: 'unaffected' }], undefined, undefined);
    assert.deepEqual(read.affectedVersions, ['2.4']);
    assert.deepEqual(read.unaffected, [{ from: inclusive('2.6'), to: inclusive('2.6') }]);
    assert.equal(read.otherwise, 'unknown');
  });

  it('commits are passed over beside versions, and leave everything open alone', () => {
    const commit = affected('2f75300', { lessThan: '2c6c9d4', versionType: 'git' });
    const beside = versionsOf([commit, affected('1.0', { lessThan: '1.5' })], 'unaffected', undefined);
    assert.deepEqual(beside.affected, [{ from: inclusive('1.0'), to: exclusive('1.5') }]);
    assert.equal(beside.otherwise, 'unaffected');
    assert.equal(versionsOf([commit], 'unaffected', undefined).otherwise, 'unknown');
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
      const read = versionsOf([affected('3.1'), entry], 'unaffected', undefined);
      assert.deepEqual([read.affectedVersions, read.affected, read.otherwise], [['3.1'], [], 'unknown'], entry.version);
    }
  });

  it('without entries the default stands for all', () => {
    assert.equal(versionsOf([], 'affected', undefined).otherwise, 'affected');
    assert.equal(versionsOf([], undefined, undefined).otherwise, 'unknown');
  });

  it('an order is believed where all name it and their versions have its form', () => {
    const scheme = (...entries: Entry[]) => versionsOf(entries, undefined, undefined).scheme;
    assert.equal(scheme(affected('1.0', { versionType: 'python' })), 'python');
    assert.equal(scheme(affected('1:1.0-1', { versionType: 'dpkg' })), 'deb');
    assert.equal(scheme(affected('1.2.3', { versionType: 'semver' })), 'semver');
    assert.equal(scheme(affected('1.2.3.4', { versionType: 'semver' })), 'dotted');
    assert.equal(scheme(affected('1.0', { versionType: 'maven' })), 'dotted');
    assert.equal(scheme(affected('1.0', { versionType: '__proto__' })), 'dotted');
    assert.equal(scheme(affected('1.0', { versionType: 'rpm' }), affected('1.1', { versionType: 'semver' })), 'dotted');
  });

  it('come to what the published algorithm says of every version', () => {
    const status = fc.constantFrom('affected' as const, 'unaffected' as const);
    const number = fc.integer({ min: 1, max: 12 });
    const changes = fc.uniqueArray(fc.record({ at: number, status }), { selector: ({ at }) => at, maxLength: 5 });
    fc.assert(
      fc.property(
        number,
        number,
        status,
        status,
        changes,
        fc.boolean(),
        (start, length, first, otherwise, points, isInclusive) => {
          const end = start + length;
          const entry: Entry = {
            version: String(start),
            status: first,
            [isInclusive ? 'lessThanOrEqual' : 'lessThan']: String(end),
            changes: points.map((point) => ({ at: String(point.at), status: point.status })),
          };
          const claim = versionsOf([entry], otherwise, undefined);
          for (let v = 0; v <= 26; v += 1) {
            let expected = otherwise;
            if (v >= start && (isInclusive ? v <= end : v < end)) {
              expected = first;
              for (const point of points.toSorted((a, b) => a.at - b.at)) if (point.at <= v) expected = point.status;
            }
            assert.equal(statusIn(claim, v), expected, `version ${v}`);
          }
        },
      ),
    );
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
