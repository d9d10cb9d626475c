// Profiles and histories over real sockets: names as people write them, pages, receipts that stay. Names that are refused:
// bad-input.test.ts and packages/detect; the schema of an answer: description.test.ts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { company, moveDns, scanTwice } from '../test/harness.ts';
import { type SharedService, sharedService } from '../test/shared.ts';

const profilePath = (name: string) => `/stack/v1/domains/${name}`;
let service: SharedService;
const open = async () => {
  service = await sharedService();
};
/** Companies that no other file moves. */
const own = (index: number) => company(service.internet, 39 - index);

describe('a profile', () => {
  before(open);

  it('is of the domain, with evidence for each service', async () => {
    const { status, body } = await service.get(profilePath(own(0)));
    assert.deepEqual([status, body._alpha, body.domain], [200, true, own(0)]);
    const services = body.services as { evidence: object[] }[];
    assert.ok(services.length > 0 && services.every(({ evidence }) => evidence.length > 0));
  });

  it('has the same bytes and the same receipt for every way to write the name', async () => {
    const domain = own(0);
    const plain = await service.get(profilePath(domain));
    const fullWidth = domain.replace(/^./, (c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0));
    const unicode = [fullWidth, domain.replace('.', '。')].map(encodeURIComponent);
    for (const form of [domain.toUpperCase(), `${domain}.`, `a.b._dmarc.${domain}.`, `${domain}?x=1`, ...unicode]) {
      const { status, text, headers } = await service.get(profilePath(form));
      assert.deepEqual([status, text, headers.get('etag')], [200, plain.text, plain.headers.get('etag')], form);
    }
  });

  it('is signed anew after a scan, and then no more', async () => {
    const receipt = async () => (await service.get(profilePath(own(1)))).body.provenance.receipt_id;
    await service.scan(own(1));
    const old = await receipt();
    await service.scan(own(1));
    assert.notEqual(await receipt(), old);
    // The node may still read the last events of the scan, after which it signs once more.
    await until(async () => new Set([await receipt(), await receipt()]).size === 1);
  });
});

describe('a history', () => {
  before(open);
  const changesPath = (query: string) => `${profilePath(own(2))}/changes${query}`;

  it('is an empty list, not 404, where nothing has changed, whatever unknown parameters are added', async () => {
    const plain = await service.get(changesPath(''));
    assert.equal(plain.status, 200);
    const { total, limit, offset, changes } = plain.body;
    assert.deepEqual([total, limit, offset, changes], [0, 50, 0, []]);
    const { status, text } = await service.get(changesPath('?utm_source=x&utm_source=y&__proto__=1&limits=0'));
    assert.deepEqual([status, text], [200, plain.text]);
  });

  it('takes the limits of the page, and names every field that cannot be used', async () => {
    const { body } = await service.get(changesPath('?limit=1000&offset=7'));
    assert.deepEqual([body.limit, body.offset], [1000, 7]);
    const { status, body: problem } = await service.get(changesPath('?limit=0&offset='));
    const fields = problem.errors?.map(({ field }) => field);
    assert.deepEqual([status, problem.code, fields], [400, 'invalid_parameter', ['limit', 'offset']]);
  });

  it('shows a migration that a second scan has confirmed, newest first', async () => {
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
});
