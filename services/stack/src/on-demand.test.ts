// A domain that nobody scanned yet: what the first request for it gets.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { company, type Harness, smallInternet, startHarness, temporaryDirectory } from './test/harness.ts';

const profilePath = (name: string) => `/stack/v1/domains/${name}`;

describe('a domain that was never scanned', () => {
  let internet: Internet;
  let service: Harness;
  before(async () => {
    internet = await smallInternet();
    service = await startHarness({ internet });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  it('is scanned while the request waits, and the answer keeps its receipt', async () => {
    const before = Date.now() - 1;
    const domain = company(internet, 1);
    const first = await service.get(profilePath(`www.${domain}`));
    assert.deepEqual([first.status, first.body.domain], [200, domain]);
    assert.ok(Date.parse(String(first.body.scanned_at)) >= before);
    assert.equal((await service.get(profilePath(domain))).text, first.text);
  });

  it('is scanned for its history too, once for all who ask at the same time', async () => {
    const domain = company(internet, 2);
    const { store } = service.running.service.app;
    const { scans } = await store.counts();
    const paths = [`${profilePath(domain)}/changes`, profilePath(domain), `${profilePath(domain)}/changes?limit=5`];
    const answers = await Promise.all(paths.map((each) => service.get(each)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal((await store.counts()).scans, scans + 1);
  });

  it('is unknown when it does not exist, and leaves no trace', async () => {
    const { store } = service.running.service.app;
    const { domains } = await store.counts();
    for (const suffix of ['', '/changes']) {
      const { status, body, headers } = await service.get(`${profilePath('no-such-company-at-all.com')}${suffix}`);
      assert.deepEqual([status, body.code], [404, 'unknown_domain']);
      assert.match(body.detail ?? '', /does not exist/);
      // Coming back at once is of no use: NXDOMAIN is remembered for its negative TTL.
      assert.equal(headers.get('retry-after'), null);
    }
    assert.equal((await store.counts()).domains, domains);
  });

  it('is remembered as nonexistent, without asking the resolver again', async () => {
    const { prober } = service.running.service.app;
    const path = profilePath('nowhere-to-be-found.com');
    await service.get(path);
    const sent = () => prober.stats().sent;
    const before = sent();
    assert.equal((await service.get(path)).body.code, 'unknown_domain');
    assert.equal(sent(), before);
  });

  it('is answered 503 with Retry-After when its zone cannot be resolved just now', async () => {
    const domain = company(internet, 4);
    internet.fail(domain, { type: '*', status: 'servfail' });
    for (const suffix of ['', '/changes']) {
      const { status, body, headers } = await service.get(`${profilePath(domain)}${suffix}`);
      assert.deepEqual([status, body.code], [503, 'unavailable']);
      assert.equal(headers.get('retry-after'), '60');
    }
  });
});

describe('scanning on demand', () => {
  let internet: Internet;
  before(async () => {
    internet = await smallInternet();
  });
  after(async () => internet?.[Symbol.asyncDispose]());

  it('goes on when the wait is over: 404 with Retry-After first, the profile later', async () => {
    await using service = await startHarness({ internet, world: { onDemandWaitMs: 20 } });
    const domain = company(internet, 5);
    internet.fail(domain, { type: 'CAA', status: 'timeout' });
    const { status, body, headers } = await service.get(profilePath(domain));
    assert.deepEqual([status, body.code, headers.get('retry-after')], [404, 'unknown_domain', '5']);
    assert.match(body.detail ?? '', /is being scanned/);
    const deadline = Date.now() + 15_000;
    let later = await service.get(profilePath(domain));
    while (later.status !== 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      later = await service.get(profilePath(domain));
    }
    assert.equal(later.status, 200);
  });

  it('is limited for each key by the hour, and what is known already does not count', async () => {
    await using service = await startHarness({ internet, settings: { STRATA_ON_DEMAND_PER_HOUR: '2' } });
    for (const index of [6, 7]) assert.equal((await service.get(profilePath(company(internet, index)))).status, 200);
    assert.equal((await service.get(profilePath(company(internet, 6)))).status, 200);
    const path = profilePath(company(internet, 8));
    const { status, body, headers } = await service.get(path);
    assert.deepEqual([status, body.code], [404, 'unknown_domain']);
    assert.match(body.detail ?? '', /used up/);
    const wait = Number(headers.get('retry-after'));
    assert.ok(wait > 3_000 && wait <= 3_600, `retry-after ${wait}`);
    const other = { 'x-stack-key': await service.newKey() };
    assert.equal((await service.get(path, { headers: other })).status, 200);
  });

  it('can be switched off', async () => {
    await using service = await startHarness({ internet, settings: { STRATA_ON_DEMAND: 'off' } });
    const { status, body } = await service.get(profilePath(company(internet, 9)));
    assert.deepEqual([status, body.code], [404, 'unknown_domain']);
    assert.match(body.detail ?? '', /off here/);
    assert.equal((await service.running.service.app.store.counts()).scans, 0);
  });

  it('leaves alone who opted out, subdomains and all', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'opt-out.txt');
    const domain = company(internet, 10);
    await writeFile(file, `# asked by mail\n${domain}\n`);
    await using service = await startHarness({ internet, settings: { STRATA_OPT_OUT_FILE: file } });
    for (const name of [domain, `shop.${domain}`]) {
      const { status, body } = await service.get(profilePath(name));
      assert.deepEqual([status, body.code], [404, 'unknown_domain']);
      assert.match(body.detail ?? '', /asked not to be scanned/);
    }
    await service.scan(domain);
    assert.equal((await service.running.service.app.store.counts()).scans, 0);
  });

  it('answers 503 when DNS is dead, while what is stored is still served', async () => {
    await using service = await startHarness({ internet, world: { dnsTryTimeoutMs: 100 } });
    await service.scan(company(internet, 11));
    await service.restart({ STRATA_RESOLVERS: `127.0.0.1:${await closedPort()}` });
    const { status, body, headers } = await service.get(profilePath(company(internet, 12)));
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '60']);
    assert.equal((await service.get(profilePath(company(internet, 11)))).status, 200);
  });
});

async function closedPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}
