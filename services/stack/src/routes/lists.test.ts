// The lists behind the numbers: exports cell by cell, and searches that find exactly as many as an answer counts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { StoredProfile } from '@strata/store';
import type { StackApp } from '../app.ts';
import { type Row, sharedTimeline, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
let app: StackApp;
async function open(): Promise<void> {
  timeline = await sharedTimeline();
  app = timeline.service.running.service.app;
}

describe('exports', () => {
  before(open);

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

  it('security: worst first, every cell, for every sector and at the edges of the score', async () => {
    const scored = timeline
      .live()
      .filter(({ security }) => security.score !== null)
      .sort((a, b) => Number(a.security.score) - Number(b.security.score) || (a.domain < b.domain ? -1 : 1));
    assert.deepEqual(await timeline.rows('security/export.csv'), scored.map(cellsOf));
    const better = scored.filter(({ security }) => Number(security.score) > 1);
    const middle = Number(better[Math.floor(better.length / 2)]?.security.score);
    for (const sector of new Set(scored.map((profile) => profile.sector)))
      for (const most of [0, middle - 1, middle]) {
        const expected = scored.filter((each) => each.sector === sector && Number(each.security.score) <= most);
        const rows = await timeline.rows(`security/export.csv?sector=${sector}&score_lte=${most}`);
        assert.deepEqual(rows, expected.map(cellsOf), `${sector} up to ${most}`);
      }
  });

  it('domains of a provider: its categories, the best confidence, state, sector, score and time', async () => {
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
});

describe('search', () => {
  before(open);

  const search = async (query: Readonly<Record<string, string>>) =>
    timeline.get(`search?${new URLSearchParams(query)}`);
  /** How many domains it finds. */
  const found = async (query: Readonly<Record<string, string>>): Promise<number> =>
    (await search({ ...query, limit: '1' })).total;

  it('finds a name, the exact one first, in pages, and a provider by id, name or alias in any case', async () => {
    const [{ domain: name = '' } = {}] = timeline.profiles;
    const { results } = await search({ q: name.slice(0, 3).toUpperCase(), limit: '1000' });
    assert.ok(results.length > 0 && results.every(({ domain }: Row) => String(domain).includes(name.slice(0, 3))));
    assert.equal((await search({ q: name })).results[0].domain, name);
    const { results: whole } = await search({ q: 'e', limit: '1000' });
    const page = await search({ q: 'e', limit: '50', offset: '50' });
    assert.deepEqual([page.total, page.limit, page.offset], [whole.length, 50, 50]);
    assert.deepEqual(page.results, whole.slice(50, 100));
    for (const id of timeline.inUse.filter((_, i) => i % 12 === 0)) {
      const entry = app.rulebook.providers.get(id) ?? assert.fail(id);
      const known = await search({ provider: id });
      assert.equal(known.total, timeline.users(id).length);
      for (const form of [id.toUpperCase(), entry.name.toLowerCase(), ...entry.aliases])
        assert.deepEqual((await search({ provider: form })).results, known.results, form);
    }
  });

  it('has the list behind each number: a provider in a market, by state', async () => {
    for (const [state, isParkedIn] of [
      ['active', 'false'],
      ['live', 'true'],
    ] as const) {
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

  it('has the list behind each number: standards, what they were measured in, sectors and grades', async () => {
    const card = await timeline.get('intelligence/security-scorecard');
    const { sector } = card.by_sector.toSorted((a: Row, b: Row) => Number(b.domains) - Number(a.domains))[0];
    const ofSector = card.by_sector.find((row: Row) => row.sector === sector);
    for (const [of, more] of [[card, {}] as const, [ofSector, { sector }] as const]) {
      assert.equal(await found({ state: 'live', ...more }), of.domains);
      for (const [standard, flag, measured] of [
        ['spf', 'spf_valid', 'spf_measured'],
        ['dmarc', 'dmarc_valid', 'dmarc_measured'],
        ['dmarc_reject', 'dmarc_reject', 'dmarc_measured'],
        ['dnssec', 'dnssec', 'dnssec_measured'],
        ['tls_trusted', 'tls_trusted', 'tls_measured'],
      ] as const) {
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
});
