// Ready answers: the same receipt until something that they rest on changes, and never signed anew more than once in 0.6 s.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { company, type Harness, smallInternet, startHarness } from '../test/harness.ts';

let internet: Internet;
let service: Harness;
before(async () => {
  internet = await smallInternet();
  service = await startHarness({ internet, settings: { STRATA_CONFIRM_AFTER_HOURS: '0' } });
  await service.scan(...internet.domains());
  await service.running.service.app.pulse.now();
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

const receipt = async (path: string) => (await service.get(`/stack/v1/${path}`)).body.provenance.receipt_id;
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('answers about all domains', () => {
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
    await later(1_100);
    const old = await ask();
    internet.migrate(moving, { category: 'dns', to: 'ns1' });
    for (let look = 0; look < 2; look += 1) {
      await service.scan(moving);
      await later(5);
    }
    await service.running.service.app.pulse.now();
    await later(1_100);
    const fresh = await ask();
    assert.notEqual(fresh.cloudflare, old.cloudflare);
    assert.notEqual(fresh.migrations, old.migrations);
    assert.deepEqual([fresh.other, fresh.anomalies], [old.other, old.anomalies]);
    const { body } = await service.get('/stack/v1/search?provider=ns1');
    assert.ok((body.results as { domain: string }[]).some(({ domain }) => domain === moving));
  });

  it('are signed at most once in 0.6 s while scans go on, and say when they were computed', async () => {
    const { pulse } = service.running.service.app;
    const receipts = new Map<string, { scans: number; at: number }>();
    const startedAt = performance.now();
    let scans = Number((await service.get('/stack/v1/stats')).body.scans);
    const before = scans;
    while (performance.now() - startedAt < 2_600) {
      await service.scan(company(internet, scans % 20));
      await pulse.now();
      scans += 1;
      for (let i = 0; i < 5; i += 1) {
        const { body } = await service.get('/stack/v1/stats');
        receipts.set(body.provenance.receipt_id ?? '', {
          scans: Number(body.scans),
          at: Date.parse(String(body.computed_at)),
        });
      }
    }
    assert.ok(scans - before > 10, 'there was constant scanning');
    assert.ok(receipts.size >= 2 && receipts.size <= 6, `${receipts.size} were signed in 2.6 s`);
    const told = [...receipts.values()];
    assert.ok(told.every(({ at }, i) => i === 0 || at - (told[i - 1]?.at ?? 0) >= 540));
    await later(1_100);
    assert.equal((await service.get('/stack/v1/stats')).body.scans, scans, 'and the last one is right');
  });
});
