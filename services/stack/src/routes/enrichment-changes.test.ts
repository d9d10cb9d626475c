// Answers on advisories follow what publishers say and what scans see, both ways, and keep their receipts until then.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type AdvisoryService, sharedAdvisories } from '../test/advisories.ts';
import type { Body } from '../test/harness.ts';

interface About extends Record<string, unknown> {
  readonly id: string;
  readonly severity: string | null;
  readonly match: string;
}
interface Affected extends About {
  readonly domain: string;
  readonly product_id: string;
}

const TAKEOVER = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';

let advisoryService: AdvisoryService;

async function get(path: string): Promise<Body> {
  const { status, body, text } = await advisoryService.service.get(`/stack/v1/${path}`);
  assert.equal(status, 200, text.slice(0, 300));
  return body;
}
const affected = async (query = '') => (await get(`enrichment/affected?limit=1000${query}`)).affected as Affected[];
const advisories = async (query = '') => (await get(`enrichment/advisories?limit=1000${query}`)).advisories as About[];
const withoutReceipt = ({ provenance: _, ...body }: Body) => body;
/** A scanned company whose site shows this. */
const showing = (product: string) =>
  advisoryService.scanned.find((domain) => advisoryService.internet.truth(domain).versions[product]?.version != null) ??
  assert.fail(product);

const phpHole = (id: string, more: object = {}) => ({
  id,
  title: 'A hole',
  vector: TAKEOVER,
  affected: [{ cpe: 'php:php', vendor: 'PHP Group', product: 'PHP', versions: [{}] }],
  ...more,
});

describe('what changes of advisories', () => {
  let publishers: AdvisoryService['publishers'];
  before(async () => {
    advisoryService = await sharedAdvisories();
    publishers = advisoryService.publishers;
  });

  const everything = async () => ({
    list: withoutReceipt(await get('enrichment/advisories?limit=1000')),
    domain: withoutReceipt(await get(`domains/${showing('php')}`)),
  });
  const receipts = async () => {
    const paths = ['enrichment/affected', 'enrichment/advisories', `domains/${showing('php')}`, 'providers/php'];
    return Promise.all(paths.map(async (path) => (await get(path)).provenance.receipt_id));
  };

  it('changes the answers at once, and until then they keep their receipts', async () => {
    await advisoryService.sync();
    const before = await receipts();
    await advisoryService.sync();
    assert.deepEqual(await receipts(), before, 'a sync that brought nothing');
    publishers.publish(phpHole('CVE-2026-80001'));
    await advisoryService.sync();
    const after = await receipts();
    assert.ok(after.every((receipt, i) => receipt !== before[i]));
    const domain = showing('php');
    const [row] = await affected('&advisory=CVE-2026-80001&match=version&severity=critical');
    assert.ok(row);
    assert.ok((await affected(`&domain=${domain}`)).some(({ id }) => id === 'CVE-2026-80001'));
  });

  it('takes back what is withdrawn, and moves up what is exploited', async () => {
    const position = async () => (await advisories()).findIndex(({ id }) => id === 'CVE-2026-80001');
    advisoryService.age();
    const before = await position();
    publishers.exploit('CVE-2026-80001');
    await advisoryService.sync(['kev', 'epss']);
    const up = await position();
    assert.ok(up >= 0 && up < before, `${before} to ${up}`);
    const all = await affected();
    for (const [asked, isExploited] of [
      ['true', true],
      ['FALSE', false],
    ] as const) {
      const meant = all.filter((row) => row.known_exploited === isExploited);
      assert.deepEqual(await affected(`&known_exploited=${asked}`), meant);
      const listed = (await advisories(`&known_exploited=${asked}`)).map(({ id }) => id);
      assert.deepEqual(listed, [...new Set(meant.map(({ id }) => id))]);
    }
    assert.deepEqual(
      (await advisories('&advisory=cve-2026-80001')).map(({ id }) => id),
      ['CVE-2026-80001'],
    );
    const known = async (query: string) => (await get(`enrichment/affected?limit=1${query}`)).known;
    assert.deepEqual(await known(''), { advisories: true, advisory: null, domain: null });
    assert.deepEqual(await known('&advisory=CVE-1999-0001&domain=never-scanned.com'), {
      advisories: true,
      advisory: false,
      domain: false,
    });
    publishers.withdraw('CVE-2026-80001');
    await advisoryService.sync();
    assert.equal(await position(), -1);
    assert.deepEqual(await affected('&advisory=CVE-2026-80001'), []);
  });

  it('is counted once for a domain, whatever number of its products it names', async () => {
    const domain = advisoryService.scanned.find((name) => {
      const { php, wordpress } = advisoryService.internet.truth(name).versions;
      return php?.version != null && wordpress?.version != null;
    });
    assert.ok(domain);
    const open = async () => {
      return (await get(`domains/${domain}`)).advisories as { version: number; product: number; top: About[] };
    };
    const before = await open();
    const { affected: products, ...hole } = phpHole('CVE-2026-80003');
    const wordpress = { cpe: 'wordpress:wordpress', vendor: 'WordPress Foundation', product: 'WordPress' };
    publishers.publish({ ...hole, affected: [...products, { ...wordpress, versions: [{ below: '0.1' }, {}] }] });
    await advisoryService.sync();
    const rows = await affected(`&domain=${domain}&advisory=CVE-2026-80003`);
    assert.deepEqual(rows.map(({ product_id }) => product_id).sort(), ['php', 'wordpress']);
    const after = await open();
    assert.equal(after.version + after.product, before.version + before.product + 1);
    const told = (await advisories()).find(({ id }) => id === 'CVE-2026-80003') ?? assert.fail();
    assert.equal((told.products as unknown[]).length, 2);
    const all = await affected('&advisory=CVE-2026-80003');
    assert.deepEqual(
      all.filter((row) => row.domain === domain),
      rows,
      'in the same order, whoever is asked for',
    );
  });

  it('is found by a new scan, also one that a request waits for', async () => {
    const { service, unscanned } = advisoryService;
    const [onRequest = '', waited = ''] = unscanned;
    advisoryService.age();
    const before = (await get('enrichment/affected')).total as number;
    const open = (await get(`domains/${onRequest}`)).advisories as { version: number; product: number };
    const risk = (await get(`intelligence/risk/${onRequest}`)).advisories as { version: number };
    await service.scan(waited);
    await service.running.service.app.pulse.now();
    advisoryService.age();
    const rows = await affected(`&domain=${onRequest}`);
    assert.ok(rows.length > 0);
    assert.equal(open.version + open.product, new Set(rows.map(({ id }) => id)).size);
    assert.equal(risk.version, open.version);
    const more = rows.length + (await affected(`&domain=${waited}`)).length;
    assert.equal((await get('enrichment/affected')).total, before + more);
  });

  it('is the same after a restart, and what was synced meanwhile is found', async () => {
    advisoryService.age();
    const before = await everything();
    const { service } = advisoryService;
    await service.restart();
    assert.deepEqual(await everything(), before);
    publishers.publish(phpHole('CVE-2026-80002'));
    await advisoryService.sync();
    await service.restart();
    assert.ok((await affected('&advisory=cve-2026-80002')).length > 0);
  });
});
