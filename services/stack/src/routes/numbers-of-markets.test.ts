// Markets, dependence and risk, each number worked out again from the stored profiles as docs/metrics.md defines it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATEGORIES, type Category } from '@strata/detect';
import type { StoredProfile } from '@strata/store';
import { liveThrough, type Row, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
/** Who holds the role of a category: nobody can tell, a provider, itself, somebody, no one; as the last scan left it. */
let holderOf: (domain: string, category: Category) => string;
before(async () => {
  timeline = await liveThrough({ domains: 280 });
  const bits = new Map(
    timeline.sql('SELECT name, holder_bits AS bits FROM domains').map((row) => [row.name, row.bits]),
  );
  const words = ['unmeasured', 'provider', 'self', 'unknown', 'nobody'];
  holderOf = (domain, category) =>
    words[Math.floor(Number(bits.get(domain)) / 8 ** CATEGORIES.indexOf(category)) % 8] ?? '';
});
after(() => timeline?.[Symbol.asyncDispose]());

const close = (a: unknown, b: number | null, what: string) =>
  assert.ok(a === b || Math.abs(Number(a) - Number(b)) < 1e-9, `${what}: ${a}, by hand ${b}`);
const firmIn = ({ services }: StoredProfile, category: Category) =>
  services.filter((service) => service.category === category && service.confidence !== 'low');
const ownerOf = (id: string) => {
  const entry = timeline.service.running.service.app.rulebook.providers.get(id);
  return entry?.owner ?? entry?.name ?? id;
};
const inUse = () => [...new Set(timeline.profiles.flatMap(({ services }) => services.map(({ provider }) => provider)))];
const usersOf = (id: string) =>
  timeline.profiles.filter(({ services }) => services.some(({ provider }) => provider === id));

/** A market by hand. */
function marketOf(category: Category, { isParkedIn = false } = {}) {
  const population = timeline.profiles.filter(({ state }) => state === 'active' || (isParkedIn && state === 'parked'));
  const weights = new Map<string, number>();
  const domains = new Map<string, number>();
  const held = { provider: 0, self: 0, unknown: 0, unmeasured: 0 };
  for (const profile of population) {
    const firm = firmIn(profile, category);
    const said = holderOf(profile.domain, category);
    // What is told stands while the last scan could not measure; what is no longer told holds nothing.
    const holder = firm.length > 0 ? 'provider' : said === 'provider' ? 'unmeasured' : said;
    if (holder in held) held[holder as keyof typeof held] += 1;
    for (const { provider } of firm) {
      weights.set(provider, (weights.get(provider) ?? 0) + 1 / firm.length);
      domains.set(provider, (domains.get(provider) ?? 0) + 1);
    }
  }
  const denominator = held.provider + held.self;
  const all = denominator + held.unknown;
  const index = (parts: Iterable<number>) => {
    if (denominator === 0) return null;
    const firms = [...parts, ...Array.from({ length: held.self }, () => 1)];
    return firms.reduce((sum, part) => sum + ((100 * part) / denominator) ** 2, 0);
  };
  const byOwner = new Map<string, number>();
  for (const [id, weight] of weights) byOwner.set(ownerOf(id), (byOwner.get(ownerOf(id)) ?? 0) + weight);
  const hhi = index(weights.values());
  const isEnough = all >= 200 && held.provider / all >= 0.5;
  const band =
    hhi === null || !isEnough
      ? 'insufficient_data'
      : hhi > 1_800
        ? 'high'
        : hhi >= 1_000
          ? 'moderate'
          : 'unconcentrated';
  return { weights, domains, held, denominator, all, hhi, hhiByOwner: index(byOwner.values()), band };
}

describe('market share', () => {
  for (const category of CATEGORIES) {
    it(`of ${category}: counts, shares, concentration, with and without parked names`, async () => {
      for (const isParkedIn of [false, true]) {
        const query = `intelligence/market-share?category=${category}&include_parked=${isParkedIn}`;
        const { categories, include_parked } = await timeline.get(query);
        assert.deepEqual([categories.length, include_parked], [1, isParkedIn]);
        const [told] = categories;
        const market = marketOf(category, { isParkedIn });
        const { held, denominator, all } = market;
        assert.deepEqual(
          [told.category, told.domains, told.denominator, told.unmeasured, told.band, told.total],
          [category, all, denominator, held.unmeasured, market.band, market.weights.size],
        );
        close(told.attributed_share, all === 0 ? null : held.provider / all, 'attributed');
        close(told.self_hosted_share, all === 0 ? null : held.self / all, 'self-hosted');
        close(told.unknown_share, all === 0 ? null : held.unknown / all, 'unknown');
        close(told.hhi, market.hhi, 'HHI');
        close(told.hhi_by_owner, market.hhiByOwner, 'HHI by owner');
        close(told.effective_providers, market.hhi ? 10_000 / market.hhi : null, 'effective providers');
        const largest = [...market.weights.values()].sort((a, b) => b - a).slice(0, 4);
        const four = largest.reduce((sum, weight) => sum + weight, 0);
        close(told.cr4, denominator === 0 ? null : four / denominator, 'CR4');
        for (const { provider_id, domains, share, owner } of told.providers) {
          assert.deepEqual([domains, owner], [market.domains.get(provider_id), ownerOf(provider_id)]);
          close(share, (market.weights.get(provider_id) ?? 0) / denominator, provider_id);
        }
        assert.equal(told.providers.length, market.weights.size);
      }
    });
  }

  it('has markets with a band, self-hosted and unknown domains, and parked names that matter', async () => {
    const { categories } = await timeline.get('intelligence/market-share');
    assert.deepEqual(
      categories.map(({ category }: Row) => category),
      CATEGORIES,
    );
    assert.ok(categories.some(({ band }: Row) => band !== 'insufficient_data'));
    assert.ok(categories.some((each: Row) => Number(each.self_hosted_share) > 0));
    assert.ok(categories.some((each: Row) => Number(each.unknown_share) > 0));
    assert.notEqual(marketOf('dns').denominator, marketOf('dns', { isParkedIn: true }).denominator);
    for (const { providers, total } of categories) assert.equal(providers.length, Math.min(total, 25));
  });
});

describe('supply chain, of every provider in use', () => {
  it('tells its markets, its level and why', async () => {
    const levels = new Set<string>();
    const order = ['low', 'medium', 'high', 'critical'];
    const markets = CATEGORIES.map((category) => ({ category, ...marketOf(category) }));
    for (const id of inUse()) {
      const told = await timeline.get(`intelligence/supply-chain/${id}`);
      const own = markets.filter(({ weights }) => weights.has(id));
      assert.deepEqual(Object.keys(told.share_by_category).sort(), own.map(({ category }) => category).sort());
      let level = 0;
      for (const { category, weights, denominator, hhi, band } of own) {
        const share = (weights.get(id) ?? 0) / denominator;
        close(told.share_by_category[category], share, `${id} ${category}`);
        close(told.hhi_by_category[category], hhi, category);
        const reached = share >= 0.5 ? 3 : share >= 0.3 ? 2 : share >= 0.1 ? 1 : 0;
        if (band !== 'insufficient_data') level = Math.max(level, reached);
      }
      const reach = usersOf(id).length / timeline.profiles.length;
      level = Math.max(level, reach >= 0.3 ? 2 : reach >= 0.1 ? 1 : 0);
      assert.equal(told.risk_level, order[level], `${id}: ${told.reasons}`);
      assert.ok(told.reasons.length > 0);
      levels.add(told.risk_level);
    }
    assert.ok(levels.size >= 3, [...levels].join());
  });

  it('tells its domains, its sole sources and the company it keeps, in a total order', async () => {
    const sizes = new Map(inUse().map((id) => [id, usersOf(id).length]));
    for (const id of inUse().filter((_, i) => i % 5 === 0)) {
      const told = await timeline.get(`intelligence/supply-chain/${id}`);
      const users = usersOf(id);
      const sole = users.filter((profile) =>
        CATEGORIES.some((category) => {
          const firm = firmIn(profile, category);
          return firm.length === 1 && firm[0]?.provider === id;
        }),
      );
      assert.deepEqual([told.dependent_domains, told.sole_source_domains], [users.length, sole.length], id);
      const common = [...sizes]
        .map(([other, size]) => {
          const together = users.filter(({ services }) => services.some(({ provider }) => provider === other)).length;
          return { other, size, together };
        })
        .filter(({ other, together }) => ownerOf(other) !== ownerOf(id) && together >= 20);
      for (const side of ['upstream', 'downstream'] as const) {
        const expected = common
          .map(
            ({ other, size, together }) =>
              [other, together, together / (side === 'upstream' ? users.length : size)] as const,
          )
          .sort(([a, n, x], [b, m, y]) => y - x || m - n || (a < b ? -1 : 1))
          .slice(0, 20);
        assert.deepEqual(
          told[side].map((each: Row) => [each.provider_id, each.domains, each.share]),
          expected.map((each) => [...each]),
          `${id} ${side}`,
        );
      }
      const { co_adoption } = await timeline.get(`intelligence/adoption/${id}`);
      const expected = common
        .map(({ other, size, together }) => ({
          other,
          together,
          jaccard: together / (users.length + size - together),
          lift: (together * timeline.profiles.length) / (users.length * size),
        }))
        .sort((a, b) => b.jaccard - a.jaccard || (a.other < b.other ? -1 : 1));
      assert.equal(co_adoption.length, Math.min(50, expected.length));
      for (const [i, { other, together, jaccard, lift }] of expected.slice(0, 50).entries()) {
        assert.deepEqual([co_adoption[i].provider_id, co_adoption[i].domains], [other, together], id);
        close(co_adoption[i].jaccard, jaccard, 'Jaccard');
        close(co_adoption[i].lift, lift, 'lift');
      }
    }
  });
});

describe('the page of a provider', () => {
  it('places it among all and in each of its markets', async () => {
    const sizes = inUse()
      .map((id) => ({ id, size: usersOf(id).length }))
      .sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1));
    for (const [i, { id, size }] of sizes.entries()) {
      if (i > 30 && i % 9 !== 0) continue;
      const { market, domains } = await timeline.get(`providers/${id}`);
      assert.deepEqual([domains.total, market.rank, market.share], [size, i + 1, size / timeline.profiles.length], id);
      for (const told of market.by_category) {
        const { weights, denominator, hhi, band, domains: users } = marketOf(told.category);
        const own = weights.get(id) ?? 0;
        const others = [...weights].filter(([other]) => other !== id);
        const better = others.filter(([, weight]) => weight > own + 1e-9).length;
        const even = others.filter(([, weight]) => Math.abs(weight - own) <= 1e-9).length;
        assert.deepEqual(
          [told.domains, told.providers, told.band],
          [users.get(id), weights.size, band],
          `${id} in ${told.category}`,
        );
        // Sums of fractions that are equal on paper may differ in their last bit.
        assert.ok(told.rank > better && told.rank <= better + even + 1, `${id} in ${told.category}: ${told.rank}`);
        close(told.share, own / denominator, id);
        close(told.hhi, hhi, id);
      }
      assert.equal(market.by_category.length, CATEGORIES.filter((each) => marketOf(each).weights.has(id)).length);
    }
  });
});

