// Profiles and histories over real sockets: names as people write them, pages, receipts that stay until a change. Names
// that are refused: bad-input.test.ts and packages/detect; the schema of an answer: description.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canonicalize } from '@strata/receipts';
import { until } from '../../../../../tests/support/until.ts';
import { company, moveDns, scanTwice, sharedService } from '../../test/index.ts';

const profilePath = (name: string) => `/stack/v1/domains/${name}`;
const service = await sharedService();
/** Companies that no other file moves. */
const own = (index: number) => company(service.internet, 39 - index);

it('a profile has the same bytes and the same receipt for every way to write the name', async () => {
  const domain = own(0);
  const plain = await service.get(profilePath(domain));
  for (const [name, value] of Object.entries(plain.body))
    if (name !== 'provenance') assert.equal(JSON.stringify(value), canonicalize(value), `${name} is written once`);
  const fullWidth = domain.replace(/^./, (c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0));
  const unicode = [fullWidth, domain.replace('.', '。')].map(encodeURIComponent);
  for (const form of [domain.toUpperCase(), `${domain}.`, `a.b._dmarc.${domain}.`, ...unicode]) {
    const { status, text, headers } = await service.get(profilePath(form));
    assert.deepEqual([status, text, headers.get('etag')], [200, plain.text, plain.headers.get('etag')], form);
  }
});
it('a profile is signed again after a scan, and then not again', async () => {
  const receipt = async () => (await service.get(profilePath(own(1)))).body.provenance.receipt_id;
  await service.scan(own(1));
  const old = await receipt();
  await service.scan(own(1));
  assert.notEqual(await receipt(), old);
  // The node may still read the last events of the scan, after which it signs once more.
  await until(async () => new Set([await receipt(), await receipt()]).size === 1);
});

const changesPath = (query: string) => `${profilePath(own(2))}/changes${query}`;

it('a history is an empty list, not 404, where nothing has changed', async () => {
  const { status, body } = await service.get(changesPath(''));
  const { total, limit, offset, changes } = body;
  assert.deepEqual([status, total, limit, offset, changes], [200, 0, 50, 0, []]);
});
it('a history shows a migration that a second scan has confirmed, newest first', async () => {
  const { domain, from, to } = moveDns(service.internet);
  await service.restart();
  await scanTwice(service, domain);
  const { body } = await service.get(`${profilePath(domain)}/changes`);
  const changes = body.changes as Record<string, unknown>[];
  const migration = changes.find(({ type, category }) => type === 'migrated' && category === 'dns');
  assert.deepEqual([migration?.from_id, migration?.to_id, body.total], [from, to, changes.length]);
  const times = changes.map(({ at }) => String(at));
  assert.deepEqual(times, [...times].sort().reverse());
});
it('answers about all domains keep their receipt while nothing changes, and are known by their ETag', async () => {
  const targets = 'stats/providers intelligence/market-share search?q=a providers/cloudflare alerts';
  for (const path of targets.split(' ').map((target) => `/stack/v1/${target}`)) {
    const [first, again] = [await service.get(path), await service.get(path)];
    assert.equal(first.text, again.text, path);
    const known = await service.get(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    assert.deepEqual([known.status, known.text], [304, ''], path);
    assert.equal(first.headers.get('cache-control'), 'private, no-cache');
  }
});
it('answers about all domains are recomputed within about a second after a change that affects them, and only these', async () => {
  const { internet } = service;
  const servicesOf = (name: string) => internet.truth(name).services;
  const isOnCloudflare = (name: string) =>
    servicesOf(name).some(({ provider, category }) => provider === 'cloudflare' && category === 'dns');
  const moving = internet.domains().find(isOnCloudflare) ?? assert.fail();
  const used = new Set(servicesOf(moving).map(({ provider }) => provider));
  const untouched = ['godaddy', 'he-dns', 'zoho-mail', 'proton-mail'].find((id) => !used.has(id));
  const paths = ['search?provider=cloudflare', 'stats/migrations', `search?provider=${untouched}`, 'anomalies'];
  const receiptOf = async (path: string) => (await service.get(`/stack/v1/${path}`)).body.provenance.receipt_id;
  const receipts = () => Promise.all(paths.map(receiptOf));
  // What other tests have scanned is read before.
  await service.running.updateLoop.run();
  service.age();
  const old = await receipts();
  internet.migrate(moving, { category: 'dns', to: 'ns1' });
  await scanTwice(service, moving);
  await service.running.updateLoop.run();
  service.age();
  const isKept = (await receipts()).map((receipt, i) => receipt === old[i]);
  assert.deepEqual(isKept, [false, false, true, true]);
  const { body } = await service.get('/stack/v1/search?provider=ns1');
  assert.ok((body.results as { domain: string }[]).some(({ domain }) => domain === moving));
});
it('answers about all domains are signed at most once in 0.6 s while scans go on, and say when they were computed', async () => {
  const stats = async () => {
    const { body } = await service.get('/stack/v1/stats');
    const { receipt_id } = body.provenance;
    return { receipt_id, scans: Number(body.scans), at: Date.parse(String(body.computed_at)) };
  };
  const scan = async () => {
    await service.scan(company(service.internet, 38));
    await service.running.updateLoop.run();
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
