// Every parameter of every route, as nobody should send it: a clear refusal that names it, or the right answer; never a 500.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { type Harness, smallInternet, startHarness } from '../test/harness.ts';

let internet: Internet;
let service: Harness;
before(async () => {
  internet = await smallInternet();
  service = await startHarness({ internet });
  await service.scan(...internet.domains());
  await service.running.service.app.pulse.now();
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

const LONG = 'x'.repeat(10_000);

/** Asks; nothing may fail on our side, and every answer in JSON has its receipt. */
async function ask(path: string) {
  const answer = await service.get(path);
  assert.ok(answer.status < 500, `${path.slice(0, 120)}: ${answer.status} ${answer.text.slice(0, 200)}`);
  if (answer.text.startsWith('{')) assert.ok(answer.body.provenance?.ledger_receipt_id, path.slice(0, 120));
  return answer;
}

async function assertRefused(path: string, field: string, status = 400): Promise<void> {
  const { status: got, body } = await ask(path);
  assert.equal(got, status, `${path.slice(0, 160)}: ${JSON.stringify(body).slice(0, 300)}`);
  if (status === 400 && body.errors)
    assert.ok(
      body.errors.some((error) => error.field === field),
      `${path.slice(0, 120)} names ${field}`,
    );
}

describe('the other end of a migration', () => {
  for (const route of ['stats/migrations', 'migrations/export.csv'])
    it(`${route}: is refused without the provider, not passed over`, async () => {
      await assertRefused(`/stack/v1/${route}?other=cloudflare`, 'other');
      assert.equal((await ask(`/stack/v1/${route}?other=cloudflare&provider=godaddy`)).status, 200);
    });
});

describe('numbers in a query', () => {
  const routes = [
    ['search', 'limit', 1, 1_000],
    ['search', 'offset', 0, 10_000_000],
    ['stats/migrations', 'limit', 1, 1_000],
    ['stats/migrations', 'offset', 0, 10_000_000],
    ['stats/migrations', 'days', 1, 60],
    ['stats/migrations', 'hours', 1, 1_440],
    ['search', 'score_gte', 0, 100],
    ['search', 'score_lte', 0, 100],
    ['providers/cloudflare/customers', 'days', 1, 365],
    ['providers/cloudflare/customers', 'limit', 1, 1_000],
    ['alerts', 'limit', 1, 1_000],
    ['anomalies', 'limit', 1, 1_000],
    ['providers/cloudflare', 'limit', 1, 1_000],
    ['providers/cloudflare', 'offset', 0, 10_000_000],
    ['stream/json', 'limit', 1, 1_000],
    ['security/export.csv', 'score_lte', 0, 100],
  ] as const;
  for (const [route, name, least, most] of routes) {
    it(`${route}: ${name} is a whole number from ${least} to ${most}, or refused`, async () => {
      for (const good of [least, most]) {
        const { status, body } = await ask(`/stack/v1/${route}?${name}=${good}`);
        assert.equal(status, 200);
        if (name === 'limit' || name === 'offset') {
          const told = route === 'providers/cloudflare' ? (body.domains as unknown as Record<string, number>) : body;
          if (name in told) assert.equal(told[name], good, 'never cut silently');
        }
      }
      const bad = [
        least - 1,
        most + 1,
        -1,
        '',
        '%20',
        'NaN',
        'Infinity',
        '1e2',
        '0x10',
        '1.5',
        '%2B5',
        ' 5',
        '5%00',
        'ten',
        '٣',
        LONG.slice(0, 5_000),
        '9'.repeat(400),
      ];
      for (const value of bad) await assertRefused(`/stack/v1/${route}?${name}=${value}`, name);
      await assertRefused(`/stack/v1/${route}?${name}=5&${name}=6`, name);
    });
  }
});

describe('words in a query', () => {
  const routes = [
    ['search', 'category', 'dns'],
    ['search', 'confidence', 'high'],
    ['search', 'sector', 'unknown'],
    ['search', 'state', 'active'],
    ['search', 'state', 'live'],
    ['search', 'flag', 'dmarc_reject'],
    ['search', 'flag', 'spf_valid,dmarc_valid'],
    ['search', 'without', 'dnssec'],
    ['search', 'min_confidence', 'medium'],
    ['search', 'grade', 'b'],
    ['providers/cloudflare/customers', 'direction', 'in'],
    ['stats/migrations', 'direction', 'out'],
    ['stats/migrations', 'category', 'email'],
    ['intelligence/market-share', 'category', 'cdn'],
    ['intelligence/market-share', 'include_parked', 'true'],
    ['security/export.csv', 'sector', 'media'],
    ['migrations/export.csv', 'direction', 'in'],
    ['stream/json', 'category', 'dns'],
    ['stream/json', 'types', 'migration'],
  ] as const;
  for (const [route, name, word] of routes) {
    it(`${route}: ${name} is one of its words, whatever the case, or refused`, async () => {
      const [lower, upper] = [
        await ask(`/stack/v1/${route}?${name}=${word}`),
        await ask(`/stack/v1/${route}?${name}=${word.toUpperCase()}`),
      ];
      assert.deepEqual([lower.status, upper.status], [200, 200]);
      const bad = [
        '',
        '%20',
        'nonsense',
        `${word}%00`,
        `${word}%2F`,
        `${word}s`,
        'hasOwnProperty',
        '__proto__',
        '1',
        'ｄｎｓ',
        LONG.slice(0, 5_000),
      ];
      for (const value of bad) await assertRefused(`/stack/v1/${route}?${name}=${value}`, name);
      await assertRefused(`/stack/v1/${route}?${name}=${word}&${name}=${word}`, name);
    });
  }
});

describe('a part of a name', () => {
  it('is trimmed and lower-cased; what no name can hold is refused', async () => {
    const total = async (q: string) => (await ask(`/stack/v1/search?q=${q}`)).body.total;
    assert.ok(Number(await total('a')) > 0);
    assert.equal(await total('A'), await total('a'));
    assert.equal(await total('%20a%20'), await total('a'));
    assert.equal(await total('zzzzqqq'), 0);
    assert.equal(await total('m%C3%BCller'), 0);
    for (const q of [
      '',
      '%20',
      '%00',
      'a%00b',
      'a%20b',
      '%27%20OR%201=1',
      'a%2Fb',
      '*',
      '%25',
      '%F0%9F%98%80%00',
      LONG.slice(0, 5_000),
    ]) {
      await assertRefused(`/stack/v1/search?q=${q}`, 'q');
    }
    await assertRefused('/stack/v1/search?q=a&q=b', 'q');
  });
});

describe('the name of a provider', () => {
  const paths = ['providers/', 'intelligence/supply-chain/', 'intelligence/adoption/'];

  it('is an id, a name or an alias, in any case and encoding', async () => {
    for (const path of paths) {
      for (const name of [
        'google-workspace',
        'Google%20Workspace',
        'GOOGLE WORKSPACE',
        'google+workspace',
        'G%20Suite',
        'gmail',
        '%67oogle-workspace',
        '%20gmail%20',
      ]) {
        const { status, body } = await ask(`/stack/v1/${path}${name}`);
        assert.deepEqual([status, body.provider_id], [200, 'google-workspace'], name);
      }
    }
    for (const query of ['search?limit=1&provider=', 'stream/json?provider=']) {
      for (const name of ['Google+Workspace', 'Google%20Workspace', 'gmail'])
        assert.equal((await ask(`/stack/v1/${query}${name}`)).status, 200);
    }
  });

  it('that nobody has is 404 with the three nearest, whatever it holds', async () => {
    for (const path of [...paths, 'migrations/export.csv?provider=']) {
      for (const name of [
        'clodflare',
        'a%2Fb',
        '..%2F..%2Fetc',
        '%E2%98%83',
        'x%3Cscript%3E',
        'hasOwnProperty',
        '__proto__',
        '%25',
        "o'brien",
        '%22',
        'ＧＯＯＧＬＥ１',
      ]) {
        const { status, body } = await ask(`/stack/v1/${path}${name}`);
        assert.deepEqual([status, body.code, body.errors?.length], [404, 'unknown_provider', 3], `${path}${name}`);
      }
    }
    const { body } = await ask('/stack/v1/search?provider=clodflare');
    assert.deepEqual([body.total, body.results], [0, []]);
    assert.equal((body.did_you_mean as string[])[0], 'Cloudflare');
  });

  it('that is none is refused', async () => {
    for (const path of paths) {
      for (const name of ['%00', 'a%00', '%20', 'a%0Ab', 'x'.repeat(257), '%'])
        await assertRefused(`/stack/v1/${path}${name}`, path.endsWith('adoption/') ? 'tool' : 'provider');
    }
    for (const name of ['', '%20', '%00', 'x'.repeat(300)]) {
      await assertRefused(`/stack/v1/search?provider=${name}`, 'provider');
      await assertRefused(`/stack/v1/stream/json?provider=${name}`, 'provider');
    }
    await assertRefused('/stack/v1/search?provider=a&provider=b', 'provider');
  });
});

describe('a domain', () => {
  it('that is none is refused, in a path and in a query', async () => {
    for (const name of ['-', 'a%00b', '127.0.0.1', 'com', 'x'.repeat(300), 'a%2Fb.com', '%20']) {
      await assertRefused(`/stack/v1/intelligence/risk/${name}`, 'domain');
      await assertRefused(`/stack/v1/anomalies?domain=${name}`, 'domain');
      await assertRefused(`/stack/v1/stream/json?domain=${name}`, 'domain');
    }
    await assertRefused('/stack/v1/anomalies?domain=', 'domain');
    assert.equal((await ask('/stack/v1/anomalies?domain=WWW.Example.COM')).body.domain, 'example.com');
    assert.equal((await ask('/stack/v1/intelligence/risk/not-there-at-all.com')).status, 404);
  });
});

describe('since', () => {
  it('is a time with a zone that is not ahead, or refused', async () => {
    const good = [
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00.123456Z',
      '2026-01-31T12:00:00%2B01:00',
      '2026-01-31T12:00:00+01:00',
      '2026-01-31t12:00:00z',
      '2026-01-31T12:00:00,5Z',
      '1970-01-01T00:00:00Z',
    ];
    for (const since of good) assert.equal((await ask(`/stack/v1/stream/json?since=${since}`)).status, 200, since);
    const bad = [
      '',
      '2026-01-31',
      '2026-01-31T12:00:00',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-01-31T25:00:00Z',
      '2026-01-31T12:00Z',
      'yesterday',
      '1769860800',
      'NaN',
      '2026-01-31T12:00:00Z%00',
      LONG.slice(0, 5_000),
      '9999-01-01T00:00:00Z',
      '%2B010000-01-01T00:00:00Z',
    ];
    for (const since of bad) await assertRefused(`/stack/v1/stream/json?since=${since}`, 'since');
    await assertRefused('/stack/v1/stream/json?since=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z', 'since');
    assert.match((await ask('/stack/v1/stream/json?since=2026-01-31')).body.errors?.[0]?.message ?? '', /zone/);
  });

  it('before the log began is answered with a note of the gap', async () => {
    const { body } = await ask('/stack/v1/stream/json?since=2001-01-01T00:00:00Z');
    assert.deepEqual((body.gap as { reason: string }).reason, 'the log began later');
  });
});

describe('a URL', () => {
  it('that is too long, broken or unknown is told as such', async () => {
    assert.equal((await ask(`/stack/v1/search?q=${LONG}`)).status, 414);
    assert.equal((await ask(`/stack/v1/providers/${LONG}`)).status, 400);
    assert.equal((await ask('/stack/v1/providers/%E0%A4%A')).status, 400);
    for (const path of ['/stack/v1/', '/stack/v1/Stats', '/stack/v2/stats', '/stack/v1/providers', '/stack/v1/stats/x'])
      assert.equal((await ask(path)).status, 404, path);
    assert.equal((await ask('/stack/v1/stats?unknown=1&constructor=2&__proto__=3')).status, 200);
  });
});