describe('the risk of a domain', () => {
  it('is the weighted mean of its factors, each as defined', async () => {
    const CRITICAL = ['dns', 'email', 'email_security', 'hosting', 'cdn'] as const;
    const markets = new Map(CRITICAL.map((category) => [category, marketOf(category)]));
    for (const profile of timeline.profiles.filter((_, i) => i % 7 === 0)) {
      const told = await timeline.get(`intelligence/risk/${profile.domain}`);
      const lacking = (...names: string[]) => {
        const measured = profile.security.factors.filter(
          (each) => names.includes(each.factor) && each.finding !== 'unmeasured',
        );
        const possible = measured.reduce((sum, each) => sum + each.possible, 0);
        const points = measured.reduce((sum, each) => sum + each.points, 0);
        return possible === 0 ? null : Math.round(100 * (1 - points / possible));
      };
      const firm = CRITICAL.map((category) => ({
        category,
        owners: new Set(firmIn(profile, category).map(({ provider }) => ownerOf(provider))),
      })).filter(({ owners }) => owners.size > 0);
      const zone = firm.find(({ category }) => category === 'dns')?.owners.size;
      const most = Math.max(
        0,
        ...firm.flatMap(({ owners }) =>
          [...owners].map((owner) => firm.filter((each) => each.owners.has(owner)).length),
        ),
      );
      const known = firm
        .map(({ category }) => markets.get(category))
        .filter((market) => market && market.band !== 'insufficient_data');
      const mean = known.reduce((sum, market) => sum + Number(market?.hhi), 0) / known.length;
      const expected: Record<string, readonly [weight: number, risk: number | null]> = {
        email_authentication: [0.25, lacking('spf', 'dmarc')],
        email_transport: [0.05, lacking('mta_sts', 'tls_rpt')],
        web_encryption: [0.12, lacking('tls')],
        dns_integrity: [0.13, lacking('dnssec', 'caa')],
        known_vulnerabilities: [0.15, null],
        dns_redundancy: [0.08, zone === undefined ? null : zone > 1 ? 0 : 60],
        single_owner: [0.14, firm.length < 2 ? null : Math.round((100 * (most - 1)) / (firm.length - 1))],
        market_concentration: [0.08, known.length === 0 ? null : Math.round(Math.min(100, mean / 50))],
      };
      const factors = [...told.security.factors, ...told.vendor_concentration.factors];
      assert.deepEqual(
        Object.fromEntries(factors.map((each: Row) => [each.factor, [each.weight, each.risk]])),
        expected,
        profile.domain,
      );
      const measured = Object.values(expected).filter(([, risk]) => risk !== null);
      const weight = measured.reduce((sum, [each]) => sum + each, 0);
      const score =
        measured.length === 0
          ? null
          : Math.round(measured.reduce((sum, [each, risk]) => sum + each * (risk ?? 0), 0) / weight);
      assert.equal(told.score, score, profile.domain);
      const level =
        score === null ? null : score < 25 ? 'low' : score < 50 ? 'medium' : score < 75 ? 'high' : 'critical';
      assert.equal(told.level, level);
    }
  });
});
