// Which callers may ask, and how often: the day's quota, free keys by address. The check of keys itself: packages/http.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sharedService } from '../test/shared.ts';

const service = await sharedService();
const withKey = (key: string) => service.get('/stack/v1/domains/com', { headers: { 'x-stack-key': key } });
const newKeyFrom = (address: string) =>
  service.ask('/keys', { method: 'POST', headers: { 'x-forwarded-for': address } });

it('a caller gets free keys at once, a few a day for each address, and they work', async () => {
  const post = () => newKeyFrom('192.0.2.77');
  for (const { status, body } of [await post(), await post()]) {
    assert.match(String(body.key), /^ssk_/);
    assert.deepEqual([status, body.tier, body.daily_limit], [201, 'free', 50]);
    assert.equal((await withKey(String(body.key))).body.code, 'invalid_domain');
  }
  const { status, body, headers } = await post();
  assert.deepEqual([status, body.code], [429, 'quota_exceeded']);
  const wait = Number(headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 86_400, `retry-after ${wait}`);
});

it('a caller is all the addresses of one IPv6 network', async () => {
  const statuses = [];
  for (const address of ['2001:db8:9::1', '2001:db8:9::2', '2001:db8:9::ffff:3', '2001:db8:9:1::1'])
    statuses.push((await newKeyFrom(address)).status);
  assert.deepEqual(statuses, [201, 201, 429, 201]);
});

it('a free key is good for 50 requests a day, counted across a restart of the service', async () => {
  const path = `/stack/v1/domains/${service.internet.domains()[0]}`;
  const headers = { 'x-stack-key': await service.newKey('free') };
  const ask = async () => {
    const { status, body, headers: limits } = await service.get(path, { headers });
    return [status, body.code, limits.get('x-ratelimit-remaining'), limits.get('x-ratelimit-limit')];
  };
  for (let used = 1; used <= 50; used += 1) {
    assert.deepEqual(await ask(), [200, undefined, String(50 - used), '50']);
    if (used === 24) {
      const fromPage = { headers: { ...headers, 'sec-fetch-site': 'same-origin' } };
      const { body } = await service.get('/stack/v1/usage', fromPage);
      const paths = [{ path: '/stack/v1/domains/{domain}', source: 'api', requests: 24, counted: 24 }];
      paths.push({ path: '/stack/v1/usage', source: 'page', requests: 1, counted: 1 });
      const day = { requests: 25, counted: 25, paths };
      assert.deepEqual(body.days, [{ date: new Date().toISOString().slice(0, 10), ...day }]);
      used += 1;
    }
    if (used === 25) await service.restart();
  }
  assert.deepEqual((await ask()).slice(0, 2), [429, 'quota_exceeded']);
  assert.equal((await service.get(path)).status, 200, 'another key is not limited by it');
});
