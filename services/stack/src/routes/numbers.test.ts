// Numbers about all domains as the routes report them. The computations are proved in packages/analytics; here each field, filter and cell
// is compared with what they give, or with the stored profiles.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { adoptionCurve, coAdoption, dayOf, leaders, market, markets, scorecard, supplyChain } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import type { StackApp } from '../app.ts';
import { dependenceLevel } from '../dependence-level.ts';
import { type Row, sharedTimeline, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
let app: StackApp;
/** Providers in use, the most used first. */
let inUse: string[];
async function open(): Promise<void> {
  timeline = await sharedTimeline();
  app = timeline.service.running.service.app;
  const used = timeline.profiles.flatMap(({ services }) => [...new Set(services.map(({ provider }) => provider))]);
  inUse = [...Map.groupBy(used, (id) => id)].sort(([, a], [, b]) => b.length - a.length).map(([id]) => id);
}

const ownerOf = (id: string) => app.names.ownerOf(id);
const named = <T extends { readonly provider: string }>(list: readonly T[]) =>
  list.map(({ provider, ...rest }) => ({ provider: app.names.nameOf(provider), provider_id: provider, ...rest }));
const live = () => timeline.profiles.filter(({ state }) => state === 'active' || state === 'parked');
const users = (id: string) =>
  timeline.profiles.filter(({ services }) => services.some(({ provider }) => provider === id));

describe('intelligence', () => {
  before(open);

  it('market-share: every market with and without parked names, 25 providers each, or all of one', async () => {
    const parts = (share: number, of: number) => (of === 0 ? null : share / of);
    for (const includeParked of [false, true]) {
      const expected = markets(app.index, { includeParked, ownerOf }).map((each) => ({
        category: each.category,
        domains: each.domains,
        denominator: each.denominator,
        attributed_share: parts(each.attributed, each.domains),
        self_hosted_share: parts(each.selfHosted, each.domains),
        unknown_share: parts(each.unknown, each.domains),
        unmeasured: each.unmeasured,
        hhi: each.hhi,
        hhi_by_owner: each.hhiByOwner,
        band: each.band,
        cr4: each.cr4,
        effective_providers: each.effectiveProviders,
        total: each.providers.length,
        providers: named(each.providers).map(({ weight: _, ...row }) => ({ ...row, owner: ownerOf(row.provider_id) })),
      }));
      const path = `intelligence/market-share?include_parked=${includeParked}`;
      const { categories, include_parked } = await timeline.get(path);
      assert.equal(include_parked, includeParked);
      assert.deepEqual(
        categories,
        expected.map((each) => ({ ...each, providers: each.providers.slice(0, 25) })),
      );
      for (const each of expected)
        assert.deepEqual((await timeline.get(`${path}&category=${each.category}`)).categories, [each]);
      const has = (name: 'self_hosted_share' | 'unknown_share') => expected.some((each) => (each[name] ?? 0) > 0);
      assert.ok(has('self_hosted_share') && has('unknown_share'));
      assert.ok(expected.some(({ providers }) => providers.length > 25));
    }
    const bands = new Set(CATEGORIES.map((category) => market(app.index, category, { ownerOf }).band));
    assert.ok(bands.has('insufficient_data') && bands.size > 1, [...bands].join());
    const { categories } = await timeline.get('intelligence/market-share');
    assert.deepEqual(categories, (await timeline.get('intelligence/market-share?include_parked=false')).categories);
  });

  it('supply-chain and adoption of a provider', async () => {
    const today = dayOf(timeline.end);
    const scanned = new Set(app.index.history.scanDays().map(({ day }) => day));
    let neighbours = 0;
    for (const id of inUse.filter((_, i) => i < 12 || i % 15 === 0)) {
      const chain = supplyChain(app.index, id, { ownerOf, limit: 20 });
      const { provenance: _, definition, ...answer } = await timeline.get(`intelligence/supply-chain/${id}`);
      const byCategory = (of: (each: (typeof chain.markets)[number]) => number | null) =>
        Object.fromEntries(chain.markets.map((each) => [each.market.category, of(each)]));
      const name = app.names.nameOf(id);
      assert.deepEqual(answer, {
        ...{ _alpha: answer._alpha, _notice: answer._notice },
        provider: name,
        provider_id: id,
        owner: ownerOf(id),
        dependent_domains: users(id).length,
        share_by_category: byCategory(({ share }) => share),
        hhi_by_category: byCategory((each) => each.market.hhi),
        sole_source_domains: chain.soleSourceDomains,
        upstream: named(chain.upstream),
        downstream: named(chain.downstream),
        ...dependenceLevel(chain, { name, domains: timeline.profiles.length }),
      });
      assert.match(definition, /needs 20 common domains/);
      neighbours += chain.upstream.length;

      const adoption = await timeline.get(`intelligence/adoption/${id}`);
      const curve = adoptionCurve(app.index, { provider: id }, { from: dayOf(timeline.begin), to: today });
      assert.deepEqual(
        adoption.curve,
        curve.map(({ day, ...point }) => ({
          date: new Date(day * 86_400_000).toISOString().slice(0, 10),
          ...point,
          measured: scanned.has(day),
        })),
      );
      assert.deepEqual(
        [adoption.tool, adoption.provider_id, adoption.domains, adoption.share],
        [name, id, users(id).length, users(id).length / timeline.profiles.length],
      );
      assert.deepEqual(adoption.co_adoption, named(coAdoption(app.index, id, { ownerOf, limit: 50 })));
    }
    assert.ok(neighbours > 0 && scanned.size > 2 && scanned.size < today - dayOf(timeline.begin));
  });

  it('security-scorecard: every standard, over all domains that exist and by sector', async () => {
    const answer = await timeline.get('intelligence/security-scorecard');
    const card = scorecard(app.index);
    assert.deepEqual(
      [answer.domains, answer.scored, answer.mean_score, answer.adoption, answer.both, answer.grades],
      [live().length, card.scored, card.meanScore, card.adoption, card.both, card.grades],
    );
    assert.deepEqual(
      answer.by_sector,
      card.bySector.map(({ meanScore, ...each }) => ({ ...each, mean_score: meanScore })),
    );
    const grades = answer.grades.map(({ grade, domains }: Row) => [grade, domains]);
    const graded = (grade: string) => live().filter(({ security }) => security.grade === grade).length;
    assert.deepEqual(
      grades,
      ['A+', 'A', 'B', 'C', 'D', 'F'].map((grade) => [grade, graded(grade)]),
    );
  });

  it('risk: firm services and the posture make its factors, and a market without a band is in none', async () => {
    const CRITICAL = ['dns', 'email', 'email_security', 'hosting', 'cdn'] as const;
    const found = { concentration: 0, noConcentration: 0, several: 0 };
    for (const { domain, services, security } of timeline.profiles.filter((_, i) => i % 6 === 0)) {
      const answer = await timeline.get(`intelligence/risk/${domain}`);
      const factors = [...answer.security.factors, ...answer.vendor_concentration.factors];
      const riskOf = (name: string) => factors.find(({ factor }: Row) => factor === name).risk;
      const firm = CRITICAL.map((category) => ({
        category,
        owners: new Set(
          services
            .filter((each) => each.category === category && each.confidence !== 'low')
            .map(({ provider }) => ownerOf(provider)),
        ),
      })).filter(({ owners }) => owners.size > 0);
      const zone = firm.find(({ category }) => category === 'dns')?.owners.size;
      assert.equal(riskOf('dns_redundancy'), zone === undefined ? null : zone > 1 ? 0 : 60, domain);
      const known = firm
        .map(({ category }) => market(app.index, category, { ownerOf }))
        .filter(({ band }) => band !== 'insufficient_data');
      const mean = known.reduce((sum, { hhi }) => sum + Number(hhi), 0) / known.length;
      const concentration = known.length === 0 ? null : Math.round(Math.min(100, mean / 50));
      assert.equal(riskOf('market_concentration'), concentration, domain);
      assert.equal(riskOf('known_vulnerabilities'), null, 'no source was read');
      const tls = security.factors.find(({ factor }) => factor === 'tls');
      const isMeasured = tls !== undefined && tls.finding !== 'unmeasured' && tls.possible > 0;
      const lacking = isMeasured ? Math.round(100 * (1 - tls.points / tls.possible)) : null;
      assert.equal(riskOf('web_encryption'), lacking, domain);
      assert.deepEqual([answer.domain, answer.advisories], [domain, null]);
      found[concentration === null ? 'noConcentration' : 'concentration'] += 1;
      if ((zone ?? 0) > 1) found.several += 1;
    }
    assert.ok(
      Object.values(found).every((count) => count > 0),
      JSON.stringify(found),
    );
  });
});

describe('the page of a provider, and the leaders', () => {
  before(open);

  it('place it among all and in each of its markets', async () => {
    const all = markets(app.index, { ownerOf });
    const top = leaders(app.index, { today: dayOf(timeline.end), limit: 1_000 });
    const { total, limit, providers } = await timeline.get('stats/providers');
    assert.deepEqual([total, limit], [inUse.length, 50]);
    assert.deepEqual(
      providers,
      named(top.slice(0, 50)).map(({ change30d, ...each }) => ({ ...each, change_30d: change30d })),
    );
    for (const { provider: id, rank } of top.filter((_, i) => i < 8 || i % 20 === 0)) {
      const { market: answer, domains, ...page } = await timeline.get(`providers/${id}?limit=7`);
      assert.deepEqual(
        [page.provider, page.owner, answer.rank, answer.share, domains.total],
        [app.names.nameOf(id), ownerOf(id), rank, users(id).length / timeline.profiles.length, users(id).length],
      );
      const first = users(id).map(({ domain }) => domain);
      assert.deepEqual(
        domains.results.map(({ domain }: Row) => domain),
        first.sort().slice(0, 7),
      );
      const own = all.flatMap(({ category, providers: rows, hhi, band }) => {
        const at = rows.findIndex(({ provider }) => provider === id);
        const { domains: count, share } = rows[at] ?? { domains: 0, share: 0 };
        return at < 0
          ? []
          : [{ category, domains: count, share, rank: at + 1, providers: rows.length, hhi, band: band as string }];
      });
      assert.deepEqual(answer.by_category, own, id);
    }
  });
});
