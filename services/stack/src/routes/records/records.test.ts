// Records of a domain now, on a date and over time, and pivots: answers, pages, and what is refused.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { confirm, day, GOOGLE, MICROSOFT, scanOf, withTxt } from '../../store/test/scans.ts';
import { assertDescribed } from '../../test/described.ts';
import { sharedService } from '../../test/shared.ts';

const service = await sharedService();
const [a, b, c] = ['records-a', 'records-b', 'records-c'].map((name) => `${name}.com`) as [string, string, string];
const TOKEN = 'owner-site-verification=of-all-three';
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
const ask = async (path: string): Promise<any> => {
  const { status, body } = await service.get(`/stack/v1/${path}`);
  return { status, ...body };
};

before(async () => {
  const record = async (domain: string, n: number, exchange: string | null) => {
    const scan = withTxt(scanOf(domain, day(n), exchange), [TOKEN, `v=spf1 include:${domain} -all`]);
    await service.running.app.store.recordScans([scan], confirm);
  };
  for (const domain of [a, b, c]) await record(domain, 0, GOOGLE);
  await record(a, 2, MICROSOFT);
  await record(a, 4, null);
});

describe('the records of a domain', () => {
  const mx = (body: { records: { kind: string }[] }) =>
    body.records.filter(({ kind }) => kind === 'mx').map((each) => ({ ...each, kind: undefined, shared: undefined }));

  it('are those of now, or of a date, with their times and who shares them', async () => {
    const now = await ask(`domains/${a}/records`);
    assertDescribed('/stack/v1/domains/{domain}/records', now);
    const [first] = mx(now) as unknown as Record<string, unknown>[];
    const times = { first_seen: day(2), last_seen: day(2), ended_at: null };
    assert.partialDeepStrictEqual(first, { value: MICROSOFT, ...times, other_domains: 0 });
    assert.deepEqual([now.at, now.observed_since, now.total], [null, day(0), now.records.length]);
    const then = await ask(`domains/${a}/records?at=2026-01-02`);
    assert.partialDeepStrictEqual(mx(then)[0], { value: GOOGLE, ended_at: day(2) });
    assert.equal((await ask(`domains/${a}/records?at=2025-12-31`)).total, 0);
    const owners = now.related.map(({ domain }: { domain: string }) => domain);
    assert.deepEqual(
      owners.filter((name: string) => name.startsWith('records-')),
      [b, c],
    );
    const shared = now.related[0].values.map(({ value }: { value: string }) => value);
    assert.ok(shared.includes(TOKEN) && !shared.includes(`v=spf1 include:${a} -all`), String(shared));
  });

  it('have a history, newest first, by kind and window, in pages', async () => {
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
    assert.deepEqual(changes(page), expected.slice(0, 1));
    assert.deepEqual(changes(await ask(`${history}&limit=1&cursor=${page.next_cursor}`)), expected.slice(1));
    assert.equal((await ask(`${history}&since=2026-01-04`)).total, 0);
  });
});

describe('a pivot', () => {
  it('counts first, and lists domains with the value now or in the past, in pages', async () => {
    const present = await ask(`pivot/verification/${encodeURIComponent(TOKEN)}`);
    assertDescribed('/stack/v1/pivot/{kind}/{value}', present);
    assert.partialDeepStrictEqual(present, { total: 3, total_ever: 3, more_than_counted: false, shared: false });
    assert.deepEqual(
      present.domains.map(({ domain }: { domain: string }) => domain),
      [a, b, c],
    );
    const path = `pivot/MX/${GOOGLE.toUpperCase()}.`;
    const past = await ask(`${path}?status=past`);
    assert.partialDeepStrictEqual(past.domains, [
      { domain: a, first_seen: day(0), last_seen: day(0), ended_at: day(2) },
    ]);
    assert.ok(past.total_ever > past.total);
    const page = await ask(`${path}?limit=1`);
    const next = await ask(`${path}?limit=1&cursor=${page.next_cursor}`);
    assert.notEqual(next.domains[0].domain, page.domains[0].domain);
    const ca = await ask('pivot/ns/ada.ns.cloudflare.com');
    assert.deepEqual([ca.kind, ca.shared, ca.shared_reason === null], ['ns', ca.total > 20, ca.total <= 20]);
    assert.partialDeepStrictEqual(await ask('pivot/tag/G-NOBODY0000'), { status: 'present', total: 0, domains: [] });
  });
});

for (const [path, status, field, message] of [
  ['pivot/mxx/a.example', 400, 'kind', /did you mean mx\?/],
  ['pivot/address/nonsense', 400, 'value', /is not a value of kind address/],
  ['pivot/asn/AS', 400, 'value', /kind asn/],
  [`pivot/txt/${'x'.repeat(1_100)}`, 400, 'value', /too long/],
  ['pivot/ns/a.example?status=ended', 400, 'status', /present, past/],
  ['pivot/ns/a.example?cursor=x', 400, 'cursor', /next_cursor/],
  [`domains/${a}/records?at=2026-02-30`, 400, 'at', /must be a date/],
  [`domains/${a}/records?at=2999-01-01`, 400, 'at', /in the future/],
  [`domains/${a}/history?kind=m`, 400, 'kind', /did you mean mx\?/],
  [`domains/${a}/history?until=2026-01-01`, 400, 'until', /needs since/],
  ['domains/co.uk/records', 400, 'domain', /public suffix/],
  ['domains/co.uk/history', 400, 'domain', /public suffix/],
] as const)
  it(`${path.slice(0, 60)} is refused`, async () => {
    const { status: found, body } = await service.get(`/stack/v1/${path}`);
    assert.deepEqual([found, body.errors?.[0]?.field], [status, field]);
    assert.match(String(body.errors?.[0]?.message), message);
  });
