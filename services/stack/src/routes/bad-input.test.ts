// Every parameter of every route with values that it cannot use: a refusal that names it, or the right answer; never a 500.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { company, sharedService } from '../test/index.ts';

const service = await sharedService();
const history = `domains/${company(service.internet, 37)}/changes`;
const PAGED = `search stats/migrations providers/cloudflare enrichment/advisories enrichment/affected ${history}`;
const LONG = 'x'.repeat(5_000);

/** Asks; nothing may fail on our side, and every answer in JSON has its receipt. */
async function ask(path: string) {
  const answer = await service.get(`/stack/v1/${path}`);
  assert.ok(answer.status < 500, `${path.slice(0, 120)}: ${answer.status} ${answer.text.slice(0, 200)}`);
  if (answer.text.startsWith('{')) assert.ok(answer.body.provenance?.ledger_receipt_id, path.slice(0, 120));
  return answer;
}

async function assertRefused(path: string, field: string): Promise<void> {
  const { status, body, headers } = await ask(path);
  const message = path.slice(0, 160);
  assert.equal(status, 400, `${message}: ${JSON.stringify(body).slice(0, 300)}`);
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
  if (!body.errors) return;
  assert.deepEqual([...new Set(body.errors.map((error) => error.field))], [field], message);
  if (field !== 'domain') assert.equal(body.code, 'invalid_parameter', message);
}

const NO_NUMBER = `|%20|NaN|1e2|0x10|1.5|%2B5| 5|5%00|ten|٣|${LONG}|${'9'.repeat(400)}`.split('|');
const NO_WORD = `|%20|nonsense|hasOwnProperty|__proto__|1|ｄｎｓ|${LONG}`.split('|');
const NO_NAME = ['', '%20', '%00', 'a%00', 'a%0Ab', 'x'.repeat(257)];
const NO_DOMAIN = ['-', 'a%00b', '127.0.0.1', 'com', 'a..b', 'x'.repeat(300), '%20', '__proto__'];

type Range = [name: string, min: number, max: number, routes: string];
for (const [name, min, max, routes] of casesOf<Range[]>('stack', 'ranges of numbers'))
  for (const route of routes.replace('PAGED', PAGED).split(' '))
    it(`a number in a query is a decimal integer within its limits, or refused: ${route}, ${name} from ${min} to ${max}`, async () => {
      for (const good of [min, max]) {
        const { status, body } = await ask(`${route}?${name}=${good}`);
        assert.equal(status, 200);
        const page = route === 'providers/cloudflare' ? (body.domains as unknown as Record<string, number>) : body;
        if (['limit', 'offset'].includes(name) && name in page) assert.equal(page[name], good, 'never cut silently');
      }
      for (const value of [min - 1, max + 1, ...NO_NUMBER]) await assertRefused(`${route}?${name}=${value}`, name);
      await assertRefused(`${route}?${name}=5&${name}=6`, name);
    });

for (const [route, words] of casesOf<[string, string][]>('stack', 'values of parameters'))
  for (const given of words.split(' '))
    it(`a word in a query is one of its words, whatever the case, or refused: ${route}: ${given}`, async () => {
      const [name = '', word = ''] = given.split('=');
      for (const good of [word, word.toUpperCase()]) assert.equal((await ask(`${route}?${name}=${good}`)).status, 200);
      for (const value of [...NO_WORD, `${word}%00`, `${word}%2F`, `${word}s`])
        await assertRefused(`${route}?${name}=${value}`, name);
      await assertRefused(`${route}?${given}&${given}`, name);
    });

it('values that exclude each other are refused', async () => {
  await assertRefused('intelligence/market-share?role=waf&category=dns', 'role');
  await assertRefused('search?score_gte=90&score_lte=10', 'score_lte');
  await assertRefused('search?sort=score&offset=10001', 'offset');
});

