// Queries in requests: the same domains as by filters, pages, facets, and refusals with their position.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { assertDescribed, sharedService } from '../../test/index.ts';

const PATH = '/stack/v1/query';
const service = await sharedService();
const key = await service.newKey();
const headers = { 'x-stack-key': key, 'content-type': 'application/json' };
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
type Any = any;
const ask = async (body: unknown) =>
  (await service.ask(PATH, { method: 'POST', headers, body: JSON.stringify(body) })) as { status: number; body: Any };
const search = async (query: string) => (await service.get(`/stack/v1/search?${query}`)).body as Any;

it('a query finds what filters find, beside them and alone', async () => {
  const filtered = await search('state=active&flag=spf_valid&limit=1000');
  const { status, body } = await ask({ query: 'state:active spf:valid', limit: 1000 });
  assert.equal(status, 200);
  assertDescribed(PATH, body, { method: 'post' });
  assert.ok(filtered.total > 2);
  assert.deepEqual([body.total, body.results], [filtered.total, filtered.results]);
  assert.deepEqual((await search('state=active&query=spf:valid&limit=1000')).results, filtered.results);
  assert.equal((await search('flag=spf_valid&query=NOT%20spf:valid')).total, 0);
});

for (const sort of 'name score -score scanned_at -scanned_at first_seen -first_seen changed_at -changed_at'.split(' '))
  it(`a query is paged to its end by ${sort}`, async () => {
    const asked = { query: 'state:live', sort };
    const all = (await ask({ ...asked, limit: 1000 })).body.results as Any[];
    const found: Any[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor; pages += 1) {
      const { body } = await ask({ ...asked, limit: 7, ...(cursor && { cursor }) });
      found.push(...body.results);
      cursor = body.next_cursor;
    }
    assert.deepEqual(found, all);
    const { results } = await search(`state=live&sort=${sort}&limit=4&offset=3`);
    assert.deepEqual(results, all.slice(3, 7));
  });

it('a query has facets whose conditions find as many domains', async () => {
  const { body } = await ask({ query: 'state:live', facets: ['email', 'tld', 'grade'], limit: 1 });
  for (const { values } of body.facets)
    for (const { query, domains } of values.slice(0, 2))
      assert.equal((await search(`query=${encodeURIComponent(`state:live ${query}`)}`)).total, domains, query);
  const searched = await search('query=state:live&facets=email,tld,grade');
  assert.deepEqual(searched.facets, body.facets);
});
it('a query restricts leaderboards and exports to its domains', async () => {
  const query = 'state:live spf:valid';
  const { results } = (await ask({ query, limit: 1000 })).body;
  const domains = new Set(results.map(({ domain }: Any) => domain));
  const at = `query=${encodeURIComponent(query)}`;
  const get = async (path: string) => service.get(`/stack/v1/${path}${at}`);
  const leaders = (await get('stats/providers?limit=1000&')).body as Any;
  const uses = results.flatMap(({ services }: Any) => [...new Set(services.map((each: Any) => each.provider_id))]);
  const counts = Map.groupBy(uses as string[], (id) => id);
  assert.deepEqual([leaders.total, leaders.providers.length], [counts.size, counts.size]);
  for (const { provider_id, domains: count, share, change_30d } of leaders.providers)
    assert.deepEqual([count, share, change_30d], [counts.get(provider_id)?.length, count / domains.size, null]);
  const [top] = leaders.providers;
  const size = domains.size;
  for (const [path, expected] of [
    ['stats?', { domains: size, providers: counts.size, scans: null }],
    ['intelligence/security-scorecard?', { domains: size, adoption: { spf: { domains: size, measured: size } } }],
    [`intelligence/supply-chain/${top.provider_id}?`, { dependent_domains: top.domains }],
    [`intelligence/adoption/${top.provider_id}?`, { domains: top.domains, share: top.share }],
  ] as const) {
    const { status, body } = await get(path);
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(body, expected);
  }
  for (const [path, size] of [
    ['security/export.csv?', results.filter(({ score }: Any) => score !== null).length],
    [`providers/${top.provider_id}/domains.csv?`, top.domains],
  ]) {
    const rows = (await get(path as string)).text.trimEnd().split('\r\n').slice(1);
    assert.equal(rows.length, size);
    assert.ok(rows.every((row) => domains.has(row.split(',')[0])));
  }
});

type Refusal = [body: object, field: string, says: string, position?: number];
for (const [body, field, says, position] of [
  ...casesOf<Refusal[]>('stack', 'refused queries'),
  [{ query: 'a'.repeat(2_001) }, 'query', '2000'],
  [{ query: '('.repeat(1_000) }, 'query', 'nested', 17],
] as Refusal[])
  it(`a query refuses ${JSON.stringify(body).slice(0, 60)}`, async () => {
    const answer = await ask(body);
    assert.equal(answer.status, 400);
    const [error] = answer.body.errors;
    assert.deepEqual([error.field, error.position], [field, position]);
    assert.match(error.message, new RegExp(says));
  });
