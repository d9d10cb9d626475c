import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { detect } from '../detect.ts';
import { evidenceFromRecord } from '../explain.ts';
import { type Role, type RoleOf, SOURCES } from '../profile.ts';
import { compileRulebook } from '../rulebook/rulebook.ts';
import { best, type EvidenceParts, evidenceOf, profileOf, testRulebook } from '../test/index.ts';
import { allStale } from './last-measured.ts';
import { type KnownDomain, NEVER_SCANNED, planScan } from './plan-scan.ts';
import { type PublishedBefore, publishedStateOf, summaryOf } from './published-state.ts';

const rulebook = compileRulebook([]);
const published = (html: string | undefined, before: { readonly sector: string; readonly summary: string | null }) => {
  const evidence = evidenceFromRecord({ domain: 'example.com', a: [], ...(html === undefined ? {} : { html }) });
  const { sector, summary } = publishedStateOf(detect(evidence, rulebook), { ...NEVER_SCANNED, ...before });
  return [sector, JSON.parse(summary).sectorSource];
};
const hospital = '<body itemscope itemtype="https://schema.org/Hospital">';
const health = { sector: 'health', summary: '{"sectorSource":"page"}' };

it('the published sector is what the page says, and unknown once it says nothing', () => {
  assert.deepEqual(published(hospital, { sector: 'unknown', summary: null }), ['health', 'page']);
  assert.deepEqual(published('<p>', health), ['unknown', null]);
});
it('the published sector stays while the page that it was read from is unavailable', () => {
  assert.deepEqual(published(undefined, health), ['health', 'page']);
  assert.deepEqual(published(undefined, { ...health, summary: '{"sectorSource":"list"}' }), ['unknown', null]);
});
const { tls: _, ...withoutTls } = best;
const dns: EvidenceParts = { ns: ['ns1.dnsco.test'], mx: ['10 mx.guard.test'], txt: ['v=spf1 mx -all'] };
const full: EvidenceParts = { ...best, ...dns };
const lost: EvidenceParts = { ...withoutTls, mx: 'servfail', txt: 'timeout', dmarc: 'servfail', ns: 'timeout' };
const day = (n: number) => `2026-03-0${n}T00:00:00.000Z`;
/** The state that each of these scans publishes, one a day. */
function publish(...scans: readonly EvidenceParts[]) {
  let before: PublishedBefore = NEVER_SCANNED;
  return scans.map((parts, i) => {
    const observedAt = day(i + 1);
    const published = publishedStateOf(detect({ ...evidenceOf(parts), observedAt }, testRulebook), before);
    before = { ...published, lastScannedAt: Date.parse(observedAt) };
    return { ...published, ...summaryOf(published.summary) };
  });
}

it('what a scan could not measure keeps its last measured value and date, also in the score, until a scan measures it', () => {
  const [first, second, third, last] = publish(full, lost, lost, full);
  assert.ok(first && second && third && last);
  assert.equal(first.stale, undefined);
  assert.notEqual(first.score, null);
  for (const later of [second, third]) {
    assert.deepEqual([later.roles, later.score], [first.roles, first.score]);
    assert.deepEqual([later.postureBits, later.holderBits], [first.postureBits, first.holderBits]);
    assert.deepEqual([later.stale?.roles.dns, later.stale?.security.dmarc], [day(1), day(1)]);
    assert.notEqual(later.sources.ns, 'observed');
  }
  assert.equal(last.summary, first.summary);
});
it('what a scan could not measure is unmeasured if it never was measured, or the domain has become another', () => {
  assert.equal(publish(lost)[0]?.score, null);
  const [, parked] = publish(full, { ...lost, ns: ['ns1.parker.test'] });
  assert.equal(parked?.stale, undefined);
});
it('what a scan could not measure is not judged by an earlier record if there is a new one', () => {
  const include = { txt: ['v=spf1 include:new.test -all'], spf: { 'new.test': 'servfail' as const } };
  const [, same, other] = publish(full, { ...full, mx: 'servfail' }, { ...full, ...include });
  const spf = (state: typeof same) => state?.security.factors.find(({ factor }) => factor === 'spf')?.finding;
  assert.deepEqual([spf(same), spf(other)], ['pass', 'unmeasured']);
});
it('what a scan could not measure is everything, if nothing of the domain could be resolved', () => {
  const [first] = publish(full);
  assert.ok(first);
  const stale = allStale(first, day(1));
  assert.deepEqual([stale.roles.dns, stale.security.spf], [day(1), day(1)]);
});
it('the role of a service is what the rules now say without a change, or the stored one once its provider left them', () => {
  const [at, profile] = [Date.parse(day(1)), { ...profileOf(full), observedAt: day(2) }];
  const guard = profile.services.find((each) => each.provider === 'guard');
  assert.ok(guard);
  const own = { ...guard, id: 1, validFrom: at, lastObserved: at, firstMissed: null, status: 'pending' } as const;
  const plan = (roleOf: RoleOf, ...open: KnownDomain['open']) => {
    const { rulebook } = profile;
    const before = { ...NEVER_SCANNED, lastScannedAt: at, rulebook, measured: new Set(SOURCES), open };
    const scan = { profile, evidence: evidenceOf(full), startedAt: new Date(at), finishedAt: new Date(day(2)) };
    const { changes, intervals } = planScan(before, scan, { confirmAfterMs: 1, rescanAfterMs: 1, roleOf });
    return [...changes.map(({ change }) => change.type).sort(), ...(intervals?.updated ?? []).map((each) => each.role)];
  };
  const moved = (role: Role, roleOf: RoleOf) =>
    plan(roleOf, own, { ...own, id: 2, provider: 'left', role, status: 'ending', firstMissed: at });
  const { roleOf } = testRulebook;
  const reports: RoleOf = (category, id) => (id === 'left' ? 'dmarc_reports' : roleOf(category, id));
  const apart = ['added', 'removed', 'gateway'];
  assert.deepEqual(moved('gateway', roleOf), ['migrated', 'gateway']);
  assert.deepEqual([moved('dmarc_reports', roleOf), moved('gateway', reports)], [apart, apart]);
  assert.deepEqual(plan(roleOf, { ...own, role: 'forwarding', status: 'confirmed' }), ['gateway']);
});
it('the first scan is the stored one, or the earliest known time of a domain that an earlier version scanned', () => {
  const profile = { ...profileOf(full), observedAt: new Date(9).toISOString() };
  const scan = { profile, evidence: evidenceOf(full), startedAt: new Date(9), finishedAt: new Date(9) };
  const [own = assert.fail()] = profile.services;
  const service = { ...own, lastObserved: 2, firstMissed: null, status: 'confirmed' } as const;
  for (const [known, begins, first] of casesOf<[object, number[], number][]>('detect', 'first scans')) {
    const open = begins.map((validFrom, id) => ({ ...service, id, validFrom }));
    const plan = planScan({ ...NEVER_SCANNED, open, ...known }, scan, { confirmAfterMs: 1, rescanAfterMs: 1 });
    assert.equal(plan.update?.firstScannedAt, first);
  }
});
