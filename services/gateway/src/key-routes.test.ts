// Free keys by `POST /keys`: off by default, limited by address before anything else, and good for the limits that they tell.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFrontDoor } from '@strata/http';
import Fastify from 'fastify';
import { addKeyRoute } from './key-routes.ts';
import { TIER_LIMITS } from './limits.ts';
import { type Harness, MODEL } from './test/harness.ts';
import { MESSAGES as messages, sharedGateway, startOnSharedEngine } from './test/shared.ts';

const askKey = async (base: string, headers: Record<string, string> = {}, body?: string) => {
  const response = await fetch(`${base}/keys`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

describe('free keys', () => {
  let service: Harness;
  before(async () => {
    service = await startOnSharedEngine({
      STRATA_INFERENCE_FREE_KEYS_PER_DAY: '2',
      STRATA_TRUSTED_PROXIES: '127.0.0.1',
      STRATA_EXPLORER_URL: 'https://stack.example/',
    });
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('answer at once, within the limits that are told with them', async () => {
    const { status, body, headers } = await askKey(service.base, { 'x-forwarded-for': '192.0.2.1' });
    assert.equal(status, 201);
    assert.equal(headers.get('cache-control'), 'no-store');
    const { key, key_id, ...limits } = body;
    assert.match(key, /^sk-[\w-]{43}$/);
    assert.match(key_id, /^key_/);
    assert.deepEqual(limits, {
      tier: 'free',
      daily_limit: 50,
      requests_per_minute: TIER_LIMITS.free.requestsPerMinute,
      tokens_per_minute: TIER_LIMITS.free.tokensPerMinute,
      tokens_per_day: TIER_LIMITS.free.tokensPerDay,
    });
    const answer = await service.post(
      '/v1/chat/completions',
      { model: MODEL, messages, max_tokens: 5 },
      { authorization: `Bearer ${key}` },
    );
    const stored = (await service.running.gateway.keys.list()).find(({ id }) => id === key_id);
    assert.equal(stored?.priority, 'low', 'whoever has a key from the operator goes first');
    assert.equal(answer.status, 200);
    assert.ok(answer.body.choices[0].message.content.length > 0);
  });

  it('are so many a day for an address, and an IPv6 line is one address', async () => {
    const line = ['2001:db8:7:7::1', '2001:db8:7:7:ffff::2', '2001:db8:7:7:1:2:3:4'];
    const asked = [];
    for (const address of line) asked.push(await askKey(service.base, { 'x-forwarded-for': address }));
    assert.deepEqual(
      asked.map(({ status }) => status),
      [201, 201, 429],
    );
    const refused = asked[2];
    assert.equal(refused?.body.error.code, 'rate_limit_exceeded');
    assert.match(refused?.body.error.message, /2 free keys of the day/);
    const wait = Number(refused?.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 86_400, `retry-after ${wait}`);
    assert.equal((await askKey(service.base, { 'x-forwarded-for': '2001:db8:7:8::1' })).status, 201);
  });

  it('are given to programs and to our own page, and to no page of another site', async () => {
    for (const [site, expected] of Object.entries({
      'cross-site': 403,
      'same-site': 403,
      'same-origin': 201,
      none: 201,
    })) {
      const { status, body } = await askKey(service.base, { 'sec-fetch-site': site, 'x-forwarded-for': '192.0.2.9' });
      assert.equal(status, expected, site);
      if (status === 403) assert.match(body.error.message, /another site/);
    }
  });

  it('are given to no page of another site where browsers tell its origin alone, as on plain HTTP', async () => {
    const from = (origin: string, host = 'gateway.lan:8788') => ({
      origin,
      'x-forwarded-host': host,
      'x-forwarded-for': '192.0.2.10',
    });
    for (const origin of ['http://evil.example', 'http://gateway.lan', 'http://gateway.lan:8787', 'null', ''])
      assert.equal((await askKey(service.base, from(origin))).status, 403, origin);
    assert.equal((await askKey(service.base, from('http://gateway.lan:8788'))).status, 201);
    assert.equal((await askKey(service.base, from('https://gateway.lan', 'Gateway.lan'))).status, 201);
  });

  it('need no body, and a large one is refused unread', async () => {
    const json = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.3' };
    assert.equal((await askKey(service.base, json, '{}')).status, 201);
    assert.equal((await askKey(service.base, json, JSON.stringify('x'.repeat(2_000)))).status, 413);
  });

  it('are named to whoever comes without a key, and to the page', async () => {
    const { status, body } = await service.get('/v1/models', { authorization: '' });
    assert.equal(status, 401);
    assert.match(body.error.message, /POST \/keys/);
    assert.deepEqual((await service.get('/site.json')).body, {
      explorer_url: 'https://stack.example',
      free_keys_per_day: 2,
    });
  });
});

describe('a gateway that gives no keys away', () => {
  it('says so, and who makes them', async () => {
    const service = await sharedGateway();
    const { status, body } = await askKey(service.base);
    assert.equal(status, 404);
    assert.match(body.error.message, /strata inference keys create/);
    assert.doesNotMatch((await service.get('/v1/models', { authorization: '' })).body.error.message, /POST/);
    assert.deepEqual((await service.get('/site.json')).body, { explorer_url: null, free_keys_per_day: 0 });
  });
});

describe('an address that asks without end', () => {
  it('costs no look into the database, and is let in again a little later', async () => {
    const fastify = Fastify();
    let looks = 0;
    let at = 0;
    const issue = async () => {
      looks += 1;
      return undefined;
    };
    const frontDoor = createFrontDoor({ host: '127.0.0.1', allowedHosts: [] });
    addKeyRoute(fastify, { keys: { issue }, freeKeysPerDay: 5, now: () => new Date(at), frontDoor });
    const ask = (remoteAddress: string, headers = {}) =>
      fastify.inject({ method: 'POST', url: '/keys', remoteAddress, headers });
    // Pages of other sites cannot use up the requests of their reader.
    for (let time = 0; time < 25; time += 1) await ask('2001:db8::1', { 'sec-fetch-site': 'cross-site' });
    for (let time = 0; time < 25; time += 1) await ask(`2001:db8::${time}`);
    assert.equal(looks, 10);
    await ask('2001:db8:1::1');
    assert.equal(looks, 11);
    at = 6_000;
    await ask('2001:db8::1');
    await ask('2001:db8::1');
    assert.equal(looks, 12);
  });
});
