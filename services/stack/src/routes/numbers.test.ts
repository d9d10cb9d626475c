// Numbers about all domains, exports cell by cell, and searches that find exactly as many as an answer counts. Each
// field, filter and cell is compared with what packages/analytics computes, where that is proved, or with profiles.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as analytics from '@strata/analytics';
import { CATEGORIES, ROLE_FACTS, type Role } from '@strata/detect';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { dependenceLevel } from '../reports/dependence-level.ts';
import { changeReport, domainReport } from '../reports/domain-report.ts';
import type { StoredProfile } from '../store/index.ts';
import { DAY_MS, dateOf, type Row, sharedTimeline } from '../test/timeline.ts';

const timeline = await sharedTimeline();
const { app, index = assert.fail() } = timeline.service.running;

const ownerOf = (id: string) => app.names.ownerOf(id);
const named = <T extends { readonly provider: string }>(list: readonly T[]) =>
  list.map(({ provider, ...rest }) => ({ provider: app.names.nameOf(provider), provider_id: provider, ...rest }));
const shareOf = (domains: number) => domains / timeline.profiles.length;

it('a provider that has left the catalog keeps the role that was stored', () => {
  const profile = timeline.profiles.find(({ services }) => services.length > 0);
  assert.ok(profile?.services[0]);
  const left = { category: 'email_security', role: 'dmarc_reports', provider: 'left' } as const;
  const stored = { ...profile, services: [{ ...profile.services[0], ...left }] };
  const { services } = domainReport(stored, { names: app.names, advisories: null });
  const at = { at: new Date(0), confirmedAt: new Date(0), confidence: 'high', importance: 'low' } as const;
  const change = changeReport({ id: 'x', type: 'removed', from: 'left', to: null, ...left, ...at }, app.names);
  assert.deepEqual([services[0]?.role, change.role], [left.role, left.role]);
});
it('market-share: every market with and without parked names, 25 providers each, or all of one', async () => {
  for (const includeParked of [false, true]) {
    const reported = (each: analytics.Market) => {
      const { attributed, selfHosted, unknown, hhiByOwner, effectiveProviders, providers, ...rest } = each;
      const share = (domains: number) => (each.domains === 0 ? null : domains / each.domains);
      return {
        ...rest,
        ...{ attributed_share: share(attributed), self_hosted_share: share(selfHosted), total: providers.length },
        ...{ unknown_share: share(unknown), hhi_by_owner: hhiByOwner, effective_providers: effectiveProviders },
        providers: named(providers).map(({ weight: _, ...row }) => {
          const of = { provider: row.provider_id, category: each.category };
          const change_30d = analytics.netMovement(index, of, analytics.dayOf(timeline.end));
          return { ...row, owner: ownerOf(row.provider_id), change_30d };
        }),
      };
    };
    const options = { includeParked, ownerOf };
    const expected = analytics.markets(index, options).map(reported);
    const ofRoles = analytics.roleMarkets(index, options).map((each) => {
      const { label, isExclusive = false, isCritical = false } = ROLE_FACTS[each.role];
      return { ...reported(each), label, is_exclusive: isExclusive, is_critical: isCritical };
    });
    const path = `intelligence/market-share?include_parked=${includeParked}`;
    const { categories, roles, include_parked } = await timeline.get(path);
    const cut = <Of extends { readonly providers: readonly unknown[] }>(all: readonly Of[]) =>
      all.map((each) => ({ ...each, providers: each.providers.slice(0, 25) }));
    assert.deepEqual([categories, roles, include_parked], [cut(expected), cut(ofRoles), includeParked]);
    const [gateways] = ofRoles.filter(({ role }) => role === 'gateway');
    const one = await timeline.get(`${path}&role=gateway${includeParked ? '&category=email_security' : ''}`);
    assert.deepEqual([one.categories, one.roles], [[], [gateways]]);
    for (const each of expected)
      assert.deepEqual((await timeline.get(`${path}&category=${each.category}`)).categories, [each]);
    const has = (name: 'self_hosted_share' | 'unknown_share') => expected.some((each) => (each[name] ?? 0) > 0);
    assert.ok(has('self_hosted_share') && has('unknown_share'));
    assert.ok(expected.some(({ providers }) => providers.length > 25));
    assert.ok(expected.some(({ providers }) => providers.some(({ change_30d: change }) => change !== 0)));
  }
  const bands = new Set(CATEGORIES.map((category) => analytics.market(index, category, { ownerOf }).band));
  assert.ok(bands.has('insufficient_data') && bands.size > 1, [...bands].join());
  const { categories } = await timeline.get('intelligence/market-share');
  assert.deepEqual(categories, (await timeline.get('intelligence/market-share?include_parked=false')).categories);
});
it('supply-chain and adoption of a provider', async () => {
  const [firstDay, today] = [timeline.begin, timeline.end].map(analytics.dayOf) as [number, number];
  const scanned = new Set(index.history.scans.days().map(({ day }) => day));
  let neighbours = 0;
  const options = { ownerOf };
  const every = { categories: analytics.markets(index, options), roles: analytics.roleMarkets(index, options) };
  for (const id of timeline.inUse.filter((_, i) => i < 12 || i % 15 === 0)) {
    const near = analytics.neighbourhood(index, id, { ownerOf });
    const chain = analytics.supplyChain(id, near, { markets: every, limit: 20 });
    const path = `intelligence/supply-chain/${id}`;
    const { provenance: _, _alpha, _notice, definition, ...answer } = await timeline.get(path);
    type Held = analytics.SupplyChain['markets'];
    const by = (held: Held, of: (each: Held[number]) => number | null) =>
      Object.fromEntries(held.map((each) => [each.market.role ?? each.market.category, of(each)]));
    const name = app.names.nameOf(id);
    assert.deepEqual(answer, {
      provider: name,
      provider_id: id,
      owner: ownerOf(id),
      dependent_domains: timeline.users(id).length,
      share_by_category: by(chain.markets, ({ share }) => share),
      hhi_by_category: by(chain.markets, (each) => each.market.hhi),
      share_by_role: by(chain.roleMarkets, ({ share }) => share),
      hhi_by_role: by(chain.roleMarkets, (each) => each.market.hhi),
      sole_source_domains: chain.soleSourceDomains,
      upstream: named(chain.upstream),
      downstream: named(chain.downstream),
      ...dependenceLevel(chain, { name, domains: timeline.profiles.length }),
    });
    assert.match(definition, /needs 20 common domains/);
    neighbours += chain.upstream.length;

    const adoption = await timeline.get(`intelligence/adoption/${id}`);
    const curve = analytics.adoptionCurve(index, { provider: id }, { from: firstDay, to: today });
    const points = curve.map(({ day, ...at }) => ({ date: dateOf(day * DAY_MS), ...at, measured: scanned.has(day) }));
    assert.deepEqual(adoption.curve, points);
    const domains = timeline.users(id).length;
    assert.partialDeepStrictEqual(adoption, { tool: name, provider_id: id, domains, share: shareOf(domains) });
    assert.deepEqual(adoption.co_adoption, named(analytics.coAdoption(near, 50)));
  }
  assert.ok(neighbours > 0 && scanned.size > 2 && scanned.size < today - firstDay);
});
it('security-scorecard: every standard, over all domains that exist and by sector', async () => {
  const answer = await timeline.get('intelligence/security-scorecard');
  const card = analytics.scorecard(index);
  const domains = timeline.live().length;
  const { scored, meanScore, adoption, both, grades } = card;
  assert.partialDeepStrictEqual(answer, { domains, scored, mean_score: meanScore, adoption, both });
  assert.deepEqual(answer.grades, grades);
  const bySector = card.bySector.map(({ meanScore, ...each }) => ({ ...each, mean_score: meanScore }));
  assert.deepEqual(answer.by_sector, bySector);
});
it('risk: of firm services, the posture and the markets that have a band', async () => {
  const hhiOf = (role: Role) => {
    const { hhi, band } = analytics.roleMarket(index, role, { ownerOf });
    return band === 'insufficient_data' ? null : hhi;
  };
  const concentrations = new Set<boolean>();
  for (const { domain, services, security } of timeline.profiles.filter((_, i) => i % 6 === 0)) {
    const answer = await timeline.get(`intelligence/risk/${domain}`);
    const measured = services.map(({ confidence, ...each }) => ({ ...each, isFirm: confidence !== 'low' }));
    const risk = analytics.assessRisk({ posture: security, services: measured, ownerOf, exposure: null, hhiOf });
    assert.deepEqual(
      [answer.domain, answer.score, answer.level, answer.advisories, answer.security, answer.vendor_concentration],
      [domain, risk.score, risk.level, null, { ...risk.security, stale_parts: [] }, risk.vendorConcentration],
    );
    const concentration = risk.vendorConcentration.factors.find(({ factor }) => factor === 'market_concentration');
    concentrations.add(concentration?.risk === null);
  }
  assert.equal(concentrations.size, 2);
});
it('the page of a provider, and the leaders rank it among all and in each of its markets', async () => {
  const everyMarket = analytics.markets(index, { ownerOf });
  const everyRole = analytics.roleMarkets(index, { ownerOf });
  const top = analytics.leaders(index, { today: analytics.dayOf(timeline.end), limit: 1_000 }).leaders;
  const { total, limit, providers } = await timeline.get('stats/providers');
  assert.deepEqual([total, limit], [timeline.inUse.length, 50]);
  const listed = named(top.slice(0, 50)).map(({ change30d, ...each }) => ({ ...each, change_30d: change30d }));
  assert.deepEqual(providers, listed);
  for (const { provider: id, rank } of top.filter((_, i) => i < 8 || i % 20 === 0)) {
    const { market: answer, domains, ...page } = await timeline.get(`providers/${id}?limit=7`);
    const all = timeline.users(id).map(({ domain }) => domain);
    assert.deepEqual([page.provider, page.owner], [app.names.nameOf(id), ownerOf(id)]);
    assert.deepEqual([answer.rank, answer.share, domains.total], [rank, shareOf(all.length), all.length]);
    const listed = domains.results.map(({ domain }: Row) => domain);
    assert.deepEqual(listed, all.sort().slice(0, 7));
    const positionsIn = (all: readonly analytics.Market[]) =>
      all.flatMap(({ category, role, providers: rows, hhi, band }) =>
        rows.flatMap(({ provider, domains: count, share }, i) => {
          const position = { category, domains: count, share, rank: i + 1, providers: rows.length, hhi, band };
          return provider === id ? [role === null ? position : { role, ...position }] : [];
        }),
      );
    assert.deepEqual([answer.by_category, answer.by_role], [positionsIn(everyMarket), positionsIn(everyRole)], id);
  }
});

