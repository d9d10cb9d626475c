import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type KnownService, keyOf, type ReconcileOptions, type Reconciliation, reconcile } from './history.ts';
import { type Category, type Measurement, type Profile, ROLES, type Service, SOURCES, type Source } from './profile.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const SOURCE_OF: Partial<Record<Category, Source>> = {
  email: 'mx',
  dns: 'ns',
  hosting: 'asn',
  email_sending: 'spf',
  verified_service: 'txt',
};
const EVERYTHING = new Set<Source>(SOURCES);

/** `email:google` -> a service that rests on the category's source. */
function serviceOf(text: string): Service {
  const [category, provider = ''] = text.split(':') as [Category, string];
  const source = SOURCE_OF[category] ?? 'cname';
  return {
    category,
    role: ROLES[category],
    provider,
    confidence: 'high',
    score: 0.95,
    evidence: [{ source, value: provider, rule: `${provider}/${source}/x` }],
    version: null,
    platform: null,
  };
}

function profileOf(
  hour: number,
  services: string,
  options: { readonly failed?: readonly Source[]; readonly state?: Profile['state']; readonly rulebook?: string } = {},
): Profile {
  const { failed = [], state = 'active' } = options;
  const found = services.split(' ').filter(Boolean).map(serviceOf);
  const measured = (source: Source): Measurement =>
    failed.includes(source)
      ? 'unmeasured'
      : found.some((s) => s.evidence[0]?.source === source)
        ? 'observed'
        : 'absent';
  const roles = Object.entries(ROLES).map(([category, role]) => {
    const source = SOURCE_OF[category as Category] ?? 'cname';
    return [role, found.some((s) => s.role === role) ? 'observed' : failed.includes(source) ? 'unmeasured' : 'absent'];
  });
  return {
    domain: 'example.com',
    observedAt: new Date(START + hour * HOUR).toISOString(),
    rulebook: options.rulebook ?? '1',
    state,
    // What a failed look-up would have shown is not there.
    services: found.filter((s) => !s.evidence.some((piece) => failed.includes(piece.source))),
    sources: Object.fromEntries(SOURCES.map((source) => [source, measured(source)])) as Profile['sources'],
    roles: Object.fromEntries(roles) as Profile['roles'],
    holders: {} as Profile['holders'],
    sector: 'unknown',
    sectorSource: null,
    redirectsTo: null,
    // Posture plays no part in history.
    security: {} as Profile['security'],
  };
}

const options: ReconcileOptions = { confirmAfterMs: 6 * HOUR, measuredBefore: EVERYTHING };
const confirmed = (result: { open: readonly KnownService[] }) =>
  result.open
    .filter((s) => s.status !== 'pending')
    .map(keyOf)
    .sort();
const sorted = (open: readonly KnownService[]) => open.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
const told = (result: Reconciliation) =>
  result.changes.map((c) => `${c.type} ${c.category} ${c.from ?? '-'}>${c.to ?? '-'}`);

/** Scans in turn from a first one; the result of the last. */
function scans(...profiles: readonly Profile[]): Reconciliation {
  let result: Reconciliation = { open: [], ended: [], dropped: [], changes: [], isPending: false };
  profiles.forEach((profile, i) => {
    result = reconcile(result.open, profile, i === 0 ? { ...options, measuredBefore: new Set() } : options);
  });
  return result;
}

