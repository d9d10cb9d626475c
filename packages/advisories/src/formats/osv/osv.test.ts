import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../../tests/support/property.ts';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import type { VersionRange, VersionScheme } from '../../advisory.ts';
import { written } from '../../test/written.ts';
import { readOsvRecord } from './osv.ts';
import { rangesOfEvents } from './osv-events.ts';

type Events = Parameters<typeof rangesOfEvents>[0];
const shown = (events: Events, scheme: VersionScheme = 'dotted') =>
  rangesOfEvents(events, scheme).map(written).join(' ');

function claimOf(affected: unknown, more: object = {}) {
  const { record, problem } = readOsvRecord({ id: 'OSV-1', modified: '2024-01-01T00:00:00Z', affected, ...more });
  const [claim] = record?.claims ?? [];
  return { claim: claim?.kind === 'product' ? claim : undefined, record, problem };
}

for (const [why, events, expected] of casesOf<[string, Events, string][]>('advisories', 'events of a range'))
  it(`events of a range: ${why}`, () => assert.equal(shown(events), expected));
it('events of a range: a distribution fixes within a revision, or with an epoch', () => {
  const revision = [{ introduced: '1.18.0-6' }, { fixed: '1.18.0-6+deb11u1' }];
  assert.equal(shown(revision, 'deb'), '[1.18.0-6, 1.18.0-6+deb11u1)');
  for (const scheme of ['deb', 'dotted'] as const)
    assert.equal(shown([{ introduced: '9.0' }, { fixed: '1:1.0' }], scheme), '[9.0, 1:1.0)');
});
it('events of a range are in the order of their scheme, whatever words it has for what comes before a release', () => {
  for (const word of ['canary', 'experimental', 'insiders', 'edge', 'zzz']) {
    const events = [{ fixed: '16.0.0' }, { introduced: `16.0.0-${word}.1` }];
    assert.equal(shown(events, 'semver'), `[16.0.0-${word}.1, 16.0.0)`);
  }
  // A post-release comes after its release, a local version after that.
  const post = [{ fixed: '1.0.post1' }, { introduced: '1.0.post1+a' }];
  const python = [{ introduced: '1.0' }, ...post, { fixed: '1.1.dev1' }];
  assert.equal(shown(python.toReversed(), 'python'), '[1.0, 1.0.post1) [1.0.post1+a, 1.1.dev1)');
});

for (const [events, expected] of casesOf<[Events, string][]>('advisories', 'events of a range at one version'))
  it(`events of a range at one version are a fix, then an introduction, then a last one: ${expected || 'none'}`, () => {
    assert.equal(shown(events), expected);
    assert.equal(shown(events.toReversed()), expected, 'reversed');
  });
it('events of a range come to what the published algorithm says of every version, in whatever order they are written', () => {
  const event = fc.record({
    kind: fc.constantFrom('introduced' as const, 'fixed' as const, 'last_affected' as const, 'limit' as const),
    at: fc.integer({ min: 0, max: 12 }),
  });
  const events = fc.uniqueArray(event, { selector: ({ at }) => at, maxLength: 8 });
  holds(500, [events], (points) => {
    const events = points.map(({ kind, at }) => ({ [kind]: String(at) }));
    const ranges = rangesOfEvents(events, 'dotted');
    const limits = points.filter(({ kind }) => kind === 'limit');
    for (let v = 0; v <= 14; v += 1) {
      let isAffected = false;
      for (const { kind, at } of points.toSorted((a, b) => a.at - b.at)) {
        if (kind === 'introduced' && v >= at) isAffected = true;
        if ((kind === 'fixed' && v >= at) || (kind === 'last_affected' && v > at)) isAffected = false;
      }
      const isLimited = limits.length > 0 && limits.every(({ at }) => v >= at);
      const isIn = ({ from, to }: VersionRange) =>
        v >= Number(from?.version ?? 0) && (!to || v < Number(to.version) + Number(to.isInclusive));
      assert.equal(ranges.some(isIn), isAffected && !isLimited, `version ${v}`);
    }
  });
});

it('an OSV record drops a long list of versions only beside ranges', () => {
  const versions = Array.from({ length: 500 }, (_, i) => `1.0.${i}`);
  const named = { package: { ecosystem: 'npm', name: 'x' }, versions };
  const ranges = [{ type: 'SEMVER', events: [{ introduced: '0' }] }];
  assert.equal(claimOf([{ ...named, ranges }]).claim?.affectedVersions.length, 0);
  assert.equal(claimOf([named]).claim?.affectedVersions.length, 500);
  const commits = [{ type: 'GIT', events: [{ introduced: '0' }] }];
  assert.equal(claimOf([{ ...named, ranges: commits }]).claim?.affectedVersions.length, 500);
});
it('an OSV record has entries of one package as one claim, of two releases as two', () => {
  const rangesOf = (introduced: string) => [{ type: 'ECOSYSTEM', events: [{ introduced }] }];
  const entry = (ecosystem: string, from: string) => ({ package: { ecosystem, name: 'x' }, ranges: rangesOf(from) });
  assert.equal(claimOf([entry('npm', '1.0'), entry('npm', '2.0')]).record?.claims.length, 1);
  assert.equal(claimOf([entry('Debian:11', '1.0'), entry('Debian:12', '2.0')]).record?.claims.length, 2);
});
it('an OSV record leaves out what exceeds the limits, reports it, and does not sort endless events', () => {
  const versions = Array.from({ length: 6_000 }, (_, i) => `1.0.${i}`);
  const events = Array.from({ length: 20_000 }, (_, i) => ({ introduced: `${i % 7}.${i}.${'1.'.repeat(100)}` }));
  const ranges = Array.from({ length: 20 }, () => ({ type: 'ECOSYSTEM', events }));
  const started = performance.now();
  for (const given of [{ versions }, { ranges }]) {
    const { record, problem } = claimOf([{ package: { ecosystem: 'npm', name: 'x' }, ...given }]);
    assert.deepEqual([record?.claims, problem], [[], 'OSV-1: too many versions, some are left out']);
  }
  assert.ok(performance.now() - started < 20_000);
});
it('an OSV record accepts known severity names only, and no invalid alias or its own id', () => {
  const word = (severity: unknown) => claimOf([], { database_specific: { severity } }).record?.severity;
  const words = ['LOW', 'MODERATE', 'HIGH', 'CRITICAL', 'constructor', 7].map(word);
  assert.deepEqual(words, ['low', 'medium', 'high', 'critical', null, null]);
  const aliases = ['osv-1', ' cve-2024-0001 ', 'CVE-2024-0001', '<script>', ''];
  assert.deepEqual(claimOf([], { aliases }).record?.aliases, ['CVE-2024-0001']);
});
