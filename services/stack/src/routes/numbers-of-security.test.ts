// The scorecard and the exports, cell by cell, against the profiles that they summarise; search in its promised order.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { StoredProfile } from '@strata/store';
import { liveThrough, type Row, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
before(async () => {
  timeline = await liveThrough({ domains: 130 });
});
after(() => timeline?.[Symbol.asyncDispose]());

type Security = StoredProfile['security'];
type Judged = boolean | null;

/** For each standard whether a domain has it; null where its look-up was not answered. */
const spf = (is: (spf: Security['spf']) => boolean) => (security: Security) =>
  security.spf.result === 'unmeasured' ? null : is(security.spf);
const valid = (all: string) => spf((each) => each.result === 'valid' && each.all === all);
const dmarc = (is: (dmarc: Security['dmarc']) => boolean) => (security: Security) =>
  security.dmarc.status === 'unmeasured' ? null : is(security.dmarc);
const STANDARDS: Readonly<Record<string, (security: Security) => Judged>> = {
  spf: spf(({ result }) => result === 'valid'),
  spf_fail: valid('-all'),
  spf_softfail: valid('~all'),
  spf_neutral: valid('?all'),
  spf_pass: valid('+all'),
  spf_permerror: spf(({ result }) => result === 'permerror'),
  dmarc: dmarc(({ policy }) => policy !== null),
  dmarc_none: dmarc(({ policy }) => policy === 'none'),
  dmarc_quarantine: dmarc(({ policy }) => policy === 'quarantine'),
  dmarc_reject: dmarc(({ policy }) => policy === 'reject'),
  dmarc_effective_none: dmarc(({ effectivePolicy }) => effectivePolicy === 'none'),
  dmarc_effective_quarantine: dmarc(({ effectivePolicy }) => effectivePolicy === 'quarantine'),
  dmarc_effective_reject: dmarc(({ effectivePolicy }) => effectivePolicy === 'reject'),
  dmarc_reporting: dmarc(({ policy, hasReporting }) => policy !== null && hasReporting),
  mta_sts: ({ mtaSts }) => mtaSts.hasRecord,
  tls_rpt: ({ tlsRpt }) => tlsRpt.hasRecord,
  dnssec: ({ dnssec }) => dnssec.isSigned,
  caa: ({ caa }) => (caa.status === 'unmeasured' ? null : caa.status === 'observed'),
  bimi: ({ bimi }) => bimi.hasRecord,
  tls_trusted: ({ tls }) => (tls.status === 'observed' ? tls.isTrusted : null),
};

const live = () => timeline.profiles.filter(({ state }) => state === 'active' || state === 'parked');
const adoptionIn = (profiles: readonly StoredProfile[], judge: (security: Security) => Judged) => {
  const judged = profiles.map(({ security }) => judge(security)).filter((each) => each !== null);
  const domains = judged.filter(Boolean).length;
  return { domains, measured: judged.length, share: judged.length === 0 ? null : domains / judged.length };
};
const meanScore = (profiles: readonly StoredProfile[]) => {
  const scores = profiles.map(({ security }) => security.score).filter((score) => score !== null);
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
};
const yesNo = (judged: Judged | undefined) => (judged === null || judged === undefined ? '' : judged ? 'yes' : 'no');

describe('the security scorecard', () => {
  it('counts every standard over all domains and in every sector', async () => {
    const card = await timeline.get('intelligence/security-scorecard');
    const sectors = Map.groupBy(live(), ({ sector }) => sector);
    assert.ok(sectors.size > 1 && card.domains === live().length);
    assert.deepEqual(Object.keys(card.adoption), Object.keys(STANDARDS));
    assert.deepEqual(card.by_sector.map(({ sector }: Row) => sector).sort(), [...sectors.keys()].sort());
    for (const [name, judge] of Object.entries(STANDARDS)) {
      assert.deepEqual(card.adoption[name], adoptionIn(live(), judge), name);
      for (const { sector, adoption } of card.by_sector)
        assert.deepEqual(adoption[name], adoptionIn(sectors.get(sector) ?? [], judge), `${name} in ${sector}`);
    }
    for (const { sector, domains, mean_score } of card.by_sector)
      assert.deepEqual([domains, mean_score], [sectors.get(sector)?.length, meanScore(sectors.get(sector) ?? [])]);
    assert.deepEqual(
      card.both,
      adoptionIn(live(), (security) => {
        const [a, b] = [STANDARDS.spf?.(security) ?? null, STANDARDS.dmarc?.(security) ?? null];
        return a === null || b === null ? null : a && b;
      }),
    );
    const graded = live().filter(({ security }) => security.grade !== null);
    assert.deepEqual([card.scored, card.mean_score], [graded.length, meanScore(live())]);
    assert.deepEqual(
      card.grades,
      ['A+', 'A', 'B', 'C', 'D', 'F'].map((grade) => ({
        grade,
        domains: graded.filter(({ security }) => security.grade === grade).length,
      })),
    );
  });

  it('as CSV: worst first, every cell, for every sector and at the edges of the score', async () => {
    const rowOf = ({ domain, sector, security, scannedAt }: StoredProfile) => {
      const { spf, dmarc } = security;
      const all = { '-all': 'fail', '~all': 'softfail', '?all': 'neutral', '+all': 'pass' };
      const asked = spf.result === 'valid' ? (spf.all === null ? 'valid' : all[spf.all]) : spf.result;
      const isMeasured = dmarc.status !== 'unmeasured';
      return [
        domain,
        sector,
        String(security.score),
        security.grade,
        spf.result === 'unmeasured' ? '' : asked,
        isMeasured ? (dmarc.policy ?? 'missing') : '',
        isMeasured ? (dmarc.effectivePolicy ?? 'missing') : '',
        ...['dmarc_reporting', 'mta_sts', 'tls_rpt', 'dnssec', 'caa', 'bimi', 'tls_trusted'].map((name) =>
          yesNo(STANDARDS[name]?.(security)),
        ),
        scannedAt.toISOString(),
      ];
    };
    const scored = live()
      .filter(({ security }) => security.score !== null)
      .sort((a, b) => Number(a.security.score) - Number(b.security.score) || (a.domain < b.domain ? -1 : 1));
    assert.deepEqual(await timeline.rows('security/export.csv'), scored.map(rowOf));
    const middle = Number(scored[Math.floor(scored.length / 2)]?.security.score);
    for (const sector of new Set(scored.map((profile) => profile.sector))) {
      for (const most of [0, middle - 1, middle, 100]) {
        const expected = scored.filter((each) => each.sector === sector && Number(each.security.score) <= most);
        const rows = await timeline.rows(`security/export.csv?sector=${sector}&score_lte=${most}`);
        assert.deepEqual(rows, expected.map(rowOf), `${sector} up to ${most}`);
      }
    }
  });
});

describe('the domains of a provider as CSV', () => {
  it('have its categories, the best confidence and what lists tell', async () => {
    const ids = new Set(timeline.profiles.flatMap(({ services }) => services.map(({ provider }) => provider)));
    const order = ['high', 'medium', 'low'];
    for (const id of [...ids].filter((_, i) => i % 3 === 0)) {
      const users = timeline.profiles.filter(({ services }) => services.some(({ provider }) => provider === id));
      const rows = await timeline.rows(`providers/${id}/domains.csv`);
      assert.deepEqual(
        rows.map(([domain, categories = '', ...rest]) => [domain, categories.split(' ').sort().join(' '), ...rest]),
        users
          .sort((a, b) => (a.domain < b.domain ? -1 : 1))
          .map(({ domain, services, state, sector, security, scannedAt }) => {
            const own = services.filter(({ provider }) => provider === id);
            const categories = own.map(({ category }) => category).sort();
            const best = order.find((level) => own.some(({ confidence }) => confidence === level));
            return [
              domain,
              categories.join(' '),
              best,
              state,
              sector,
              String(security.score ?? ''),
              scannedAt.toISOString(),
            ];
          }),
        id,
      );
    }
  });
});

describe('search', () => {
  it('tells the exact name first, then names that begin with it, then names that hold it', async () => {
    const names = timeline.profiles.map(({ domain }) => domain).sort();
    const parts = new Set(names.flatMap((name) => [name, name.slice(0, 3), name.slice(2, 5), name.slice(-4)]));
    for (const part of [...parts].filter((_, i) => i % 3 === 0)) {
      const { total, results } = await timeline.get(`search?q=${part.toUpperCase()}&limit=1000`);
      const place = (name: string) => (name === part ? 0 : name.startsWith(part) ? 1 : 2);
      const expected = names.filter((name) => name.includes(part)).sort((a, b) => place(a) - place(b));
      assert.deepEqual(
        results.map(({ domain }: Row) => domain),
        expected,
        part,
      );
      assert.equal(total, expected.length);
    }
  });

  it('pages end to end without a gap or a repetition, whatever their size', async () => {
    const { results: whole } = await timeline.get('search?q=e&limit=1000');
    for (const limit of [1, 7, 50]) {
      const paged = [];
      for (let offset = 0; offset <= whole.length; offset += limit) {
        const page = await timeline.get(`search?q=e&limit=${limit}&offset=${offset}`);
        assert.deepEqual([page.total, page.limit, page.offset], [whole.length, limit, offset]);
        paged.push(...page.results);
      }
      assert.deepEqual(paged, whole);
    }
    assert.deepEqual((await timeline.get(`search?q=e&offset=${whole.length}`)).results, []);
  });

  it('takes a provider by id, name or alias, in any case, for the same', async () => {
    const { providers } = timeline.service.running.service.app.rulebook;
    const { results: known } = await timeline.get('search?limit=1000');
    const inUse = new Set<string>(
      known.flatMap(({ services }: { services: Row[] }) => services.map((each) => each.provider_id)),
    );
    for (const id of [...inUse].filter((_, i) => i % 6 === 0)) {
      const entry = providers.get(id);
      assert.ok(entry, id);
      const { total, results } = await timeline.get(`search?provider=${id}`);
      assert.ok(total > 0);
      for (const name of [id.toUpperCase(), entry.name, entry.name.toLowerCase(), ...entry.aliases]) {
        const found = await timeline.get(`search?provider=${encodeURIComponent(name)}`);
        assert.deepEqual([found.total, found.results], [total, results], name);
      }
    }
  });
});