describe('the history of services', () => {
  it('begins with what the first scan sees, without a change', () => {
    const result = scans(profileOf(0, 'dns:a email:b'));
    assert.deepEqual([confirmed(result), result.changes, result.isPending], [['dns/a', 'email/b'], [], false]);
  });

  it('believes a newcomer when it is seen a second time, six hours later at the least, and dates it by the first', () => {
    const seen = (hour: number) => profileOf(hour, 'dns:a verified_service:x');
    const first = scans(profileOf(0, 'dns:a'), seen(24));
    assert.deepEqual([confirmed(first), told(first), first.isPending], [['dns/a'], [], true]);
    assert.deepEqual(told(scans(profileOf(0, 'dns:a'), seen(24), seen(29))), []);
    const late = scans(profileOf(0, 'dns:a'), seen(24), seen(30));
    assert.deepEqual(told(late), ['added verified_service ->x']);
    assert.deepEqual([late.changes[0]?.at, late.changes[0]?.confirmedAt], [START + 24 * HOUR, START + 30 * HOUR]);
  });

  it('takes a version as it is shown now, without a change to tell', () => {
    const showing = (hour: number, version: string | null) => {
      const profile = profileOf(hour, 'hosting:h dns:a');
      const platform = version === null ? null : 'ubuntu';
      return { ...profile, services: profile.services.map((service) => ({ ...service, version, platform })) };
    };
    const shown = ({ open }: Reconciliation) => open.map(({ version, platform }) => `${version} ${platform}`);
    const newer = scans(showing(0, '1.0'), showing(1, '1.1'));
    assert.deepEqual([shown(newer), told(newer), newer.isPending], [['1.1 ubuntu', '1.1 ubuntu'], [], false]);
    const hidden = scans(showing(0, '1.0'), showing(1, null));
    assert.deepEqual([shown(hidden), told(hidden)], [['null null', 'null null'], []]);
  });

  it('keeps a version while the header or the page that would show it cannot be had', () => {
    const showing = (hour: number, version: string | null, failed: readonly Source[] = []) => {
      const profile = profileOf(hour, 'dns:a', { failed });
      return { ...profile, services: profile.services.map((service) => ({ ...service, version, platform: null })) };
    };
    const versions = ({ open }: Reconciliation) => open.map(({ version }) => version);
    for (const failed of ['header', 'html'] as const) {
      assert.deepEqual(versions(scans(showing(0, '1.0'), showing(1, null, [failed]))), ['1.0']);
      assert.deepEqual(versions(scans(showing(0, '1.0'), showing(1, '1.2', [failed]))), ['1.2']);
    }
    assert.deepEqual(versions(scans(showing(0, '1.0'), showing(1, null, ['mx']))), [null]);
  });

  it('forgets a newcomer that is not seen again', () => {
    const result = scans(profileOf(0, 'dns:a'), profileOf(24, 'dns:a email:x'), profileOf(48, 'dns:a'));
    assert.deepEqual([told(result), result.dropped.map(keyOf), result.isPending], [[], ['email/x'], false]);
  });

  it('ends a service after two successful looks without it, as of the first', () => {
    const once = scans(profileOf(0, 'dns:a verified_service:b'), profileOf(24, 'dns:a'));
    assert.deepEqual([confirmed(once), told(once)], [['dns/a', 'verified_service/b'], []]);
    const twice = scans(profileOf(0, 'dns:a verified_service:b'), profileOf(24, 'dns:a'), profileOf(48, 'dns:a'));
    assert.deepEqual([confirmed(twice), told(twice)], [['dns/a'], ['removed verified_service b>-']]);
    assert.equal(twice.ended[0]?.validTo, START + 24 * HOUR);
  });

  it('takes a service back that was only missed once', () => {
    const result = scans(profileOf(0, 'email:b'), profileOf(24, ''), profileOf(48, 'email:b'), profileOf(72, ''));
    assert.deepEqual([confirmed(result), told(result)], [['email/b'], []]);
  });

  it('never ends a service by failed look-ups, and lets them neither confirm nor reset a miss', () => {
    const failing = (hour: number) => profileOf(hour, 'dns:a email:b', { failed: ['mx'] });
    assert.deepEqual(confirmed(scans(profileOf(0, 'dns:a email:b'), failing(24), failing(48), failing(72))), [
      'dns/a',
      'email/b',
    ]);
    const between = scans(profileOf(0, 'dns:a email:b'), profileOf(24, 'dns:a'), failing(48), profileOf(72, 'dns:a'));
    assert.deepEqual(told(between), ['removed email b>-']);
    assert.equal(between.changes[0]?.at, START + 24 * HOUR);
  });

  it('tells a change of holder in an exclusive role as one migration, and of a set as two changes', () => {
    const move = (from: string, to: string) => scans(profileOf(0, from), profileOf(24, to), profileOf(48, to));
    assert.deepEqual(told(move('email:a', 'email:b')), ['migrated email a>b']);
    assert.equal(move('email:a', 'email:b').changes[0]?.importance, 'high');
    assert.deepEqual(told(move('email_sending:a', 'email_sending:b')).sort(), [
      'added email_sending ->b',
      'removed email_sending a>-',
    ]);
    assert.deepEqual(told(move('dns:a dns:b', 'dns:c dns:d')).length, 4, 'which went where cannot be known');
  });

  it('lets a newcomer wait while the one before it is still being missed', () => {
    const result = scans(profileOf(0, 'email:a'), profileOf(24, 'email:a email:b'), profileOf(48, 'email:b'));
    assert.deepEqual(told(result), []);
    const later = reconcile(result.open, profileOf(72, 'email:b'), options);
    assert.deepEqual(told(later), ['migrated email a>b']);
  });

  it('makes no change of what a source shows that never worked before', () => {
    const first = reconcile([], profileOf(0, 'dns:a email:b', { failed: ['mx'] }), {
      ...options,
      measuredBefore: new Set(),
    });
    const measuredBefore = new Set<Source>(['ns']);
    const second = reconcile(first.open, profileOf(24, 'dns:a email:b'), { ...options, measuredBefore });
    assert.deepEqual([confirmed(second), told(second)], [['dns/a', 'email/b'], []]);
  });

  it('learns nothing from a scan that resolved nothing', () => {
    const nothing = (hour: number) => profileOf(hour, '', { state: 'unmeasured' });
    const result = scans(profileOf(0, 'dns:a email:b'), nothing(24), nothing(48));
    assert.deepEqual([confirmed(result), told(result), result.isPending], [['dns/a', 'email/b'], [], false]);
  });

  it('needs two looks to believe that a domain is gone', () => {
    const gone = (hour: number) => profileOf(hour, '', { state: 'nonexistent' });
    assert.deepEqual(told(scans(profileOf(0, 'dns:a'), gone(24))), []);
    assert.deepEqual(told(scans(profileOf(0, 'dns:a'), gone(24), gone(48))), ['removed dns a>-']);
  });

  it('calls what new rules make of old evidence reclassified, at once, and no migration', () => {
    const before = scans(profileOf(0, 'email:old dns:a'));
    const again = profileOf(0, 'email:new dns:a', { rulebook: '2' });
    const result = reconcile(before.open, profileOf(24, 'email:new dns:a', { rulebook: '2' }), {
      ...options,
      previous: again,
    });
    assert.deepEqual(
      [told(result), confirmed(result), result.isPending],
      [['reclassified email old>new'], ['dns/a', 'email/new'], false],
    );
  });

  it('tells a real move apart from a change of rules made in the same scan', () => {
    const before = scans(profileOf(0, 'email:old dns:a'));
    const again = profileOf(0, 'email:new dns:a', { rulebook: '2' });
    const result = reconcile(before.open, profileOf(24, 'email:new dns:b', { rulebook: '2' }), {
      ...options,
      previous: again,
    });
    assert.deepEqual(told(result), ['reclassified email old>new']);
    assert.deepEqual(told(reconcile(result.open, profileOf(48, 'email:new dns:b', { rulebook: '2' }), options)), [
      'migrated dns a>b',
    ]);
  });

  it('does not take new rules for a migration when the old evidence lacks the look-up they read', () => {
    const before = scans(profileOf(0, 'email:old dns:a'));
    const rules = { rulebook: '2' };
    const previous = profileOf(1, 'email:new dns:a', { ...rules, failed: ['mx'] });
    const measured = new Set(SOURCES.filter((source) => previous.sources[source] !== 'unmeasured'));
    const given = { ...options, measuredBefore: measured };
    const failed = reconcile(before.open, profileOf(24, 'dns:a', { ...rules, failed: ['mx'] }), { ...given, previous });
    assert.deepEqual([told(failed), confirmed(failed)], [[], ['dns/a', 'email/old']]);
    const result = reconcile(failed.open, profileOf(48, 'email:new dns:a', rules), given);
    assert.deepEqual([told(result), confirmed(result)], [['reclassified email old>new'], ['dns/a', 'email/new']]);
  });

  it('lets a newcomer wait through a passing failure, but not for ever', () => {
    const start = scans(profileOf(0, 'email:a'), profileOf(24, 'email:a email:b'), profileOf(28, 'email:b'));
    // Whatever spoke for the first mailbox cannot be looked up any more; the second one is seen without it.
    const known = start.open.map((service) =>
      service.provider === 'a'
        ? { ...service, evidence: [{ source: 'tls', value: 'a', rule: 'a/tls/x' } as const] }
        : service,
    );
    const without = (hour: number) => profileOf(hour, 'email:b', { failed: ['tls'] });
    const soon = reconcile(known, without(36), options);
    assert.deepEqual(told(soon), []);
    assert.deepEqual(told(reconcile(soon.open, profileOf(40, 'email:b'), options)), ['migrated email a>b']);
    assert.deepEqual(told(reconcile(soon.open, without(24 + 24), options)), ['added email ->b']);
  });

  it('takes a parked domain for measured: what it had ends after two looks', () => {
    const parked = (hour: number) => profileOf(hour, 'hosting:sedo', { state: 'parked' });
    assert.deepEqual(told(scans(profileOf(0, 'hosting:h'), parked(24), parked(48))), ['migrated hosting h>sedo']);
  });

  it('is not moved by the same observation given twice', () => {
    const profile = profileOf(24, 'dns:b');
    const once = scans(profileOf(0, 'dns:a'), profile);
    const twice = reconcile(once.open, profile, options);
    assert.deepEqual([twice.open, twice.changes], [once.open, []]);
  });
});

