import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import type { Measurement } from '../posture/posture-type.ts';
import { type Category, type Profile, ROLES, type Service, SOURCES, type Source } from '../profile.ts';
import { type KnownService, keyOf } from './known-service.ts';
import { type ReconcileOptions, type Reconciliation, reconcile } from './reconcile.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const SOURCES_OF = { dns: 'ns', email: 'mx', email_sending: 'spf', hosting: 'asn', verified_service: 'txt' } as const;
const sourceOf = (category: Category): Source =>
  category in SOURCES_OF ? SOURCES_OF[category as keyof typeof SOURCES_OF] : 'cname';

/** `email:google` -> a service that depends on the category's source. */
function serviceOf(text: string): Service {
  const [category, provider = ''] = text.split(':') as [Category, string];
  const source = sourceOf(category);
  const evidence = [{ source, value: provider, rule: `${provider}/${source}/x` }];
  const rest = { confidence: 'high', score: 0.95, version: null, platform: null } as const;
  return { category, role: ROLES[category], provider, evidence, ...rest };
}

type ProfileOptions = Partial<Pick<Profile, 'state' | 'rulebook'>> & { readonly failed?: readonly Source[] };

function profileOf(hour: number, services: string, options: ProfileOptions = {}): Profile {
  const { failed = [], state = 'active', rulebook = '1' } = options;
  const found = services.split(' ').filter(Boolean).map(serviceOf);
  const measured = (source: Source): Measurement => {
    if (failed.includes(source)) return 'unmeasured';
    return found.some((s) => s.evidence[0]?.source === source) ? 'observed' : 'absent';
  };
  const roles = Object.entries(ROLES).map(([category, role]) => {
    const missing = failed.includes(sourceOf(category as Category)) ? 'unmeasured' : 'absent';
    return [role, found.some((s) => s.role === role) ? 'observed' : missing];
  });
  return {
    ...{ domain: 'example.com', observedAt: new Date(START + hour * HOUR).toISOString(), rulebook, state },
    // What a failed look-up would have shown is not there.
    services: found.filter((s) => !s.evidence.some((piece) => failed.includes(piece.source))),
    sources: Object.fromEntries(SOURCES.map((source) => [source, measured(source)])) as Profile['sources'],
    roles: Object.fromEntries(roles) as Profile['roles'],
    holders: {} as Profile['holders'],
    ...{ sector: 'unknown', country: null, sectorSource: null, redirectsTo: null },
    security: {} as Profile['security'],
  };
}

const options: ReconcileOptions = { confirmAfterMs: 6 * HOUR, measuredBefore: new Set(SOURCES) };
const confirmed = ({ open }: Pick<Reconciliation, 'open'>) =>
  open.flatMap((service) => (service.status === 'pending' ? [] : keyOf(service))).sort();
const sorted = (open: readonly KnownService[]) => open.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
const changesOf = (result: Reconciliation) =>
  result.changes.map((c) => `${c.type} ${c.category} ${c.from ?? '-'}>${c.to ?? '-'}`);

/** `24 dns:a email:b !mx` -> what a scan after 24 hours sees, while MX cannot be looked up. */
function scanOf(text: string): Profile {
  const [hour, ...words] = text.split(' ');
  const failed = words.flatMap((word) => (word.startsWith('!') ? [word.slice(1) as Source] : []));
  return profileOf(Number(hour), words.filter((word) => !word.startsWith('!')).join(' '), { failed });
}

/** Scans one after another, the first of which begins the history; the result of the last. */
function scans(...given: readonly (string | Profile)[]): Reconciliation {
  let result: Reconciliation = { open: [], ended: [], dropped: [], changes: [], isPending: false };
  for (const [i, each] of given.entries()) {
    const profile = typeof each === 'string' ? scanOf(each) : each;
    result = reconcile(result.open, profile, i === 0 ? { ...options, measuredBefore: new Set() } : options);
  }
  return result;
}
const changesAfter = (...given: readonly (string | Profile)[]) => changesOf(scans(...given));

