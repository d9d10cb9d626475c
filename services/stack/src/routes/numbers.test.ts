// Numbers about all domains as the routes report them. The computations are proved in packages/analytics; here each field, filter and cell
// is compared with what they give, or with the stored profiles.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  adoptionCurve,
  assessRisk,
  coAdoption,
  dayOf,
  leaders,
  market,
  markets,
  scorecard,
  supplyChain,
} from '@strata/analytics';
import { CATEGORIES, type Category } from '@strata/detect';
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

  it('risk: of firm services, the posture and the markets that have a band', async () => {
    const hhiOf = (category: Category) => {
      const { hhi, band } = market(app.index, category, { ownerOf });
      return band === 'insufficient_data' ? null : hhi;
    };
    const concentrations = new Set<boolean>();
    for (const { domain, services, security } of timeline.profiles.filter((_, i) => i % 6 === 0)) {
      const answer = await timeline.get(`intelligence/risk/${domain}`);
      const seen = services.map(({ confidence, ...each }) => ({ ...each, isFirm: confidence !== 'low' }));
      const risk = assessRisk({ posture: security, services: seen, ownerOf, exposure: null, hhiOf });
      assert.deepEqual(
        [answer.domain, answer.score, answer.level, answer.advisories, answer.security, answer.vendor_concentration],
        [domain, risk.score, risk.level, null, risk.security, risk.vendorConcentration],
      );
      const concentration = risk.vendorConcentration.factors.find(({ factor }) => factor === 'market_concentration');
      concentrations.add(concentration?.risk === null);
    }
    assert.equal(concentrations.size, 2);
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
