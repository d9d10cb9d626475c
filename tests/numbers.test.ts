// Every number over all domains, worked out a second time: by plain SQL on the database, or from the stored profiles.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { CATEGORIES, ROLES } from '@strata/detect';
import type { StoredProfile } from '@strata/store';
import { startTestStack, type TestStack } from './support/running-stack.ts';

type Row = Record<string, number | string | null>;

let stack: TestStack;
let database: DatabaseSync;
let profiles: StoredProfile[];

before(async () => {
  stack = await startTestStack({ domains: 260, config: { confirmAfterMs: 1 } });
  const { app } = stack.running.service;
  const names = stack.internet.domains();
  const look = () => app.scanner.runAll(names, { onDone: () => {}, signal: AbortSignal.timeout(120_000) });
  await app.store.addDomains(names, { source: 'test' });
  await look();
  // Two hundred days at once, so that there is much to count; a few more domains fail to answer for mail.
  stack.internet.advance(200);
  for (const domain of names.slice(0, 5)) stack.internet.fail(domain, { type: 'MX', status: 'servfail' });
  for (let i = 0; i < 2; i += 1) await look();
  await app.pulse.now();
  database = new DatabaseSync(path.join(stack.directory, 'strata.db'), { readOnly: true });
  const found = await Promise.all(names.map((name) => app.store.domain(name)));
  profiles = found.filter((profile) => profile !== undefined);
});
after(async () => {
  database?.close();
  await stack?.[Symbol.asyncDispose]();
});

const sql = (query: string, ...values: (string | number)[]) => database.prepare(query).all(...values) as Row[];
const number = (query: string, ...values: (string | number)[]) =>
  Number(Object.values(sql(query, ...values)[0] ?? {})[0]);
const get = async (url: string) => {
  const { status, body, text } = await stack.get(`/stack/v1/${url}`);
  assert.equal(status, 200, text.slice(0, 300));
  return body;
};
const rowsOf = async (url: string): Promise<string[][]> => {
  const { status, text } = await stack.get(`/stack/v1/${url}`);
  assert.equal(status, 200);
  return text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','));
};
/** Services that are told. */
const TOLD = "(SELECT * FROM services WHERE valid_to IS NULL AND status <> 'pending')";
const ids = (): string[] =>
  sql(`SELECT DISTINCT provider FROM ${TOLD} ORDER BY provider`).map((row) => String(row.provider));
const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 1e-9, `${what}: ${a} and ${b}`);

