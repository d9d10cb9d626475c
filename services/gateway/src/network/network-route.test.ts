// GET /network over HTTP: for everybody, whatever is asked besides, and without addresses.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Harness, MODEL, startHarness } from '../test/harness.ts';
import { sharedGateway, startOnSharedEngine } from '../test/shared.ts';

const ON = { STRATA_NETWORK: 'on', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off' };

describe('GET /network', () => {
  let service: Harness;
  before(async () => {
    service = await startOnSharedEngine(ON);
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('is as described, beside models of the gateway itself', async () => {
    const { status, body, headers } = await service.get('/network', { authorization: '' });
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'public, max-age=1');
    const described = (await service.get('/openapi.json')).body;
    const ajv = new Ajv2020({ strict: false }).addSchema(described, 'api');
    const isValid = ajv.getSchema('api#/components/schemas/Network');
    assert.ok(isValid?.(body), ajv.errorsText(isValid?.errors));
    assert.equal(body.self.peer, service.running.gateway.network?.node.id);
    assert.deepEqual([body.peers, body.models], [[], []]);
    assert.equal((await service.get('/v1/models')).body.data[0].id, MODEL);
  });

  it('tells the same whatever is put behind it, and never an address', async () => {
    const first = await service.get('/network');
    for (const query of ['?limit=1e9', '?peer=../../etc/passwd', `?x=${'a'.repeat(4_000)}`, '?%00', '?__proto__=1']) {
      const { status, body } = await service.get(`/network${query}`);
      assert.deepEqual([status, body], [200, first.body], query);
    }
    assert.doesNotMatch(first.text, /127\.0\.0\.1|\/ip4|\/tcp/);
    for (const target of ['/network/', '/network/peers', '/network/..%2f'])
      assert.equal((await service.get(target)).status, 404, target);
    const posted = await service.post('/network', {});
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET']);
  });

  it('is made once for all who ask within a second', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, async () => (await service.get('/network')).text));
    assert.ok(new Set(texts).size <= 2);
  });
});

describe('a gateway on no network', () => {
  it('says so', async () => {
    const { status, body } = await (await sharedGateway()).get('/network');
    assert.deepEqual([status, body.error.code], [404, 'not_found']);
  });
});

describe('settings of the network that cannot be used', () => {
  it('are told before anything listens', async () => {
    const wrong = [
      [{ STRATA_JOIN: 'nobody' }, /join takes an address with a peer id/],
      [{ STRATA_JOIN: 'strata1damaged' }, /token/],
      [{ STRATA_NETWORK_KEY_FILE: '/nowhere/network.key' }, /network key cannot be read/],
      [{ STRATA_P2P_LISTEN: '/ip4/192.0.2.1/tcp/1' }, /STRATA_P2P_LISTEN/],
    ] as const;
    for (const [settings, words] of wrong)
      await assert.rejects(startHarness({ STRATA_MODEL: '', ...ON, ...settings }), words);
  });
});
