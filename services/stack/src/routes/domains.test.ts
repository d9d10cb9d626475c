// Profiles and histories over real sockets: names as people write them, pages, receipts that stay.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { company, type Harness, moveDns, smallInternet, startHarness } from '../test/harness.ts';

let internet: Internet;
let service: Harness;
before(async () => {
  internet = await smallInternet();
  service = await startHarness({ internet });
  await service.scan(company(internet, 1), company(internet, 2));
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

const profilePath = (name: string) => `/stack/v1/domains/${name}`;

describe('a name that is no domain', () => {
  const names: Record<string, string> = {
    'an empty name': '%20',
    'a dot': '%2E%2E%2E',
    '254 bytes': `${'a'.repeat(62)}.${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(61)}.com`,
    'a label of 64 bytes': `${'a'.repeat(64)}.com`,
    'an emoji without a zone': encodeURIComponent('🦊'),
    'a heart that UTS 46 maps to nothing': encodeURIComponent('\u200d.com'),
    'bad punycode': 'xn--a-ecp-.com',
    'punycode of plain letters': 'xn--abc-.com',
    'an IPv4 address': '192.0.2.1',
    'an IPv4 address in hexadecimal': '0x7f.1',
    'an IPv6 address': '2001:db8::1',
    'an IPv6 address in brackets': '%5B::1%5D',
    'a way up': '..%2F..%2Fetc%2Fpasswd',
    'an encoded slash': 'example.com%2Fpath',
    'a NUL': 'exam%00ple.com',
    'a line break': 'example.com%0d%0aset-cookie:x',
    'a public suffix': 'co.uk',
    'a top-level domain': 'com',
    'a single word': 'localhost',
    'a URL': 'https:%2F%2Fexample.com',
    'an underscore': 'my_company.com',
    'a hyphen at the edge': '-example.com',
  };
  for (const [what, name] of Object.entries(names)) {
    it(`is refused as invalid_domain with a sentence: ${what}`, async () => {
      for (const path of [profilePath(name), `${profilePath(name)}/changes`]) {
        const { status, body } = await service.get(path);
        assert.deepEqual([status, body.code], [400, 'invalid_domain'], path);
        assert.equal(body.errors?.[0]?.field, 'domain');
        assert.match(body.errors?.[0]?.message ?? '', /\.$/);
      }
    });
  }

  it('is never routed elsewhere by dots in the path, whatever the client makes of them', async () => {
    for (const path of ['/stack/v1/domains/../domains', '/stack/v1/domains/', '/stack/v1/domains//changes']) {
      const { status, body } = await service.get(path);
      assert.ok([400, 404].includes(status), `${path}: ${status}`);
      assert.ok(['invalid_domain', 'not_found'].includes(body.code ?? ''), path);
    }
  });

  it('is refused as a broken URL when its percent-encoding is broken', async () => {
    const { status, body } = await service.get('/stack/v1/domains/%E0%A4%A');
    assert.deepEqual([status, body.code], [400, 'invalid_parameter']);
  });
});

describe('a profile', () => {
  it('has the given fields, services with evidence, and a complete receipt', async () => {
    const domain = company(internet, 1);
    const { status, body, headers } = await service.get(profilePath(domain));
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual([body._alpha, body.domain], [true, domain]);
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
    const domain = company(internet, 1);
    const plain = await service.get(profilePath(domain));
    const forms = [
      domain,
      domain.toUpperCase(),
      `${domain}.`,
      `WWW.${domain}`,
      `a.b._dmarc.${domain}.`,
      `${domain}?x=1`,
    ];
    const fullWidth = encodeURIComponent(domain.replace(/^./, (c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0)));
    for (const form of [...forms, fullWidth, encodeURIComponent(domain.replace('.', '。'))]) {
      const { status, text, headers } = await service.get(profilePath(form));
      assert.equal(status, 200, form);
      assert.equal(text, plain.text, form);
      assert.equal(headers.get('etag'), plain.headers.get('etag'));
    }
  });

  it('is told by 304 to whoever has it, and has no body for HEAD', async () => {
    const path = profilePath(company(internet, 1));
    const { headers } = await service.get(path);
    const again = await service.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    assert.deepEqual([again.status, again.text], [304, '']);
    const other = await service.get(path, { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200);
    const key = await service.newKey();
    const head = await service.ask(path, { method: 'HEAD', headers: { 'x-stack-key': key } });
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', headers.get('etag')]);
  });

  it('keeps its receipt until a rescan gives it a new one', async () => {
    const domain = company(internet, 2);
    const first = await service.get(profilePath(domain));
    const second = await service.get(profilePath(domain));
    assert.equal(second.text, first.text);
    await service.scan(domain);
    const third = await service.get(profilePath(domain));
    assert.notEqual(third.body.provenance.receipt_id, first.body.provenance.receipt_id);
    assert.equal((await service.get(profilePath(domain))).text, third.text);
  });

  it('is signed once for many who ask at the same moment', async () => {
    const domain = company(internet, 3);
    await service.scan(domain);
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.get(profilePath(domain))));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  });
});

describe('a history', () => {
  const changesPath = (query: string) => `${profilePath(company(internet, 2))}/changes${query}`;

  it('is an empty list, not 404, where nothing has changed', async () => {
    const { status, body } = await service.get(changesPath(''));
    assert.equal(status, 200);
    assert.deepEqual([body.total, body.limit, body.offset, body.changes], [0, 50, 0, []]);
  });

  it('ignores query parameters that it does not know', async () => {
    const plain = await service.get(changesPath(''));
    const { status, text } = await service.get(changesPath('?utm_source=x&utm_source=y&__proto__=1&limits=0'));
    assert.deepEqual([status, text], [200, plain.text]);
  });

  it('takes the limits of the page, and refuses what lies outside with the field that is wrong', async () => {
    const { body } = await service.get(changesPath('?limit=1000&offset=7'));
    assert.deepEqual([body.limit, body.offset], [1000, 7]);
    const bad: [string, string[]][] = [
      ['?limit=0', ['limit']],
      ['?limit=1001', ['limit']],
      ['?limit=-1', ['limit']],
      ['?limit=ten', ['limit']],
      ['?limit=1.5', ['limit']],
      ['?limit=NaN', ['limit']],
      ['?limit=5&limit=6', ['limit']],
      ['?offset=-1', ['offset']],
      ['?offset=99999999999999999999', ['offset']],
      ['?limit=&offset=', ['limit', 'offset']],
      ['?limit=0x10&offset=1e2', ['limit', 'offset']],
      ['?limit=%205', ['limit']],
    ];
    for (const [query, fields] of bad) {
      const { status, body: problem } = await service.get(changesPath(query));
      assert.deepEqual([status, problem.code], [400, 'invalid_parameter'], query);
      assert.deepEqual(
        problem.errors?.map(({ field }) => field),
        fields,
        query,
      );
    }
  });

  it('shows a migration that a second look has confirmed, newest first', async () => {
    await using confirming = await startHarness({ internet, settings: { STRATA_CONFIRM_AFTER_HOURS: '0' } });
    await confirming.scan(...internet.domains());
    const { domain, from, to } = moveDns(internet);
    await confirming.restart();
    await confirming.scan(domain);
    await confirming.scan(domain);
    const { body } = await confirming.get(`${profilePath(domain)}/changes`);
    const changes = body.changes as Record<string, unknown>[];
    const migration = changes.find(({ type, category }) => type === 'migrated' && category === 'dns');
    assert.deepEqual([migration?.from_id, migration?.to_id], [from, to]);
    assert.equal(body.total, changes.length);
    const times = changes.map(({ at }) => String(at));
    assert.deepEqual(times, [...times].sort().reverse());
  });
});