it('text in a query is parts of a name, trimmed and lower-cased; what no name can hold is refused, and more than eight', async () => {
  const total = async (q: string) => (await ask(`search?q=${q}`)).body.total;
  const found = await total('a');
  assert.ok(Number(found) > 0);
  const totals = await Promise.all(['A', '%20a%20', 'a+A', 'zzzzqqq', 'a+zzzzqqq', 'm%C3%BCller'].map(total));
  assert.deepEqual(totals, [found, found, found, 0, 0, 0]);
  assert.equal(await total('pine-clinic'), await total('Clinic%20%20Pine'));
  for (const q of `|%20|%00|a%00b|a%20b%2F|${'a+'.repeat(9)}|%27%20OR%201=1|a%2Fb|*|%25|%F0%9F%98%80%00|${LONG}`.split(
    '|',
  ))
    await assertRefused(`search?q=${q}`, 'q');
  await assertRefused('search?q=a&q=b', 'q');
});
it('text in a query is the id of an advisory', async () => {
  for (const value of NO_NAME) await assertRefused(`enrichment/affected?advisory=${value}`, 'advisory');
});
it('text in a query is the other end of a migration, which needs the provider', async () => {
  for (const route of ['stats/migrations', 'migrations/export.csv']) {
    await assertRefused(`${route}?other=cloudflare`, 'other');
    assert.equal((await ask(`${route}?other=cloudflare&provider=godaddy`)).status, 200);
  }
});
describe('the name of a provider', () => {
  const paths = ['providers/', 'intelligence/supply-chain/', 'intelligence/adoption/'];

  it('is an id, a name or an alias, in any case and encoding', async () => {
    const names = 'google-workspace GOOGLE%20WORKSPACE google+workspace G%20Suite %67oogle-workspace %20gmail%20';
    for (const path of paths)
      for (const name of names.split(' ')) {
        const { status, body } = await ask(`${path}${name}`);
        assert.deepEqual([status, body.provider_id], [200, 'google-workspace'], name);
      }
    for (const query of ['search?limit=1&provider=', 'stream/json?provider='])
      for (const name of ['Google+Workspace', 'gmail']) assert.equal((await ask(`${query}${name}`)).status, 200);
  });
  it('that is unknown is refused with the three nearest, whatever it holds: 404 in a path, 400 in a query', async () => {
    const names = `clodflare a%2Fb ..%2F..%2Fetc %E2%98%83 x%3Cscript%3E hasOwnProperty __proto__ %25 o'brien %22 a,b`;
    const inQuery =
      'search?provider= search?with= migrations/export.csv?provider= stats/migrations?provider= stream/json?provider=';
    for (const name of names.split(' ')) {
      for (const path of [...paths, ...inQuery.split(' '), 'stats/migrations?provider=godaddy&other=']) {
        const { status, body } = await ask(`${path}${name}`);
        const expected = path.includes('?') ? [400, 'invalid_parameter'] : [404, 'unknown_provider'];
        assert.deepEqual([status, body.code, body.errors?.length], [...expected, 3], `${path}${name}`);
        const field = /(\w+)=$/.exec(path)?.[1] ?? 'provider';
        assert.ok(body.errors?.every((error) => error.field === field));
      }
    }
    const { body } = await ask('search?provider=cloudflare,nginx');
    assert.equal(body.errors?.[0]?.message, 'Cloudflare');
  });
  it('that cannot be a name is refused', async () => {
    for (const path of paths)
      for (const name of [...NO_NAME.slice(1), '%'])
        await assertRefused(`${path}${name}`, path.endsWith('adoption/') ? 'tool' : 'provider');
    for (const route of ['search', 'stream/json'])
      for (const name of [...NO_NAME, 'a&provider=b']) await assertRefused(`${route}?provider=${name}`, 'provider');
  });
});
it('the name of a domain that is not one is refused, in a path and in a query', async () => {
  const paths = 'domains/ intelligence/risk/ feeds/domain/ anomalies?domain= stream/json?domain=';
  for (const name of [...NO_DOMAIN, '2001:db8::1', '..%2F..%2Fetc', 'a.com%0d%0ax:y', 'my_company.com']) {
    for (const path of `${paths} enrichment/affected?domain=`.split(' '))
      await assertRefused(`${path}${name}`, 'domain');
    const { status, body } = await ask(`domains/${name}/changes`);
    assert.deepEqual([status, body.code, body.errors?.[0]?.field], [400, 'invalid_domain', 'domain'], name);
  }
  await assertRefused('anomalies?domain=', 'domain');
  assert.equal((await ask('anomalies?domain=WWW.Example.COM')).body.domain, 'example.com');
  assert.equal((await ask('intelligence/risk/not-there-at-all.com')).status, 404);
});
describe('a time is a date, a time with a zone or an age, not ahead, with one meaning on every route, or refused', () => {
  const [day, time] = ['2026-01-31', '2026-01-31T12:00:00'];
  const good = `${day} 7d 36H ${time}Z ${time}.123456Z ${time}%2B01:00 ${time}+01:00 ${day}t12:00:00z ${time},5Z 1970-01`;
  const bad = `|${time}|2026-02-30|2026-13|2026-13-01T00:00:00Z|${day}T25:00:00Z|${day}T12:00Z|yesterday|7|7w|-7d|999999d`;
  const odd = `1769860800|NaN|${time}Z%00|9999-01-01T00:00:00Z|%2B010000-01-01T00:00:00Z|${LONG}`;
  const ahead = new Date(Date.now() + 3_600_000).toISOString();
  const today = new Date().toISOString().slice(0, 10);
  const windows = 'alerts anomalies migrations/export.csv stats/migrations providers/cloudflare/customers';
  for (const route of ['stream/json', ...windows.split(' ')])
    it(route, async () => {
      const isShort = /stats|customers/.test(route);
      const times = isShort ? ['7d', '36H', today, `${today}T00:00:00+01:00`] : good.split(' ');
      for (const since of times) assert.equal((await ask(`${route}?since=${since}`)).status, 200, since);
      for (const since of `${bad}|${odd}`.split('|')) await assertRefused(`${route}?since=${since}`, 'since');
      await assertRefused(`${route}?since=7d&since=8d`, 'since');
      const messageOf = async (query: string) => (await ask(`${route}?${query}`)).body.errors?.[0]?.message;
      assert.match((await messageOf(`since=${time}`)) ?? '', /zone/);
      assert.equal(await messageOf(`since=${ahead}`), 'is in the future');
      if (route === 'stream/json') return;
      const messages = ['until=7d', 'since=7d&days=7', 'since=7d&until=8d'].map(messageOf);
      assert.deepEqual(await Promise.all(messages), ['needs since', 'cannot be combined with days', 'is before since']);
      if (isShort) assert.match((await messageOf('since=400d')) ?? '', /^must be within/);
      const lines = async (query: string) => (await ask(`${route}?${query}`)).text.split('\n').length;
      assert.equal(await lines('since=1d&until=1d'), await lines('since=1h&until=1h'));
    });
});