describe('the history of services', () => {
  it('begins with what the first scan sees, without a change', () => {
    const result = scans('0 dns:a email:b');
    assert.deepEqual([confirmed(result), result.changes, result.isPending], [['dns/a', 'email/b'], [], false]);
  });
  it('confirms a new service when it is observed again after six hours or more, and dates it by the first scan', () => {
    const first = scans('0 dns:a', '24 dns:a verified_service:x');
    assert.deepEqual([confirmed(first), changesOf(first), first.isPending], [['dns/a'], [], true]);
    assert.deepEqual(changesAfter('0 dns:a', '24 dns:a verified_service:x', '29 dns:a verified_service:x'), []);
    const late = scans('0 dns:a', '24 dns:a verified_service:x', '30 dns:a verified_service:x');
    assert.deepEqual(changesOf(late), ['added verified_service ->x']);
    assert.deepEqual([late.changes[0]?.at, late.changes[0]?.confirmedAt], [START + 24 * HOUR, START + 30 * HOUR]);
  });
  const showing = (hour: number, version: string | null, failed: readonly Source[] = []) => {
    const profile = profileOf(hour, failed.length ? 'dns:a' : 'hosting:h dns:a', { failed });
    const platform = version === null ? null : 'ubuntu';
    return { ...profile, services: profile.services.map((service) => ({ ...service, version, platform })) };
  };
  const shown = ({ open }: Reconciliation) => open.map(({ version, platform }) => `${version} ${platform}`);
  it('takes a version as it is shown now, without a change', () => {
    const newer = scans(showing(0, '1.0'), showing(1, '1.1'));
    assert.deepEqual([shown(newer), changesOf(newer), newer.isPending], [['1.1 ubuntu', '1.1 ubuntu'], [], false]);
    const hidden = scans(showing(0, '1.0'), showing(1, null));
    assert.deepEqual([shown(hidden), changesOf(hidden)], [['null null', 'null null'], []]);
  });
  it('keeps a version while the header or the page that would show it cannot be had', () => {
    for (const failed of ['header', 'html'] as const) {
      const after = (version: string | null) => shown(scans(showing(0, '1.0', ['tls']), showing(1, version, [failed])));
      assert.deepEqual([after(null), after('1.2')], [['1.0 ubuntu'], ['1.2 ubuntu']]);
    }
    assert.deepEqual(shown(scans(showing(0, '1.0', ['tls']), showing(1, null, ['mx']))), ['null null']);
  });
  it('drops a new service that is not observed again', () => {
    const result = scans('0 dns:a', '24 dns:a email:x', '48 dns:a');
    assert.deepEqual([changesOf(result), result.dropped.map(keyOf), result.isPending], [[], ['email/x'], false]);
  });
  it('ends a service after two successful scans without it, as of the first', () => {
    const once = scans('0 dns:a verified_service:b', '24 dns:a');
    assert.deepEqual([confirmed(once), changesOf(once)], [['dns/a', 'verified_service/b'], []]);
    const twice = scans('0 dns:a verified_service:b', '24 dns:a', '48 dns:a');
    assert.deepEqual([confirmed(twice), changesOf(twice)], [['dns/a'], ['removed verified_service b>-']]);
    assert.equal(twice.ended[0]?.validTo, START + 24 * HOUR);
  });
  it('takes a service back that was only missed once', () => {
    const result = scans('0 email:b', '24', '48 email:b', '72');
    assert.deepEqual([confirmed(result), changesOf(result)], [['email/b'], []]);
  });
  it('lets failed look-ups neither confirm nor reset a miss', () => {
    const between = scans('0 dns:a email:b', '24 dns:a', '48 dns:a email:b !mx', '72 dns:a');
    assert.deepEqual([changesOf(between), between.changes[0]?.at], [['removed email b>-'], START + 24 * HOUR]);
  });
  it('reports a change of holder in an exclusive role as one migration, and of a set as two changes', () => {
    const move = (from: string, to: string) => scans(`0 ${from}`, `24 ${to}`, `48 ${to}`);
    assert.deepEqual(changesOf(move('email:a', 'email:b')), ['migrated email a>b']);
    assert.equal(move('email:a', 'email:b').changes[0]?.importance, 'high');
    const set = ['added email_sending ->b', 'removed email_sending a>-'];
    assert.deepEqual(changesOf(move('email_sending:a', 'email_sending:b')).sort(), set);
    assert.deepEqual(changesOf(move('dns:a dns:b', 'dns:c dns:d')).length, 4, 'which went where cannot be known');
  });
  it('lets a new service wait while the one before it is still being missed', () => {
    const result = scans('0 email:a', '24 email:a email:b', '48 email:b');
    assert.deepEqual(changesOf(result), []);
    assert.deepEqual(changesOf(reconcile(result.open, scanOf('72 email:b'), options)), ['migrated email a>b']);
  });
  it('makes no change of what a source shows that never worked before', () => {
    const first = reconcile([], scanOf('0 dns:a email:b !mx'), { ...options, measuredBefore: new Set() });
    const measuredBefore = new Set<Source>(['ns']);
    const second = reconcile(first.open, scanOf('24 dns:a email:b'), { ...options, measuredBefore });
    assert.deepEqual([confirmed(second), changesOf(second)], [['dns/a', 'email/b'], []]);
  });
  const empty = (hour: number, state: Profile['state']) => profileOf(hour, '', { state });
  it('learns nothing from a scan that resolved nothing', () => {
    const result = scans('0 dns:a email:b', empty(24, 'unmeasured'), empty(48, 'unmeasured'));
    assert.deepEqual([confirmed(result), changesOf(result), result.isPending], [['dns/a', 'email/b'], [], false]);
  });
  it('needs two scans to accept that a domain no longer exists', () => {
    const once = ['0 dns:a', empty(24, 'nonexistent')];
    assert.deepEqual(changesAfter(...once), []);
    assert.deepEqual(changesAfter(...once, empty(48, 'nonexistent')), ['removed dns a>-']);
  });
  const under2 = (hour: number, services: string) => profileOf(hour, services, { rulebook: '2' });
  const afterRules = (services: string) => {
    const before = scans('0 email:old dns:a');
    return reconcile(before.open, under2(24, services), { ...options, previous: under2(0, 'email:new dns:a') });
  };
  it('calls what new rules make of old evidence reclassified, at once, and no migration', () => {
    const result = afterRules('email:new dns:a');
    assert.deepEqual([changesOf(result), confirmed(result)], [['reclassified email old>new'], ['dns/a', 'email/new']]);
    assert.equal(result.isPending, false);
  });
  it('separates a real move from a change of rules made in the same scan', () => {
    const result = afterRules('email:new dns:b');
    assert.deepEqual(changesOf(result), ['reclassified email old>new']);
    assert.deepEqual(changesOf(reconcile(result.open, under2(48, 'email:new dns:b'), options)), ['migrated dns a>b']);
  });
  it('does not take new rules for a migration when the old evidence lacks the look-up they read', () => {
    const before = scans('0 email:old dns:a');
    const rules = { rulebook: '2' };
    const previous = profileOf(1, 'email:new dns:a', { ...rules, failed: ['mx'] });
    const measured = new Set(SOURCES.filter((source) => previous.sources[source] !== 'unmeasured'));
    const given = { ...options, measuredBefore: measured };
    const failed = reconcile(before.open, profileOf(24, 'dns:a', { ...rules, failed: ['mx'] }), { ...given, previous });
    assert.deepEqual([changesOf(failed), confirmed(failed)], [[], ['dns/a', 'email/old']]);
    const result = reconcile(failed.open, profileOf(48, 'email:new dns:a', rules), given);
    assert.deepEqual([changesOf(result), confirmed(result)], [['reclassified email old>new'], ['dns/a', 'email/new']]);
  });
  it('takes a move for a migration although the old evidence lacks a look-up of the new rules', () => {
    const alias = { source: 'cname', value: 'old', rule: 'old/cname/x' } as const;
    const withAlias = <Found extends { evidence: Profile['services'][number]['evidence'] }>(found: readonly Found[]) =>
      found.map((service) => ({ ...service, evidence: [...service.evidence, alias] }));
    const [first, then] = [under2(24, 'email:new dns:a'), under2(48, 'email:new dns:a')];
    const old = under2(0, 'email:old dns:a');
    const previous = { ...old, services: withAlias(old.services) };
    const given = { ...options, measuredBefore: new Set(SOURCES.filter((source) => source !== 'cname')), previous };
    const moved = reconcile(withAlias(scans('0 email:old dns:a').open), first, given);
    const changes = [changesOf(moved), changesOf(reconcile(moved.open, then, options))];
    assert.deepEqual(changes, [[], ['migrated email old>new']]);
  });
  it('lets a new service wait during a transient failure, but not forever', () => {
    const start = scans('0 email:a', '24 email:a email:b', '28 email:b');
    // The evidence of the first mailbox cannot be looked up any more; the second one is observed without it.
    const evidence = [{ source: 'tls', value: 'a', rule: 'a/tls/x' } as const];
    const known = start.open.map((service) => (service.provider === 'a' ? { ...service, evidence } : service));
    const soon = reconcile(known, scanOf('36 email:b !tls'), options);
    assert.deepEqual(changesOf(soon), []);
    assert.deepEqual(changesOf(reconcile(soon.open, scanOf('40 email:b'), options)), ['migrated email a>b']);
    assert.deepEqual(changesOf(reconcile(soon.open, scanOf('48 email:b !tls'), options)), ['added email ->b']);
  });
  it('treats a parked domain as measured: its services end after two scans', () => {
    const parked = (hour: number) => profileOf(hour, 'hosting:sedo', { state: 'parked' });
    assert.deepEqual(changesAfter('0 hosting:h', parked(24), parked(48)), ['migrated hosting h>sedo']);
  });
});
const mail = ['email:a', 'email:b', 'email_sending:x', 'email_sending:y'];
const universe = ['dns:a', 'dns:b', ...mail, 'verified_service:t', 'hosting:h'];
const step = fc.record({
  services: fc.subarray(universe),
  failed: fc.subarray<Source>(['ns', 'mx', 'spf', 'txt', 'asn']),
  hours: fc.integer({ min: 1, max: 40 }),
});
it('any history keeps what was not measured, never overlaps itself, and ends up where two clean scans agree', () =>
  holds(400, [fc.array(step, { minLength: 1, maxLength: 12 }), fc.subarray(universe)], (steps, last) => {
    let hour = 0;
    let open: readonly KnownService[] = [];
    const measured = new Set<Source>();
    const intervals = new Map<string, [number, number][]>();
    const apply = (profile: Profile) => {
      const given = { ...options, measuredBefore: new Set(measured) };
      const result = reconcile(open, profile, given);
      assert.deepEqual(reconcile(structuredClone(open), profile, given), result, 'a replay gives the same');
      for (const source of SOURCES) if (profile.sources[source] !== 'unmeasured') measured.add(source);
      for (const change of result.changes) {
        assert.notEqual(profile.sources[sourceOf(change.category)], 'unmeasured', `${change.type} ${change.category}`);
        assert.ok(change.confirmedAt - change.at >= options.confirmAfterMs);
      }
      for (const { service, validTo } of result.ended) {
        const list = intervals.get(keyOf(service)) ?? [];
        assert.ok(!list.some(([, end]) => service.validFrom < end), `${keyOf(service)} overlaps`);
        assert.ok(validTo > service.validFrom);
        intervals.set(keyOf(service), [...list, [service.validFrom, validTo]]);
      }
      assert.equal(new Set(result.open.map(keyOf)).size, result.open.length, 'one open interval each');
      open = result.open;
      const again = reconcile(open, profile, { ...options, measuredBefore: measured });
      assert.deepEqual([sorted(again.open), again.changes, again.ended], [sorted(open), [], []], 'the same twice');
    };
    // Three, because a new service may have to wait until its predecessor was missing twice.
    const clean = Array.from({ length: 3 }, () => ({ services: last, failed: [], hours: 24 }));
    for (const { services, failed, hours } of [...steps, ...clean]) {
      hour += hours;
      apply(profileOf(hour, services.join(' '), { failed }));
    }
    assert.deepEqual(confirmed({ open }), last.map((text) => text.replace(':', '/')).sort());
    assert.ok(open.every((service) => service.status === 'confirmed'));
  }));
