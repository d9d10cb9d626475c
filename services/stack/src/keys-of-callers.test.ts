// Who may ask, and how often: keys, the day's quota, free keys by address.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type SharedService, sharedService } from './test/shared.ts';

let service: SharedService;
const open = async () => {
  service = await sharedService();
};

describe('a caller', () => {
  before(open);
  const withKey = (key: string) => service.get('/stack/v1/domains/com', { headers: { 'x-stack-key': key } });

  it('with a wrong key is refused', async () => {
    for (const key of ['x', `ssk_${'a'.repeat(43)}`, 'k'.repeat(5_000)]) {
      const { status, body, headers } = await withKey(key);
      assert.deepEqual([status, body.code], [401, 'invalid_key'], key.slice(0, 20));
      assert.ok(headers.get('www-authenticate'));
    }
  });

  it('is refused once the key is revoked', async () => {
    const { keys } = service.running.service.app.store;
    const made = await keys.create({ tier: 'free' });
    await keys.revoke(made.stored.id);
    assert.deepEqual((await withKey(made.key)).body.code, 'invalid_key');
  });

  it('needs no key for what is open to all', async () => {
    for (const path of ['/health', '/', '/openapi.json', '/.well-known/stack-keys.json', '/ledger/checkpoint']) {
      assert.equal((await service.ask(path)).status, 200, path);
    }
  });

  it('gets free keys at once, a few a day for each address, and they work', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.77' };
    const post = () => service.ask('/keys', { method: 'POST', headers });
    const made = [await post(), await post()];
    for (const { status, body } of made) {
      assert.equal(status, 201);
      assert.match(String(body.key), /^ssk_/);
      assert.deepEqual([body.tier, body.daily_limit], ['free', 50]);
      assert.equal((await withKey(String(body.key))).body.code, 'invalid_domain');
    }
    const { status, body, headers: refused } = await post();
    assert.deepEqual([status, body.code], [429, 'quota_exceeded']);
    const wait = Number(refused.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 86_400, `retry-after ${wait}`);
  });

  it('is all the addresses of one IPv6 line', async () => {
    const statuses = [];
    for (const address of ['2001:db8:9::1', '2001:db8:9::2', '2001:db8:9::ffff:3', '2001:db8:9:1::1'])
      statuses.push((await service.ask('/keys', { method: 'POST', headers: { 'x-forwarded-for': address } })).status);
    assert.deepEqual(statuses, [201, 201, 429, 201]);
  });

  it('is told 405 with what is allowed for another method', async () => {
    const { status, body, headers } = await service.ask('/keys', { method: 'DELETE' });
    assert.deepEqual([status, body.code], [405, 'method_not_allowed']);
    assert.equal(headers.get('allow'), 'POST, OPTIONS');
    assert.equal((await service.ask('/health', { method: 'POST' })).status, 405);
  });
});

describe('a free key', () => {
  before(open);

  it('is good for 50 requests a day, counted across a restart of the service', async () => {
    const [domain = ''] = service.internet.domains();
    const headers = { 'x-stack-key': await service.newKey('free') };
    const ask = () => service.get(`/stack/v1/domains/${domain}`, { headers });

    const first = await ask();
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('ratelimit-policy'), '"free";q=50;w=86400');
    assert.match(first.headers.get('ratelimit') ?? '', /^"free";r=49;t=\d+$/);
    assert.equal(first.headers.get('x-ratelimit-limit'), '50');
    for (let used = 2; used <= 25; used += 1) assert.equal((await ask()).status, 200);
    await service.restart();
    const afterRestart = await ask();
    assert.equal(afterRestart.headers.get('x-ratelimit-remaining'), '24');
    for (let used = 27; used <= 50; used += 1) assert.equal((await ask()).status, 200, `request ${used}`);

    const refused = await ask();
    assert.deepEqual([refused.status, refused.body.code], [429, 'quota_exceeded']);
    assert.match(refused.headers.get('ratelimit') ?? '', /;r=0;/);
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    // Another key is not touched by it.
    assert.equal((await service.get(`/stack/v1/domains/${domain}`)).status, 200);
  });
});
