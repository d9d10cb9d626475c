// Ready answers: the same receipt until something that they rest on changes, and never signed anew more than once in 0.6 s.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { company, scanTwice } from '../test/harness.ts';
import { type SharedService, sharedService } from '../test/shared.ts';

let service: SharedService;

describe('answers about all domains', () => {
  before(async () => {
    service = await sharedService();
  });

  it('keep their receipt while nothing changes, and are known by their ETag', async () => {
    for (const target of 'stats/providers intelligence/market-share search?q=a providers/cloudflare alerts'.split(
      ' ',
    )) {
      const path = `/stack/v1/${target}`;
      const [first, again] = [await service.get(path), await service.get(path)];
      assert.equal(first.text, again.text, path);
      const known = await service.get(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
      assert.deepEqual([known.status, known.text], [304, ''], path);
      assert.equal(first.headers.get('cache-control'), 'private, no-cache');
    }
  });

  it('are anew within about a second of a change that they rest on, and no others are', async () => {
    const { internet } = service;
    const servicesOf = (name: string) => internet.truth(name).services;
    const isOnCloudflare = (name: string) =>
      servicesOf(name).some(({ provider, category }) => provider === 'cloudflare' && category === 'dns');
    const moving = internet.domains().find(isOnCloudflare) ?? assert.fail();
    const used = new Set(servicesOf(moving).map(({ provider }) => provider));
    const untouched = ['godaddy', 'he-dns', 'zoho-mail', 'proton-mail'].find((id) => !used.has(id));
    const receipts = () =>
      Promise.all(
        ['search?provider=cloudflare', 'stats/migrations', `search?provider=${untouched}`, 'anomalies'].map(
          async (path) => (await service.get(`/stack/v1/${path}`)).body.provenance.receipt_id,
        ),
      );
    service.age();
    const old = await receipts();
    internet.migrate(moving, { category: 'dns', to: 'ns1' });
    await scanTwice(service, moving);
    await service.running.service.app.pulse.now();
    service.age();
    const fresh = await receipts();
    assert.deepEqual(
      fresh.map((receipt, i) => receipt === old[i]),
      [false, false, true, true],
    );
    const { body } = await service.get('/stack/v1/search?provider=ns1');
    assert.ok((body.results as { domain: string }[]).some(({ domain }) => domain === moving));
  });

  it('are signed at most once in 0.6 s while scans go on, and say when they were computed', async () => {
    const stats = async () => {
      const { body } = await service.get('/stack/v1/stats');
      const { receipt_id } = body.provenance;
      return { receipt_id, scans: Number(body.scans), at: Date.parse(String(body.computed_at)) };
    };
    const scan = async () => {
      await service.scan(company(service.internet, 38));
      await service.running.service.app.pulse.now();
    };
    service.age();
    const first = await stats();
    await scan();
    assert.deepEqual(await stats(), first, 'a moment later it is the same');
    service.age(600);
    const second = await stats();
    assert.equal(second.scans, first.scans + 1);
    assert.ok(second.receipt_id !== first.receipt_id && second.at > first.at);
    await scan();
    await scan();
    service.age(300);
    assert.deepEqual(await stats(), second);
    service.age(300);
    assert.equal((await stats()).scans, second.scans + 2, 'and the last one is right');
  });
});