type Judged = boolean | null;
const yesNo = (judged: Judged) => (judged === null ? '' : judged ? 'yes' : 'no');
const cellsOf = ({ domain, sector, security, scannedAt }: StoredProfile) => {
  const { spf, dmarc, mtaSts, tlsRpt, dnssec, caa, bimi, tls } = security;
  const all = { '-all': 'fail', '~all': 'softfail', '?all': 'neutral', '+all': 'pass' };
  const asked = spf.result === 'valid' ? (spf.all === null ? 'valid' : all[spf.all]) : spf.result;
  const isMeasured = dmarc.status !== 'unmeasured';
  return [
    ...[domain, sector, String(security.score), security.grade],
    spf.result === 'unmeasured' ? '' : asked,
    isMeasured ? (dmarc.policy ?? 'missing') : '',
    isMeasured ? (dmarc.effectivePolicy ?? 'missing') : '',
    yesNo(isMeasured ? dmarc.policy !== null && dmarc.hasReporting : null),
    ...[mtaSts.hasRecord, tlsRpt.hasRecord, dnssec.isSigned].map(yesNo),
    yesNo(caa.status === 'unmeasured' ? null : caa.status === 'observed'),
    yesNo(bimi.hasRecord),
    yesNo(tls.status === 'observed' ? tls.isTrusted : null),
    scannedAt.toISOString(),
  ];
};
it('the export of security: worst first, every cell, for every sector and at the edges of the score', async () => {
  const scored = timeline
    .live()
    .filter(({ security }) => security.score !== null)
    .sort((a, b) => Number(a.security.score) - Number(b.security.score) || (a.domain < b.domain ? -1 : 1));
  assert.deepEqual(await timeline.rows('security/export.csv'), scored.map(cellsOf));
  const better = scored.filter(({ security }) => Number(security.score) > 1);
  const middle = Number(better[Math.floor(better.length / 2)]?.security.score);
  for (const sector of new Set(scored.map((profile) => profile.sector)))
    for (const max of [0, middle - 1, middle]) {
      const expected = scored.filter((each) => each.sector === sector && Number(each.security.score) <= max);
      const rows = await timeline.rows(`security/export.csv?sector=${sector}&score_lte=${max}`);
      assert.deepEqual(rows, expected.map(cellsOf), `${sector} up to ${max}`);
    }
});
it('the export of domains of a provider: its categories, the best confidence, state, sector, score and time', async () => {
  const order = ['high', 'medium', 'low'];
  for (const id of timeline.inUse.filter((_, i) => i < 5 || i % 9 === 0)) {
    const rows = await timeline.rows(`providers/${id}/domains.csv`);
    assert.deepEqual(
      rows.map(([domain, categories = '', ...rest]) => [domain, categories.split(' ').sort().join(' '), ...rest]),
      timeline
        .users(id)
        .sort((a, b) => (a.domain < b.domain ? -1 : 1))
        .map(({ domain, services, state, sector, security: { score }, scannedAt }) => {
          const own = services.filter(({ provider }) => provider === id);
          const categories = own.map(({ category }) => category).sort();
          const best = order.find((level) => own.some(({ confidence }) => confidence === level));
          return [domain, categories.join(' '), best, state, sector, String(score ?? ''), scannedAt.toISOString()];
        }),
      id,
    );
  }
});
const search = async (query: Readonly<Record<string, string>>) => timeline.get(`search?${new URLSearchParams(query)}`);
const found = async (query: Readonly<Record<string, string>>): Promise<number> =>
  (await search({ ...query, limit: '1' })).total;