describe('any history', () => {
  const universe = [
    'dns:a',
    'dns:b',
    'email:a',
    'email:b',
    'email_sending:x',
    'email_sending:y',
    'verified_service:t',
    'hosting:h',
  ];
  const step = fc.record({
    services: fc.subarray(universe),
    failed: fc.subarray<Source>(['ns', 'mx', 'spf', 'txt', 'asn']),
    hours: fc.integer({ min: 1, max: 40 }),
  });

  it('changes nothing that was not measured, never overlaps itself, and ends up where two clean looks agree', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.subarray(universe), (steps, last) => {
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
            const source = SOURCE_OF[change.category] ?? 'cname';
            assert.notEqual(profile.sources[source], 'unmeasured', `${change.type} ${change.category}`);
            assert.ok(change.confirmedAt - change.at >= options.confirmAfterMs);
          }
          for (const { service, validTo } of result.ended) {
            const list = intervals.get(keyOf(service)) ?? [];
            assert.ok(
              list.every(([, end]) => service.validFrom >= end),
              `${keyOf(service)} overlaps`,
            );
            assert.ok(validTo > service.validFrom);
            intervals.set(keyOf(service), [...list, [service.validFrom, validTo]]);
          }
          assert.equal(new Set(result.open.map(keyOf)).size, result.open.length, 'one open interval each');
          open = result.open;
          const again = reconcile(open, profile, { ...options, measuredBefore: measured });
          assert.deepEqual([sorted(again.open), again.changes, again.ended], [sorted(open), [], []], 'the same twice');
        };
        for (const { services, failed, hours } of steps) {
          hour += hours;
          apply(profileOf(hour, services.join(' '), { failed }));
        }
        // Three, since a newcomer may have to wait for the one before it to be missed twice.
        for (let i = 0; i < 3; i += 1) {
          hour += 24;
          apply(profileOf(hour, last.join(' ')));
        }
        assert.deepEqual(confirmed({ open }), last.map((text) => text.replace(':', '/')).sort());
        assert.ok(open.every((service) => service.status === 'confirmed'));
      }),
      { numRuns: 400 },
    );
  });
});
