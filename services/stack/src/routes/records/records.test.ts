// Records of a domain now, on a date and over time, and pivots: answers, pages, and what is refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf, shared } from '../../../../../tests/support/index.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf, withTxt } from '../../store/test/scans.ts';
import { assertDescribed, type Body, sharedInternet, startHarness } from '../../test/index.ts';
import { sharedBound } from './record-fields.ts';

const service = await shared(async () => startHarness({ internet: await sharedInternet() }))();
const [a, b, c, d] = ['records-a.com', 'records-b.com', 'records-c.com', 'records-d.com'] as const;
const TOKEN = 'owner-site-verification=of-all-three';
for (const [domain, n, exchange] of casesOf<[string, number, string | null][]>('stack', 'exchanges of records')) {
  const token = domain === d ? 'none' : TOKEN;
  const scan = withTxt(scanOf(domain, day(n), exchange), [token, `v=spf1 include:${domain} -all`]);
  await service.running.app.store.recordScans([scan], confirm);
}
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
const ask = async (path: string): Promise<any> => (await service.get(`/stack/v1/${path}`)).body;

it('records are those of now, or of a date, with their times and the domains that share them', async () => {
  const mx = (body: { records: { kind: string }[] }) => body.records.find(({ kind }) => kind === 'mx');
  const now = await ask(`domains/${a}/records`);
  assertDescribed('/stack/v1/domains/{domain}/records', now);
  const times = { first_seen: day(2), last_seen: day(2), ended_at: null };
  assert.partialDeepStrictEqual(mx(now), { value: MICROSOFT, ...times, other_domains: 0 });
  assert.deepEqual([now.at, now.observed_since, now.total], [null, day(0), now.records.length]);
  const then = mx(await ask(`domains/${a}/records?at=2026-01-02`));
  assert.partialDeepStrictEqual(then, { value: GOOGLE, ended_at: day(2) });
  assert.equal((await ask(`domains/${a}/records?at=2025-12-31`)).total, 0);
  const domains = now.related.slice(0, 2).map(({ domain }: { domain: string }) => domain);
  assert.deepEqual(domains, [b, c]);
  assert.deepEqual(now.related[0].values[0], { kind: 'verification', value: TOKEN });
  const { text: csv } = await service.get(`/stack/v1/exports/records?q=${a}&kind=mx`);
  const rows = [`mx,${GOOGLE},${day(0)},${day(0)},${day(2)}`, `mx,${MICROSOFT},${day(2)},${day(2)},`];
  assert.deepEqual(csv.trim().split('\r\n').slice(1).sort(), rows.map((row) => `${a},${row}`).sort());
});

it('a history is newest first, by kind and window, in pages', async () => {
  const history = `domains/${a}/history?kind=mx`;
  const all = await ask(history);
  assertDescribed('/stack/v1/domains/{domain}/history', all);
  const changes = (body: { changes: { at: string; type: string; value: string }[] }) =>
    body.changes.map(({ at, type, value }) => [at, type, value]);
  const expected = [
    [day(2), 'appeared', MICROSOFT],
    [day(2), 'disappeared', GOOGLE],
  ];
  assert.deepEqual([changes(all), all.total, all.next_cursor], [expected, 2, null]);
  const page = await ask(`${history}&limit=1`);
  const next = await ask(`${history}&limit=1&cursor=${page.next_cursor}`);
  assert.deepEqual([...changes(page), ...changes(next)], expected);
  assert.equal((await ask(`${history}&since=2026-01-04`)).total, 0);
  // The first look-up failed: what was found later is not a change.
  const unknown = await ask(`domains/${d}/history?kind=mx`);
  const moved = [
    [day(4), 'appeared', 'second.example'],
    [day(4), 'disappeared', 'first.example'],
  ];
  assert.deepEqual([changes(unknown), unknown.unmeasured], [moved, [{ kind: 'mx', until: day(2) }]]);
  const [failed] = unknown.incomplete_scans.filter((each: { unmeasured: string[] }) => each.unmeasured.includes('mx'));
  assert.deepEqual(failed, { at: day(0), resolved: true, unmeasured: ['mx'] });
  const unmeasured = async (at: string) => (await ask(`domains/${d}/records?at=${at}`)).unmeasured.includes('mx');
  assert.deepEqual([await unmeasured('2026-01-02'), await unmeasured('2026-01-03')], [true, false]);
});

it('a pivot counts first, and lists domains with the value now or in the past', async () => {
  const present = await ask(`pivot/verification/${encodeURIComponent(TOKEN)}`);
  assertDescribed('/stack/v1/pivot/{kind}/{value}', present);
  assert.partialDeepStrictEqual(present, { total: 3, total_ever: 3, more_than_counted: false, shared: false });
  const past = await ask(`pivot/MX/${GOOGLE.toUpperCase()}.?status=past`);
  assert.partialDeepStrictEqual(past.domains, [{ domain: a, last_seen: day(0), ended_at: day(2) }]);
  const ca = await ask('pivot/ns/ada.ns.cloudflare.com');
  assert.deepEqual([ca.shared, ca.shared_reason === null], [ca.total > 20, ca.total <= 20]);
  assert.partialDeepStrictEqual(await ask('pivot/tag/G-NOBODY0000'), { total: 0, domains: [] });
});

it('a value is shared by more than a hundredth of all domains, at least 20 and at most 1,000', () => {
  const bounds = [0, 2_000, 2_001, 99_900, 200_000].map((size) => sharedBound({ known: { size } }));
  assert.deepEqual(bounds, [20, 20, 21, 999, 1_000]);
});

it('the names in a certificate of many domains are shared ones, and show no relation', async () => {
  for (const [size, isShared] of [[10, false] as const, [11, true] as const]) {
    const [own = '', other = '', ...rest] = Array.from({ length: size }, (_, i) => `certificate-${size}-${i}.com`);
    for (const domain of [own, other]) {
      const { evidence, ...scan } = scanOf(domain, day(0), null);
      const tls = { ...evidence.tls, status: 'found', names: [own, `*.${own}`, other, ...rest] } as const;
      await service.running.app.store.recordScans([{ ...scan, evidence: { ...evidence, tls } }], confirm);
    }
    const { records, related } = await ask(`domains/${own}/records`);
    const named = records.filter(({ kind }: { kind: string }) => kind === 'certificate_name');
    assert.deepEqual([named.length, ...new Set(named.map((each: Body) => each.shared))], [size + 1, isShared]);
    assert.equal(JSON.stringify(related).includes('certificate_name'), !isShared);
    const { shared, shared_reason: reason } = await ask(`pivot/certificate_name/*.${own}`);
    assert.deepEqual([shared, /names of 11 registrable domains/.test(reason)], [isShared, isShared]);
  }
});

it('a kind, value, time or cursor that cannot be used is refused', async () => {
  for (const [given, field, message] of casesOf<[string, string, string][]>('stack', 'refused records')) {
    const path = given.replace('{domain}', a).replace('{long}', 'x'.repeat(1_100));
    const { status, body } = await service.get(`/stack/v1/${path}`);
    assert.deepEqual([status, body.errors?.[0]?.field], [400, field], path);
    assert.match(String(body.errors?.[0]?.message), new RegExp(message));
  }
});
