import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../../tests/support/property.ts';
import { casesOf, vectorsIn } from '../../../../../tests/support/vectors.ts';
import type { VersionRange } from '../../advisory.ts';
import { written } from '../../test/written.ts';
import { plainVersion, readVersionText, seriesOf } from '../version-text.ts';
import { versionsOf } from './cna-versions.ts';

type Entry = Parameters<typeof versionsOf>[0][number];
const read = (entries: Entry[], otherwise?: 'affected' | 'unaffected') => versionsOf(entries, otherwise, undefined);
const affected = (version: string, more: Partial<Entry> = {}): Entry => ({ version, status: 'affected', ...more });
const change = (at: string) => ({ at, status: 'unaffected' as const });

/** What a claim says, such as `affected [1.0, 2.0) 2.4; unaffected [2.6, 2.6]; else unknown`. */
function shown({ affected, affectedVersions, unaffected, otherwise }: ReturnType<typeof read>): string {
  const lists = { affected: [...affected.map(written), ...affectedVersions], unaffected: unaffected.map(written) };
  const claims = Object.entries(lists).flatMap(([status, versions]) =>
    versions.length > 0 ? [`${status} ${versions.join(' ')}; `] : [],
  );
  return `${claims.join('')}else ${otherwise}`;
}

it('versions of a CVE record: 0, unspecified and n/a are no lower bound, and alone say nothing, so no version is called unaffected', () => {
  for (const version of ['0', 'unspecified', 'n/a', 'N/A', '']) {
    const claim = read([affected(version, { lessThan: '1.2.3', versionType: 'custom' })], 'unaffected');
    assert.equal(shown(claim), 'affected (, 1.2.3); else unaffected', version);
  }
  for (const version of ['0', 'unspecified', 'n/a', '-', 'unknown'])
    assert.equal(shown(read([affected(version)], 'unaffected')), 'else unknown', version);
});
it('versions of a CVE record: an infinity is no upper bound, or the end of its series', () => {
  const ends = { '*': '[1.0, )', '2.*': '[1.0, 3)', '2.1.*': '[1.0, 2.2)', 'log4j-core*': '[1.0, )' };
  for (const [lessThan, range] of Object.entries(ends))
    assert.equal(shown(read([affected('1.0', { lessThan })])), `affected ${range}; else unknown`);
});

const versionType = 'semver';
const experimental = '16.0.0-experimental.1';
const commit = affected('2f75300', { lessThan: '2c6c9d4', versionType: 'git' });
const says = (why: string, expected: string, ...entries: Entry[]) =>
  it(`versions of a CVE record: ${why}`, () =>
    assert.equal(shown(read(entries, 'unaffected')), `${expected}else unaffected`));

const before = affected(experimental, { lessThan: '16.0.0', versionType });
says('bounds are in the order of the named scheme', `affected [${experimental}, 16.0.0); `, before);
says(
  'changes are in the order of the named scheme',
  `affected [${experimental}, 16.0.0); unaffected [16.0.0, 17.0.0); `,
  affected(experimental, { lessThan: '17.0.0', versionType, changes: [change('16.0.0')] }),
);
const fixed: Entry = { version: '2.6', status: 'unaffected' };
says('unaffected versions are ranges of one', 'affected 2.4; unaffected [2.6, 2.6]; ', affected('2.4'), fixed);
const below = affected('1.0', { lessThan: '1.5' });
says('commits are passed over beside versions', 'affected [1.0, 1.5); ', commit, below);
says('without entries the default applies to all', '');
it('versions of a CVE record: without a default the rest is unknown, and everything where commits stand alone', () => {
  assert.equal(shown(read([commit], 'unaffected')), 'else unknown');
  assert.equal(shown(read([])), 'else unknown');
  assert.equal(shown(read([], 'affected')), 'else affected');
  assert.equal(shown(read([affected('2.4')])), 'affected 2.4; else unknown');
});
it('versions of a CVE record: a range that no version is in, and text that cannot be read, make the rest unknown', () => {
  for (const entry of [
    affected('1.2.3', { lessThan: '1.2.3' }),
    affected('2.0', { lessThan: '1.0' }),
    affected('1.0', { lessThan: 'unspecified' }),
    affected('FortiOS', { lessThan: '7.2' }),
    affected('see advisory'),
    affected('1.0', { changes: [change('1.1')] }),
    affected('1.0', { lessThan: '2.0', changes: [change('later')] }),
    { version: '1.0', status: 'unknown' } as const,
  ])
    assert.equal(shown(read([affected('3.1'), entry], 'unaffected')), 'affected 3.1; else unknown', entry.version);
});
it('versions of a CVE record: an order is believed where all name it and their versions have its form', () => {
  const scheme = (...entries: Entry[]) => read(entries).scheme;
  const ORDERS = casesOf<[string, string, string][]>('advisories', 'orders of versions');
  for (const [version, versionType, expected] of ORDERS)
    assert.equal(scheme(affected(version, { versionType })), expected, versionType);
  assert.equal(scheme(affected('1.0', { lessThanOrEqual: '1.5', versionType })), versionType);
  assert.equal(scheme(affected('1.0', { versionType: 'rpm' }), affected('1.1', { versionType: 'semver' })), 'dotted');
});
it('versions of a CVE record come to what the published algorithm says of every version', () => {
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

function statusIn({ affected, unaffected, otherwise }: ReturnType<typeof versionsOf>, v: number): string {
  const isIn = ({ from, to }: VersionRange) =>
    (!from || v + Number(from.isInclusive) > Number(from.version)) &&
    (!to || v < Number(to.version) + Number(to.isInclusive));
  if (unaffected.some(isIn)) return 'unaffected';
  return affected.some(isIn) ? 'affected' : otherwise;
}

interface VersionText {
  readonly text: string;
  readonly range?: string;
  readonly versions?: readonly string[];
}
for (const { text, range, versions } of vectorsIn<{ texts: VersionText[] }>('version-texts.json').texts)
  it(`the text '${text.slice(0, 30)}' is ${range ?? versions ?? 'not guessed'}`, () => {
    const read = readVersionText(text);
    const found = read && { ranges: read.ranges.map(written), versions: read.versions };
    assert.deepEqual(found, range || versions ? { ranges: range ? [range] : [], versions: versions ?? [] } : undefined);
  });
it('versions as text: a series ends before the next one, also at many digits', () =>
  assert.equal(seriesOf(`1.${'9'.repeat(30)}.x`)?.to.version, `1.1${'0'.repeat(30)}`));
it('versions as text: any text is read or not, in little time', () => {
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => void [readVersionText(text), plainVersion(text)]));
  const started = performance.now();
  for (const piece of ['1.', '1 ', '< ', '.x', ' to ', ',', '1-'])
    for (const count of [500_000, 60]) readVersionText(piece.repeat(count));
  assert.ok(performance.now() - started < 20_000);
});
