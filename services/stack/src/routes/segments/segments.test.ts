// Saved segments in queries of their key, and two of them compared.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { assertDescribed, sharedService } from '../../test/index.ts';

const PATH = '/stack/v1/segments';
const service = await sharedService();
const [own, other] = [await service.newKey(), await service.newKey()];
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
type Any = any;
const ask = async (
  path: string,
  { key = own, method = 'GET', body }: { key?: string; method?: string; body?: Any } = {},
) =>
  (await service.ask(`/stack/v1/${path}`, {
    method,
    headers: { 'x-stack-key': key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })) as { status: number; body: Any };
const put = (name: string, query: string) => ask(`segments/${name}`, { method: 'PUT', body: { query } });
const totalOf = async (query: string) => (await ask(`search?limit=1&query=${encodeURIComponent(query)}`)).body.total;

it('a segment has its conditions in every query of its key, and of no other', async () => {
  assert.equal((await put('valid', 'spf:valid OR state:parked')).body.segment.query, 'spf:valid OR state:parked');
  const { segment: nested } = (await put('nested', 'state:live Segment:VALID')).body;
  assert.equal(nested.query, 'state:live (spf:valid OR state:parked)');
  const expected = await totalOf('state:active spf:valid');
  assert.ok(expected > 0);
  assert.equal(await totalOf('state:active segment:valid'), expected);
  const posted = await ask('query', { method: 'POST', body: { query: 'segment:nested state:active' } });
  assert.equal(posted.body.total, expected);
  assert.equal((await ask('stats?query=state:active%20segment:valid')).body.domains, expected);
  const list = (await ask('segments?limit=1')).body;
  assertDescribed(PATH, list);
  const { body: next } = await ask(`segments?cursor=${list.next_cursor}`);
  assert.deepEqual([list.segments[0].name, next.segments[0].name], ['nested', 'valid']);
  // The same addresses with another key, also after they were answered.
  for (const path of ['stats?query=state:active%20segment:valid', 'search?query=segment:valid'])
    assert.equal((await ask(path, { key: other })).status, 400);
  for (const method of ['GET', 'DELETE'])
    assert.equal((await ask('segments/valid', { key: other, method })).status, 404);
});

it('two segments are compared by the shares of providers and by scores', async () => {
  const sides = ['state:active', 'segment:valid state:active'];
  const at = (of: readonly string[]) => `a=${encodeURIComponent(of[0] ?? '')}&b=${encodeURIComponent(of[1] ?? '')}`;
  const { body } = await ask(`intelligence/comparison?${at(sides)}`);
  assertDescribed('/stack/v1/intelligence/comparison', body);
  assert.equal(body.a.domains, await totalOf('state:active'));
  assert.equal(body.b.domains, body.common);
  const email = encodeURIComponent(sides[1] ?? '');
  const market = (await ask(`intelligence/market-share?category=email&query=${email}`)).body.categories[0];
  const { providers } = body.categories.find(({ category }: Any) => category === 'email');
  for (const { provider_id: id, a, b, difference } of providers) {
    const own = market.providers.find((each: Any) => each.provider_id === id);
    assert.deepEqual([b.share, difference], [own?.share ?? 0, b.share - a.share], id);
  }
  assert.ok(providers.length > 2);
  const { categories, roles } = (await ask(`intelligence/comparison?${at(sides)}&role=mailbox`)).body;
  assert.deepEqual([categories, roles.length, roles[0].providers], [[], 1, providers]);
});

it('a role is a filter, a facet and a condition of the same domains', async () => {
  const { total, results, facets } = (await ask('search?role=gateway&facets=role&limit=1000')).body;
  const counted = facets[0].values.find(({ value }: Any) => value === 'gateway').domains;
  assert.deepEqual([total, await totalOf('role:gateway'), total > 0], [counted, counted, true]);
  const hasRole = ({ services }: Any) => services.some(({ role }: Any) => role === 'gateway');
  assert.ok(results.every(hasRole));
  const ofLevels = await Promise.all(
    ['high', 'medium', 'low'].map(async (level) => (await ask(`search?role=gateway&confidence=${level}`)).body.total),
  );
  assert.ok(Math.max(...ofLevels) <= total && ofLevels.reduce((sum, each) => sum + each) >= total);
});

const refused = casesOf<[path: string, field: string, says: string, position?: number][]>('stack', 'refused segments');
refused.push([`search?query=${'segment:nested%20'.repeat(50)}`, 'query', 'with its segments', 1]);
for (const [path, field, says, position] of refused)
  it(`refuses ${path.slice(0, 50)}`, async () => {
    const { status, body } = await ask(path);
    assert.equal(status, 400);
    assert.deepEqual([body.errors[0].field, body.errors[0].position], [field, position]);
    assert.match(body.errors[0].message, new RegExp(says));
  });