it('search finds a name, the exact one first, in pages, and a provider by id, name or alias in any case', async () => {
  const [{ domain: name = '' } = {}] = timeline.profiles;
  const { results } = await search({ q: name.slice(0, 3).toUpperCase(), limit: '1000' });
  assert.ok(results.length > 0 && results.every(({ domain }: Row) => String(domain).includes(name.slice(0, 3))));
  assert.equal((await search({ q: name })).results[0].domain, name);
  const { results: complete } = await search({ q: 'e', limit: '1000' });
  const page = await search({ q: 'e', limit: '50', offset: '50' });
  assert.deepEqual([page.total, page.limit, page.offset], [complete.length, 50, 50]);
  assert.deepEqual(page.results, complete.slice(50, 100));
  for (const id of timeline.inUse.filter((_, i) => i % 12 === 0)) {
    const entry = app.rulebook.providers.get(id) ?? assert.fail(id);
    const known = await search({ provider: id });
    assert.equal(known.total, timeline.users(id).length);
    for (const form of [id.toUpperCase(), entry.name.toLowerCase(), ...entry.aliases])
      assert.deepEqual((await search({ provider: form })).results, known.results, form);
  }
});
it('search has the list behind each number: a provider in a market, by state', async () => {
  for (const [state, isParkedIn] of Object.entries({ active: 'false', live: 'true' })) {
    const { categories } = await timeline.get(`intelligence/market-share?include_parked=${isParkedIn}`);
    for (const { category, providers } of categories)
      for (const { provider_id: provider, domains } of providers.slice(0, 2))
        assert.equal(await found({ provider, category, min_confidence: 'medium', state }), domains, provider);
  }
  const { upstream } = await timeline.get('intelligence/supply-chain/cloudflare');
  assert.ok(upstream.length > 0);
  for (const { provider_id, domains } of upstream.slice(0, 5))
    assert.equal(await found({ provider: 'cloudflare', with: provider_id }), domains, provider_id);
});
it('search has the list behind each number: standards, what they were measured in, sectors and grades', async () => {
  const card = await timeline.get('intelligence/security-scorecard');
  const { sector } = card.by_sector.toSorted((a: Row, b: Row) => Number(b.domains) - Number(a.domains))[0];
  const ofSector = card.by_sector.find((row: Row) => row.sector === sector);
  for (const [of, more] of [[card, {}] as const, [ofSector, { sector }] as const]) {
    assert.equal(await found({ state: 'live', ...more }), of.domains);
    for (const [standard, flag, measured] of casesOf<[string, string, string][]>('stack', 'flags of standards')) {
      const adoption = of.adoption[standard];
      assert.equal(await found({ state: 'live', flag, ...more }), adoption.domains, standard);
      assert.equal(await found({ state: 'live', flag: measured, ...more }), adoption.measured, measured);
      const missing = { state: 'live', flag: measured, without: flag, ...more };
      assert.equal(await found(missing), adoption.measured - adoption.domains, `without ${standard}`);
    }
  }
  assert.equal(await found({ state: 'live', flag: 'spf_valid,dmarc_valid' }), card.both.domains);
  for (const { grade, domains } of card.grades) assert.equal(await found({ state: 'live', grade }), domains, grade);
  assert.ok(card.grades.filter(({ domains }: Row) => Number(domains) > 0).length > 2);
  assert.equal(await found({ state: 'live', score_gte: '0' }), card.scored);
  assert.equal(await found({ state: 'live', grade: 'F', score_gte: '100' }), 0);
  const middle = Math.round(card.mean_score);
  const [below, above] = [await found({ score_lte: String(middle) }), await found({ score_gte: String(middle + 1) })];
  assert.ok(below > 0 && above > 0);
  assert.equal(below + above, await found({ score_gte: '0' }));
});
