// Profiles and histories over real sockets: names as people write them, pages, receipts that stay.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { company, moveDns } from '../test/harness.ts';
import { type SharedService, sharedService } from '../test/shared.ts';

const profilePath = (name: string) => `/stack/v1/domains/${name}`;
let service: SharedService;
const open = async () => {
  service = await sharedService();
};
/** Companies that no other file moves. */
const own = (index: number) => company(service.internet, 39 - index);

describe('a name that is not a domain', () => {
  before(open);

  it('is refused as invalid_domain, with the field and a sentence', async () => {
    for (const [what, name] of [
      ['an empty name', '%20'],
      ['254 bytes', `${'a'.repeat(62)}.${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(61)}.com`],
      ['a label of 64 bytes', `${'a'.repeat(64)}.com`],
      ['bad punycode', 'xn--a-ecp-.com'],
      ['an IPv4 address in hexadecimal', '0x7f.1'],
      ['an IPv6 address', '2001:db8::1'],
      ['a path', '..%2F..%2Fetc%2Fpasswd'],
      ['a NUL', 'exam%00ple.com'],
      ['a line break', 'example.com%0d%0aset-cookie:x'],
      ['a public suffix', 'co.uk'],
      ['a single word', 'localhost'],
      ['a URL', 'https:%2F%2Fexample.com'],
      ['an underscore', 'my_company.com'],
    ] as const)
      for (const path of [profilePath(name), `${profilePath(name)}/changes`]) {
        const { status, body } = await service.get(path);
        assert.deepEqual([status, body.code, body.errors?.[0]?.field], [400, 'invalid_domain', 'domain'], what);
        assert.match(body.errors?.[0]?.message ?? '', /\.$/);
      }
  });

  it('is never routed elsewhere by dots in the path, and is a broken URL when its percent-encoding is broken', async () => {
    for (const path of ['/stack/v1/domains/../domains', '/stack/v1/domains/', '/stack/v1/domains//changes']) {
      const { status, body } = await service.get(path);
      assert.ok([400, 404].includes(status), `${path}: ${status}`);
      assert.ok(['invalid_domain', 'not_found'].includes(body.code ?? ''), path);
    }
    const { status, body } = await service.get('/stack/v1/domains/%E0%A4%A');
    assert.deepEqual([status, body.code], [400, 'invalid_parameter']);
  });
});

describe('a profile', () => {
  before(open);

  it('has the given fields, services with evidence, and a complete receipt', async () => {
    const { status, body, headers } = await service.get(profilePath(own(0)));
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual([body._alpha, body.domain], [true, own(0)]);
    assert.match(String(body._notice), /guarantee/);
    assert.match(String(body.scanned_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const services = body.services as { category: string; provider: string; confidence: string; evidence: object[] }[];
    assert.ok(services.length > 0);
    for (const each of services) assert.ok(each.provider && each.category && each.evidence.length > 0);
    assert.match(body.provenance.receipt_id ?? '', /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.match(body.provenance.signature ?? '', /^ed25519:/);
    assert.match(body.provenance.ledger_receipt_id ?? '', /^cr_[a-z2-7]{32}$/);
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

  it('answers 304 to a client that has it, and has no body for HEAD', async () => {
    const path = profilePath(own(0));
    const { headers } = await service.get(path);
    const again = await service.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    assert.deepEqual([again.status, again.text], [304, '']);
    const other = await service.get(path, { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200);
    const key = await service.newKey();
    const head = await service.ask(path, { method: 'HEAD', headers: { 'x-stack-key': key } });
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', headers.get('etag')]);
  });

  it('is signed once for many who ask at the same moment, and anew after a scan', async () => {
    await service.scan(own(1));
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.get(profilePath(own(1)))));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    await service.scan(own(1));
    const fresh = await service.get(profilePath(own(1)));
    assert.notEqual(fresh.body.provenance.receipt_id, answers[0]?.body.provenance.receipt_id);
    // The node may still read the last events of the scan, after which it signs once more.
    const deadline = Date.now() + 30_000;
    for (let last = ''; ; ) {
      const { text } = await service.get(profilePath(own(1)));
      if (text === last) break;
      last = text;
      assert.ok(Date.now() < deadline, 'each answer is signed anew');
    }
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
    for (const [query, fields] of [
      ['?limit=0', ['limit']],
      ['?limit=&offset=', ['limit', 'offset']],
    ] as const) {
      const { status, body: problem } = await service.get(changesPath(query));
      assert.deepEqual([status, problem.code], [400, 'invalid_parameter'], query);
      assert.deepEqual(
        problem.errors?.map(({ field }) => field),
        fields,
      );
    }
  });

  it('shows a migration that a second scan has confirmed, newest first', async () => {
    const { domain, from, to } = moveDns(service.internet);
    await service.restart();
    for (let look = 0; look < 2; look += 1) {
      await service.scan(domain);
      // The second scan has to be a later moment than the first.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const { body } = await service.get(`${profilePath(domain)}/changes`);
    const changes = body.changes as Record<string, unknown>[];
    const migration = changes.find(({ type, category }) => type === 'migrated' && category === 'dns');
    assert.deepEqual([migration?.from_id, migration?.to_id], [from, to]);
    assert.equal(body.total, changes.length);
    const times = changes.map(({ at }) => String(at));
    assert.deepEqual(times, [...times].sort().reverse());
  });
});
