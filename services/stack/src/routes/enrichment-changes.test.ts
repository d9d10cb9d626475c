// Answers on advisories follow what publishers publish and what scans find, both ways, and keep their receipts until then.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type AdvisoryService, phpHole, questionsTo, sharedAdvisories, showing } from '../test/advisories.ts';

let shared: AdvisoryService;
const { get, affected, advisories, openOf } = questionsTo(() => shared.service);
/** A scanned company whose site shows all of these. */
const scannedWith = (...products: string[]) =>
  shared.scanned.find((domain) => products.every((each) => showing(shared.internet, each).includes(domain))) ??
  assert.fail();
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

describe('what changes of advisories', () => {
  let publishers: AdvisoryService['publishers'];
  before(async () => {
    shared = await sharedAdvisories();
    publishers = shared.publishers;
  });

  it('changes the answers at once, and until then they keep their receipts', async () => {
    const domain = scannedWith('php');
    const paths = ['enrichment/affected', 'enrichment/advisories', `domains/${domain}`, 'providers/php'];
    const receipts = () => Promise.all(paths.map(async (path) => (await get(path)).provenance.receipt_id));
    await shared.sync();
    const before = await receipts();
    await shared.sync();
    assert.deepEqual(await receipts(), before, 'a sync that brought nothing');
    publishers.publish(phpHole('CVE-2026-80001'));
    await shared.sync();
    assert.ok((await receipts()).every((receipt, i) => receipt !== before[i]));
    assert.ok((await affected('&advisory=CVE-2026-80001&match=version&severity=critical')).length > 0);
    assert.ok(idsOf(await affected(`&domain=${domain}`)).includes('CVE-2026-80001'));
  });

  it('takes back what is withdrawn, and moves up what is exploited', async () => {
    const position = async () => idsOf(await advisories()).indexOf('CVE-2026-80001');
    shared.age();
    const before = await position();
    publishers.exploit('CVE-2026-80001');
    await shared.sync(['kev', 'epss']);
    const up = await position();
    assert.ok(up >= 0 && up < before, `${before} to ${up}`);
    const all = await affected();
    for (const [asked, isExploited] of [
      ['true', true],
      ['FALSE', false],
    ] as const) {
      const meant = all.filter((row) => row.known_exploited === isExploited);
      assert.deepEqual(await affected(`&known_exploited=${asked}`), meant);
      assert.deepEqual(idsOf(await advisories(`&known_exploited=${asked}`)), [...new Set(idsOf(meant))]);
    }
    assert.deepEqual(idsOf(await advisories('&advisory=cve-2026-80001')), ['CVE-2026-80001']);
    for (const [query, advisory, domain] of [
      ['', null, null],
      ['&advisory=CVE-1999-0001&domain=never-scanned.com', false, false],
    ] as const) {
      const { known } = await get(`enrichment/affected?limit=1${query}`);
      assert.deepEqual(known, { advisories: true, advisory, domain });
    }
    publishers.withdraw('CVE-2026-80001');
    await shared.sync();
    assert.deepEqual([await position(), await affected('&advisory=CVE-2026-80001')], [-1, []]);
  });

  it('is counted once for a domain, whatever number of its products it names', async () => {
    const domain = scannedWith('php', 'wordpress');
    const before = await openOf(`domains/${domain}`);
    const { affected: products, ...hole } = phpHole('CVE-2026-80003');
    const wordpress = { cpe: 'wordpress:wordpress', vendor: 'WordPress Foundation', product: 'WordPress' };
    publishers.publish({ ...hole, affected: [...products, { ...wordpress, versions: [{ below: '0.1' }, {}] }] });
    await shared.sync();
    const rows = await affected(`&domain=${domain}&advisory=CVE-2026-80003`);
    assert.deepEqual(rows.map(({ product_id }) => product_id).sort(), ['php', 'wordpress']);
    const after = await openOf(`domains/${domain}`);
    assert.equal(after.version + after.product, before.version + before.product + 1);
    const found = (await advisories()).find(({ id }) => id === 'CVE-2026-80003') ?? assert.fail();
    assert.equal((found.products as unknown[]).length, 2);
    const all = (await affected('&advisory=CVE-2026-80003')).filter((row) => row.domain === domain);
    assert.deepEqual(all, rows, 'in the same order, whichever domain is asked for');
  });

  it('is found by a new scan, also one that a request waits for', async () => {
    const { service, unscanned } = shared;
    const [onRequest = '', waited = ''] = unscanned;
    shared.age();
    const before = (await get('enrichment/affected')).total as number;
    const open = await openOf(`domains/${onRequest}`);
    const risk = await openOf(`intelligence/risk/${onRequest}`);
    await service.scan(waited);
    await service.running.service.app.pulse.now();
    shared.age();
    const rows = await affected(`&domain=${onRequest}`);
    assert.ok(rows.length > 0);
    assert.equal(open.version + open.product, new Set(idsOf(rows)).size);
    assert.equal(risk.version, open.version);
    const more = rows.length + (await affected(`&domain=${waited}`)).length;
    assert.equal((await get('enrichment/affected')).total, before + more);
  });
});
