// Numbers about all domains as the routes report them. The computations are proved in packages/analytics; here each field, filter and cell
// is compared with what they give, or with the stored profiles.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { adoptionCurve, coAdoption, dayOf, leaders, market, markets, scorecard, supplyChain } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import type { StackApp } from '../app.ts';
import { dependenceLevel } from '../dependence-level.ts';
import { DAY_MS, dateOf, type Row, sharedTimeline, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
let app: StackApp;
async function open(): Promise<void> {
  timeline = await sharedTimeline();
  app = timeline.service.running.service.app;
}

const ownerOf = (id: string) => app.names.ownerOf(id);
const named = <T extends { readonly provider: string }>(list: readonly T[]) =>
  list.map(({ provider, ...rest }) => ({ provider: app.names.nameOf(provider), provider_id: provider, ...rest }));
const shareOf = (domains: number) => domains / timeline.profiles.length;

describe('intelligence', () => {
  before(open);

  it('market-share: every market with and without parked names, 25 providers each, or all of one', async () => {
    for (const includeParked of [false, true]) {
      const expected = markets(app.index, { includeParked, ownerOf }).map((each) => {
        const { attributed, selfHosted, unknown, hhiByOwner, effectiveProviders, providers, ...rest } = each;
        const share = (domains: number) => (each.domains === 0 ? null : domains / each.domains);
        return {
          ...rest,
          ...{
            attributed_share: share(attributed),
            self_hosted_share: share(selfHosted),
            unknown_share: share(unknown),
          },
          ...{ hhi_by_owner: hhiByOwner, effective_providers: effectiveProviders, total: providers.length },
          providers: named(providers).map(({ weight: _, ...row }) => ({ ...row, owner: ownerOf(row.provider_id) })),
        };
      });
      const path = `intelligence/market-share?include_parked=${includeParked}`;
      const { categories, include_parked } = await timeline.get(path);
      const cut = expected.map((each) => ({ ...each, providers: each.providers.slice(0, 25) }));
      assert.deepEqual([categories, include_parked], [cut, includeParked]);
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
    for (const id of timeline.inUse.filter((_, i) => i < 12 || i % 15 === 0)) {
      const chain = supplyChain(app.index, id, { ownerOf, limit: 20 });
      const {
        provenance: _,
        _alpha,
        _notice,
        definition,
        ...answer
      } = await timeline.get(`intelligence/supply-chain/${id}`);
      const byCategory = (of: (each: (typeof chain.markets)[number]) => number | null) =>
        Object.fromEntries(chain.markets.map((each) => [each.market.category, of(each)]));
      const name = app.names.nameOf(id);
      assert.deepEqual(answer, {
        provider: name,
        provider_id: id,
        owner: ownerOf(id),
        dependent_domains: timeline.users(id).length,
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
        curve.map(({ day, ...point }) => ({ date: dateOf(day * DAY_MS), ...point, measured: scanned.has(day) })),
      );
      const domains = timeline.users(id).length;
      assert.partialDeepStrictEqual(adoption, { tool: name, provider_id: id, domains, share: shareOf(domains) });
      assert.deepEqual(adoption.co_adoption, named(coAdoption(app.index, id, { ownerOf, limit: 50 })));
    }
    assert.ok(neighbours > 0 && scanned.size > 2 && scanned.size < today - dayOf(timeline.begin));
  });

  it('security-scorecard: every standard, over all domains that exist and by sector', async () => {
    const answer = await timeline.get('intelligence/security-scorecard');
    const card = scorecard(app.index);
    const domains = timeline.live().length;
    const { scored, meanScore, adoption, both, grades } = card;
    assert.partialDeepStrictEqual(answer, { domains, scored, mean_score: meanScore, adoption, both });
    assert.deepEqual(answer.grades, grades);
    const bySector = card.bySector.map(({ meanScore, ...each }) => ({ ...each, mean_score: meanScore }));
    assert.deepEqual(answer.by_sector, bySector);
  });

  it('risk: firm services and the posture make its factors, and a market without a band is in none', async () => {
    const CRITICAL = ['dns', 'email', 'email_security', 'hosting', 'cdn'] as const;
    const found = { concentration: 0, noConcentration: 0, several: 0 };
    for (const { domain, services, security } of timeline.profiles.filter((_, i) => i % 6 === 0)) {
      const answer = await timeline.get(`intelligence/risk/${domain}`);
      const factors = [...answer.security.factors, ...answer.vendor_concentration.factors];
      const riskOf = (name: string) => factors.find(({ factor }: Row) => factor === name).risk;
      const ownersIn = (category: string) => {
        const firm = services.filter((each) => each.category === category && each.confidence !== 'low');
        return new Set(firm.map(({ provider }) => ownerOf(provider)));
      };
      const firm = CRITICAL.map((category) => ({ category, owners: ownersIn(category) })).filter(
        ({ owners }) => owners.size > 0,
      );
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
    const everyMarket = markets(app.index, { ownerOf });
    const top = leaders(app.index, { today: dayOf(timeline.end), limit: 1_000 });
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
      const own = everyMarket.flatMap(({ category, providers: rows, hhi, band }) =>
        rows.flatMap(({ provider, domains: count, share }, i) =>
          provider === id ? [{ category, domains: count, share, rank: i + 1, providers: rows.length, hhi, band }] : [],
        ),
      );
      assert.deepEqual(answer.by_category, own, id);
    }
  });
});