/** The routes that answer GET; the look-up has its own tests. */
async function keyedPaths() {
  const { paths } = (await service.ask('/openapi.json')).body as unknown as { paths: Record<string, object> };
  return Object.keys(paths).filter((path) => /^\/stack\/v1\/(?!.*\.atom$)/.test(path) && 'get' in (paths[path] ?? {}));
}

it('a URL with an unknown parameter is refused with its name and the nearest known one, on every route', async () => {
  for (const path of await keyedPaths()) {
    const known = path.replace('{id}', `wl_${'0'.repeat(24)}`).replace('{kind}', 'ns');
    const named = known.replaceAll(/\{\w+\}/g, 'cloudflare');
    const needed = path.endsWith('/comparison') ? 'a=a&b=b&' : '';
    await assertRefused(`${named.slice('/stack/v1/'.length)}?${needed}tld=com`, 'tld');
  }
  for (const path of ['/health', '/openapi.json', '/ledger/checkpoint', '/.well-known/stack-keys.json', '/suggest'])
    assert.equal((await service.ask(`${path}?tld=com`)).status, 400, path);
  const messageOf = async (path: string) => (await ask(path)).body.errors?.[0]?.message;
  assert.equal(await messageOf('search?lmit=5'), 'unknown parameter; did you mean limit?');
  const known = 'unknown parameter; known are days, hours, since, until, limit, cursor';
  assert.equal(await messageOf('alerts?from=x'), known);
  assert.equal(await messageOf('feeds/stats?from=x'), 'unknown parameter; there are no known names here');
  assert.match((await messageOf('search?sector=goverment')) ?? '', /^did you mean government\? It must be one of/);
  assert.match((await messageOf('search?sort=-name')) ?? '', /^name is ascending only; descending are -score, /);
  const { body } = await ask(`stats?constructor=2&__proto__=3&a%00=1&${LONG}=1&a=1&a=2`);
  const fields = body.errors?.map(({ field }) => field);
  assert.deepEqual(fields, ['constructor', '__proto__', 'a\0', LONG.slice(0, 64), 'a']);
  const many = Array.from({ length: 500 }, (_, i) => `p${i}=1`).join('&');
  assert.equal((await ask(`stats?${many}`)).body.errors?.length, 10);
});
it('a URL that is too long, invalid or unknown is refused with this reason', async () => {
  assert.equal((await ask(`search?q=${LONG}${LONG}`)).status, 414);
  for (const path of [`providers/${LONG}${LONG}`, 'providers/%E0%A4%A', 'domains/%E0%A4%A'])
    assert.equal((await ask(path)).status, 400);
  for (const path of ['', 'Stats', '../v2/stats', 'providers', 'stats/x', 'domains/../domains'])
    assert.equal((await ask(path)).status, 404, path);
});
it('a URL under /stack/v1 needs a key on every route', async () => {
  const keyed = await keyedPaths();
  assert.ok(keyed.length > 20);
  for (const path of keyed) {
    const { status, body, headers } = await service.ask(path.replaceAll(/\{\w+\}/g, 'example.com'));
    assert.deepEqual([status, body.code], [401, 'missing_key'], path);
    assert.match(headers.get('www-authenticate') ?? '', /X-Stack-Key/);
    assert.match(body.detail ?? '', /POST \/keys/);
  }
});
