// Ready answers: the same receipt until something that they rest on changes, and never signed anew more than once in 0.6 s.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { company } from '../test/harness.ts';
import { type SharedService, sharedService } from '../test/shared.ts';

let service: SharedService;

const receipt = async (path: string) => (await service.get(`/stack/v1/${path}`)).body.provenance.receipt_id;

describe('answers about all domains', () => {
  before(async () => {
    service = await sharedService();
  });

  it('keep their receipt while nothing changes, and are known by their ETag', async () => {
    for (const path of [
      'stats/providers',
      'intelligence/market-share',
      'search?q=a',
      'providers/cloudflare',
      'alerts',
    ]) {
      const [first, again] = [await service.get(`/stack/v1/${path}`), await service.get(`/stack/v1/${path}`)];
      assert.equal(first.text, again.text, path);
      const known = await service.get(`/stack/v1/${path}`, {
        headers: { 'if-none-match': first.headers.get('etag') ?? '' },
      });
      assert.deepEqual([known.status, known.text], [304, ''], path);
      assert.equal(first.headers.get('cache-control'), 'private, no-cache');
    }
  });

  it('are anew within about a second of a change that they rest on, and no others are', async () => {
    const { internet } = service;
    const moving = internet
      .domains()
      .find((name) =>
        internet.truth(name).services.some(({ provider, category }) => provider === 'cloudflare' && category === 'dns'),
      );
    assert.ok(moving);
    const untouched = internet
      .truth(moving)
      .services.reduce(
        (left, { provider }) => left.filter((id) => id !== provider),
        ['godaddy', 'he-dns', 'zoho-mail', 'proton-mail'],
      );
    const ask = async () => ({
      cloudflare: await receipt('search?provider=cloudflare'),
      migrations: await receipt('stats/migrations'),
      other: await receipt(`search?provider=${untouched[0]}`),
      anomalies: await receipt('anomalies'),
    });
    service.age();
    const old = await ask();
    internet.migrate(moving, { category: 'dns', to: 'ns1' });
    for (let look = 0; look < 2; look += 1) {
      await service.scan(moving);
      // The second scan has to be a later moment than the first.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await service.running.service.app.pulse.now();
    service.age();
    const fresh = await ask();
    assert.notEqual(fresh.cloudflare, old.cloudflare);
    assert.notEqual(fresh.migrations, old.migrations);
    assert.deepEqual([fresh.other, fresh.anomalies], [old.other, old.anomalies]);
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