describe('the numbers over all domains', () => {
  it('has data worth counting', () => {
    assert.ok(profiles.length > 200 && number("SELECT count(*) FROM changes WHERE type = 'migrated'") > 50);
  });

  it('stats', async () => {
    const stats = await get('stats');
    assert.equal(stats.domains, number('SELECT count(*) FROM domains WHERE last_scanned_at IS NOT NULL'));
    assert.equal(stats.services, number(`SELECT count(*) FROM ${TOLD}`));
    assert.equal(stats.providers, number(`SELECT count(DISTINCT provider) FROM ${TOLD}`));
    assert.equal(stats.scans, number('SELECT count(*) FROM scans'));
    assert.equal(stats.migrations.last_24h, number("SELECT count(*) FROM changes WHERE type = 'migrated'"));
    for (const { category, domains, providers } of stats.by_category) {
      const [row] = sql(
        `SELECT count(DISTINCT domain_id) AS d, count(DISTINCT provider) AS p FROM ${TOLD} WHERE category = ?`,
        category,
      );
      assert.deepEqual([domains, providers], [row?.d, row?.p], category);
    }
  });

  it('stats/providers', async () => {
    const { providers } = await get('stats/providers');
    const rows = sql(
      `SELECT provider, count(DISTINCT domain_id) AS n FROM ${TOLD} GROUP BY provider ORDER BY n DESC, provider LIMIT 50`,
    );
    assert.deepEqual(
      providers.map((each: Row) => [each.provider_id, each.domains, each.rank]),
      rows.map((row, i) => [row.provider, row.n, i + 1]),
    );
    for (const { provider_id, change_30d } of providers) {
      const gained = number(
        "SELECT count(*) FROM changes WHERE to_provider = ? AND is_entry = 1 AND type <> 'reclassified'",
        provider_id,
      );
      const lost = number(
        "SELECT count(*) FROM changes WHERE from_provider = ? AND is_exit = 1 AND type <> 'reclassified'",
        provider_id,
      );
      assert.equal(change_30d, gained - lost, provider_id);
    }
  });

  it('stats/migrations and the export: newest first, flows by pair', async () => {
    const { total, migrations, flows } = await get('stats/migrations?limit=1000');
    const rows = sql(
      "SELECT c.id, d.name, c.category, c.from_provider AS f, c.to_provider AS t FROM changes c JOIN domains d ON d.id = c.domain_id WHERE type = 'migrated' ORDER BY c.at DESC, c.id DESC",
    );
    assert.equal(total, rows.length);
    assert.deepEqual(
      migrations.map((each: Row) => [each.domain, each.category, each.from_id, each.to_id]),
      rows.map((row) => [row.name, row.category, row.f, row.t]),
    );
    const pairs = sql(
      "SELECT category, from_provider AS f, to_provider AS t, count(*) AS n FROM changes WHERE type = 'migrated' GROUP BY 1, 2, 3 ORDER BY n DESC, 1, 2, 3 LIMIT 100",
    );
    assert.deepEqual(
      flows.map((each: Row) => [each.category, each.from_id, each.to_id, each.domains]),
      pairs.map((row) => [row.category, row.f, row.t, row.n]),
    );
    const of = (which: string) => `SELECT count(*) FROM changes WHERE type = 'migrated' AND ${which}`;
    for (const id of ids().slice(0, 25)) {
      assert.equal(
        (await rowsOf(`migrations/export.csv?provider=${id}&direction=in`)).length,
        number(of('to_provider = ?'), id),
      );
      assert.equal(
        (await rowsOf(`migrations/export.csv?provider=${id}&direction=out`)).length,
        number(of('from_provider = ?'), id),
      );
      const both = await rowsOf(`migrations/export.csv?provider=${id}`);
      assert.equal(both.length, number(of('(to_provider = ?1 OR from_provider = ?1)'), id));
      const times = both.map(([, at = '']) => at);
      assert.deepEqual(times, times.toSorted().reverse(), 'newest first');
    }
  });

  it('search by provider, category, sector, flag and part of the name, alone and together', async () => {
    const matches = (profile: StoredProfile, filter: Record<string, string>) =>
      (!filter.q || profile.domain.includes(filter.q)) &&
      (!filter.sector || profile.sector === filter.sector) &&
      (!filter.state || profile.state === filter.state) &&
      (!filter.flag || (profile.security.dnssec.isSigned ?? false)) &&
      ((!filter.provider && !filter.category && !filter.confidence) ||
        profile.services.some(
          (service) =>
            (!filter.provider || service.provider === filter.provider) &&
            (!filter.category || service.category === filter.category) &&
            (!filter.confidence || service.confidence === filter.confidence),
        ));
    const filters: Record<string, string>[] = [
      {},
      { q: 'a' },
      { q: 'co' },
      { q: '.de' },
      { q: 'stone' },
      { category: 'cdn' },
      { category: 'email', confidence: 'medium' },
      { confidence: 'low' },
      { provider: 'cloudflare' },
      { provider: 'cloudflare', category: 'cdn' },
      { provider: 'google-workspace', category: 'email', q: 'r' },
      { provider: 'cloudflare', confidence: 'high', state: 'active', flag: 'dnssec' },
      { state: 'parked' },
      { sector: 'government' },
      { flag: 'dnssec', q: 'e' },
    ];
    for (const filter of filters) {
      const query = new URLSearchParams({ ...filter, limit: '1000' });
      const { total, results } = await get(`search?${query}`);
      const expected = profiles
        .filter((profile) => matches(profile, filter))
        .map(({ domain }) => domain)
        .sort();
      const { q = '' } = filter;
      const ranked = [
        ...expected.filter((name) => name.startsWith(q)),
        ...expected.filter((name) => !name.startsWith(q)),
      ];
      assert.deepEqual(
        results.map((each: Row) => each.domain),
        ranked,
        String(query),
      );
      assert.equal(total, ranked.length);
      const paged: string[] = [];
      for (let offset = 0; offset < Math.min(total, 30); offset += 7) {
        const page = await get(`search?${new URLSearchParams({ ...filter, limit: '7', offset: String(offset) })}`);
        paged.push(...page.results.map((each: Row) => String(each.domain)));
      }
      assert.deepEqual(paged, ranked.slice(0, paged.length), 'pages neither skip nor repeat');
    }
    const { results } = await get('search?limit=1000');
    for (const found of results) {
      const profile = profiles.find(({ domain }) => domain === found.domain);
      assert.deepEqual(
        found.services.map((each: Row) => [each.category, each.provider_id, each.confidence].join()).sort(),
        profile?.services.map(({ category, provider, confidence }) => [category, provider, confidence].join()).sort(),
      );
      assert.deepEqual([found.scanned_at, found.score], [profile?.scannedAt.toISOString(), profile?.security.score]);
    }
  });

  it('market share, with and without parked names', async () => {
    for (const isParkedIn of [false, true]) {
      const { categories } = await get(`intelligence/market-share?include_parked=${isParkedIn}`);
      const population = profiles.filter(({ state }) => state === 'active' || (isParkedIn && state === 'parked'));
      for (const each of categories) {
        const firm = (profile: StoredProfile) =>
          profile.services.filter(({ category, confidence }) => category === each.category && confidence !== 'low');
        const weights = new Map<string, number>();
        let attributed = 0;
        for (const profile of population) {
          const holders = firm(profile);
          if (holders.length > 0) attributed += 1;
          for (const { provider } of holders) weights.set(provider, (weights.get(provider) ?? 0) + 1 / holders.length);
        }
        const selfHosted = each.denominator - attributed;
        assert.ok(selfHosted >= 0 && each.domains >= each.denominator);
        const squares = [...weights.values()].reduce((sum, weight) => sum + (weight / each.denominator) ** 2, 0);
        if (each.denominator > 0)
          near(each.hhi, 10_000 * (squares + selfHosted / each.denominator ** 2), each.category);
        assert.equal(each.total, weights.size);
        for (const { provider_id, share } of each.providers)
          near(share, (weights.get(provider_id) ?? 0) / each.denominator, provider_id);
        const shares = each.providers.map((row: Row) => row.share);
        assert.deepEqual(
          shares,
          shares.toSorted((a: number, b: number) => b - a),
        );
      }
    }
    assert.deepEqual(
      (await get('intelligence/market-share')).categories.map((each: Row) => each.category),
      [...CATEGORIES],
    );
    assert.equal(CATEGORIES.length, Object.keys(ROLES).length);
  });

  it('supply chain, adoption and provider pages', async () => {
    const users = new Map(
      ids().map((id) => [id, profiles.filter(({ services }) => services.some(({ provider }) => provider === id))]),
    );
    const together = (a: string, b: string) =>
      (users.get(a) ?? []).filter((profile) => (users.get(b) ?? []).includes(profile)).length;
    const { rulebook } = stack.running.service.app;
    const owner = (id: string) => rulebook.providers.get(id)?.owner ?? rulebook.providers.get(id)?.name ?? id;
    for (const id of ['cloudflare', 'google-workspace', 'lets-encrypt', 'php', 'microsoft-365', 'godaddy']) {
      const own = users.get(id) ?? [];
      const chain = await get(`intelligence/supply-chain/${id}`);
      assert.equal(chain.dependent_domains, own.length);
      const sole = own.filter(({ services }) =>
        services.some(
          ({ provider, category, confidence }) =>
            provider === id &&
            confidence !== 'low' &&
            services.filter((other) => other.category === category && other.confidence !== 'low').length === 1,
        ),
      );
      assert.equal(chain.sole_source_domains, sole.length);
      const others = [...users.keys()].filter((other) => owner(other) !== owner(id) && together(id, other) >= 20);
      for (const [list, of] of [
        [chain.upstream, () => own.length],
        [chain.downstream, (other: string) => users.get(other)?.length ?? 0],
      ] as const) {
        assert.equal(list.length, Math.min(others.length, 20));
        for (const { provider_id, domains, share } of list) {
          assert.equal(domains, together(id, provider_id));
          near(share, domains / of(provider_id), provider_id);
        }
      }
      const adoption = await get(`intelligence/adoption/${id}`);
      assert.equal(adoption.domains, own.length);
      assert.equal(adoption.co_adoption.length, Math.min(others.length, 50));
      for (const { provider_id, domains, jaccard, lift } of adoption.co_adoption) {
        const size = users.get(provider_id)?.length ?? 0;
        assert.equal(domains, together(id, provider_id));
        near(jaccard, domains / (own.length + size - domains), provider_id);
        near(lift, (domains * profiles.length) / (own.length * size), provider_id);
      }
      const last = adoption.curve.at(-1);
      assert.equal(last.domains, own.length);
      const page = await get(`providers/${id}?limit=1000`);
      assert.deepEqual(
        page.domains.results.map((row: Row) => row.domain),
        own.map(({ domain }) => domain).sort(),
      );
      assert.deepEqual(
        (await rowsOf(`providers/${id}/domains.csv`)).map(([name]) => name),
        own.map(({ domain }) => domain).sort(),
      );
      assert.equal(page.gained_30d - page.lost_30d, page.market.change_30d);
      assert.equal(last.added - last.removed, page.market.change_30d, 'everything moved today');
      const larger = [...users].filter(
        ([other, list]) => list.length > own.length || (list.length === own.length && other < id),
      );
      assert.equal(page.market.rank, larger.length + 1);
    }
  });

  it('security scorecard and its export', async () => {
    const card = await get('intelligence/security-scorecard');
    const living = profiles.filter(({ state }) => state === 'active' || state === 'parked');
    assert.equal(card.domains, living.length);
    const count = (is: (profile: StoredProfile) => boolean) => living.filter(is).length;
    const { adoption } = card;
    const spf = count(({ security }) => security.spf.result !== 'unmeasured');
    assert.deepEqual(adoption.spf, {
      domains: count(({ security }) => security.spf.result === 'valid'),
      measured: spf,
      share: adoption.spf.domains / spf,
    });
    assert.equal(
      adoption.spf_fail.domains,
      count(({ security }) => security.spf.result === 'valid' && security.spf.all === '-all'),
    );
    assert.equal(
      adoption.spf_softfail.domains,
      count(({ security }) => security.spf.result === 'valid' && security.spf.all === '~all'),
    );
    for (const policy of ['none', 'quarantine', 'reject'] as const) {
      assert.equal(
        adoption[`dmarc_${policy}`].domains,
        count(({ security }) => security.dmarc.policy === policy),
      );
      assert.equal(
        adoption[`dmarc_effective_${policy}`].domains,
        count(({ security }) => security.dmarc.effectivePolicy === policy),
      );
    }
    assert.equal(
      adoption.dnssec.domains,
      count(({ security }) => security.dnssec.isSigned === true),
    );
    assert.equal(
      adoption.dnssec.measured,
      count(({ security }) => security.dnssec.isSigned !== null),
    );
    assert.equal(
      adoption.mta_sts.domains,
      count(({ security }) => security.mtaSts.hasRecord === true),
    );
    assert.equal(
      adoption.tls_rpt.domains,
      count(({ security }) => security.tlsRpt.hasRecord === true),
    );
    assert.equal(
      adoption.bimi.domains,
      count(({ security }) => security.bimi.hasRecord === true),
    );
    assert.equal(
      adoption.caa.domains,
      count(({ security }) => security.caa.status === 'observed'),
    );
    assert.equal(
      card.both.domains,
      count(({ security }) => security.spf.result === 'valid' && security.dmarc.policy !== null),
    );
    for (const { grade, domains } of card.grades)
      assert.equal(
        domains,
        count(({ security }) => security.grade === grade),
        grade,
      );
    assert.equal(
      card.by_sector.reduce((sum: number, each: Row) => sum + Number(each.domains), 0),
      living.length,
    );

    const scored = living
      .filter(({ security }) => security.score !== null)
      .sort((a, b) => (a.security.score ?? 0) - (b.security.score ?? 0) || (a.domain < b.domain ? -1 : 1));
    const rows = await rowsOf('security/export.csv');
    assert.deepEqual(
      rows.map(([domain, , score, grade]) => [domain, Number(score), grade]),
      scored.map(({ domain, security }) => [domain, security.score, security.grade]),
    );
    const low = await rowsOf('security/export.csv?score_lte=40&sector=unknown');
    assert.deepEqual(
      low.map(([domain]) => domain),
      scored
        .filter(({ sector, security }) => sector === 'unknown' && (security.score ?? 0) <= 40)
        .map(({ domain }) => domain),
    );
  });
});
