// Free keys by `POST /keys`: disabled by default, limited by address first, and valid within the returned limits.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createHostGuard } from '@strata/http';
import Fastify, { type FastifyRequest } from 'fastify';
import { TIER_LIMITS } from '../limits/limits.ts';
import { type Harness, type Json, MODEL } from '../test/harness.ts';
import { get, MESSAGES as messages, sharedGateway, startOnSharedEngine } from '../test/shared.ts';
import { createKey, newKeyRequests } from './keys.ts';
import type { GatewayApp } from './route.ts';

async function request(base: string, address: string, { headers = {}, ...init }: RequestInit = {}) {
  const asked = { method: 'POST', headers: { 'x-forwarded-for': address, ...(headers as object) }, ...init };
  const response = await fetch(`${base}/keys`, asked);
  const body: Json = await response.json();
  return { status: response.status, headers: response.headers, body };
}

describe('free keys', () => {
  let service: Harness;
  before(async () => {
    service = await startOnSharedEngine({
      ...{ STRATA_INFERENCE_FREE_KEYS_PER_DAY: '2', STRATA_TRUSTED_PROXIES: '127.0.0.1' },
      STRATA_EXPLORER_URL: 'https://stack.example/',
    });
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('are valid immediately, within the returned limits', async () => {
    const { status, body, headers } = await request(service.base, '192.0.2.1');
    const { key, key_id, tier, daily_limit, ...limits } = body;
    assert.deepEqual([status, headers.get('cache-control'), tier, daily_limit], [201, 'no-store', 'free', 50]);
    assert.match(`${key_id} ${key}`, /^key_\S+ sk-[\w-]{43}$/);
    const { requestsPerMinute, tokensPerMinute, tokensPerDay } = TIER_LIMITS.free;
    const expected = { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute };
    assert.deepEqual(limits, { ...expected, tokens_per_day: tokensPerDay });
    const asked = { model: MODEL, messages, max_tokens: 5 };
    const answer = await service.post('/v1/chat/completions', asked, { authorization: `Bearer ${key}` });
    assert.equal(answer.status, 200);
    const stored = (await service.running.gateway.keys.list()).find(({ id }) => id === key_id);
    assert.equal(stored?.priority, 'low', 'keys of the operator go first');
  });

  it('are limited by address and day, with one limit per IPv6 /64', async () => {
    const ask = (address: string) => request(service.base, `2001:db8:7:${address}`);
    for (const address of ['7::1', '7:ffff::2', '8::1']) assert.equal((await ask(address)).status, 201);
    const { status, body, headers } = await ask('7:1:2:3:4');
    assert.deepEqual([status, body.error.code], [429, 'rate_limit_exceeded']);
    assert.match(body.error.message, /daily quota of free keys/);
    const wait = Number(headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 86_400, `retry-after ${wait}`);
  });

  it('are issued to programs and to our own page, and to no page of another site', async () => {
    const site = (name: string) => ({ 'sec-fetch-site': name });
    const page = (origin: string) => ({ origin, 'x-forwarded-host': 'gateway.lan:8788' });
    for (const [headers, expected] of [
      [site('cross-site'), 403],
      [site('none'), 201],
      [page('http://gateway.lan:8787'), 403],
      [page('http://gateway.lan:8788'), 201],
    ] as const) {
      const { status, body } = await request(service.base, '192.0.2.9', { headers });
      assert.equal(status, expected, JSON.stringify(headers));
      if (status === 403) assert.match(body.error.message, /other sites/);
    }
  });

  it('need no body, and a large one is rejected unread', async () => {
    const headers = { 'content-type': 'application/json' };
    assert.equal((await request(service.base, '192.0.2.3', { headers, body: '{}' })).status, 201);
    const body = JSON.stringify('x'.repeat(2_000));
    assert.equal((await request(service.base, '192.0.2.3', { headers, body })).status, 413);
  });

  it('are mentioned to clients without a key, and to the page', async () => {
    const { status, body } = await service.get('/v1/models', { authorization: '' });
    assert.match(`${status} ${body.error.message}`, /^401 .*POST \/keys/);
    const site = { explorer_url: 'https://stack.example', free_keys_per_day: 2 };
    assert.deepEqual((await service.get('/site.json')).body, site);
  });

  it('are disabled by default, and the error describes how keys are created', async () => {
    const { status, body } = await request((await sharedGateway()).base, '192.0.2.1');
    assert.match(`${status} ${body.error.message}`, /^404 .*strata inference keys create/);
    assert.doesNotMatch((await get('/v1/models', { authorization: '' })).body.error.message, /POST/);
    assert.deepEqual((await get('/site.json')).body, { explorer_url: null, free_keys_per_day: 0 });
  });
});

it('an address with too many requests causes no database queries, and is served again later', async () => {
  const fastify = Fastify();
  let queries = 0;
  let at = 0;
  const issue = async () => void queries++;
  const hostGuard = createHostGuard({ host: '127.0.0.1', allowedHosts: [] });
  const now = () => new Date(at);
  const deps = { keys: { issue }, freeKeysPerDay: 5, now, hostGuard, keyRequests: newKeyRequests(now) };
  const app = deps as unknown as GatewayApp;
  const onRequest = async (request: FastifyRequest) => createKey.contract.admit?.(app, request);
  fastify.post('/keys', { onRequest }, (request, reply) => createKey.handler(app, {}, { request, reply }));
  const ask = (remoteAddress: string, headers = {}) =>
    fastify.inject({ method: 'POST', url: '/keys', remoteAddress, headers });
  // Pages of other sites cannot use up the requests of their visitors.
  for (let time = 0; time < 25; time += 1) await ask('2001:db8::1', { 'sec-fetch-site': 'cross-site' });
  for (let time = 0; time < 25; time += 1) await ask(`2001:db8::${time}`);
  assert.equal(queries, 10);
  await ask('2001:db8:1::1');
  assert.equal(queries, 11);
  at = 60_000;
  for (let time = 0; time < 12; time += 1) await ask('2001:db8::1');
  assert.equal(queries, 21);
});
