// A domain that was never scanned: what the first request for it gets.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { detect } from '@strata/detect';
import type { Internet } from '@strata/testnet';
import { startDnsServer, zone } from '../../../../tests/support/dns-server.ts';
import { freePort, temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { type Answer, company, type Harness, scanTwice, smallInternet, startHarness } from '../test/harness.ts';
import { evidenceAt, recordScan } from '../test/recorded-scans.ts';
import type { ScanOutcome } from './scanner.ts';

const profilePath = (name: string) => `/stack/v1/domains/${name}`;
/** Of requests by a caller of their own: scans on demand are limited for each. */
const callerOf = async (service: Harness) => ({ headers: { 'x-stack-key': await service.newKey() } });

function assertProblem({ status, body, headers }: Answer, expected: readonly unknown[], detail = /./): void {
  assert.deepEqual([status, body.code, headers.get('retry-after')], expected);
  assert.match(body.detail ?? '', detail);
}
const UNKNOWN = [404, 'unknown_domain', null];
const UNAVAILABLE = [503, 'unavailable', '60'];

describe('a domain that was never scanned', () => {
  const resources = new AsyncDisposableStack();
  let internet: Internet;
  let service: Harness;
  before(async () => {
    internet = resources.use(await smallInternet());
    const directory = resources.use(await temporaryDirectory());
    const file = path.join(directory.path, 'opt-out.txt');
    await writeFile(file, `# asked by mail\n${company(internet, 10)}\n`);
    const settings = { STRATA_SCAN_OPTIONS: 'on-demand-per-hour=3', STRATA_OPT_OUT_FILE: file };
    service = resources.use(await startHarness({ internet, settings }));
  });
  after(() => resources.disposeAsync());
  const counts = () => service.running.app.store.inspection.counts();

  it('is scanned while the request waits, and the answer keeps its receipt', async () => {
    const before = Date.now() - 1;
    const domain = company(internet, 1);
    const first = await service.get(profilePath(`www.${domain}`));
    assert.deepEqual([first.status, first.body.domain], [200, domain]);
    assert.ok(Date.parse(String(first.body.scanned_at)) >= before);
    assert.equal((await service.get(profilePath(domain))).text, first.text);
  });

  it('is scanned for its history too, once for all who ask at the same time', async () => {
    const { scans } = await counts();
    const caller = await callerOf(service);
    const asked = ['/changes', '', '/changes?limit=5'].map((suffix) =>
      service.get(`${profilePath(company(internet, 2))}${suffix}`, caller),
    );
    for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
    assert.equal((await counts()).scans, scans + 1);
  });

  it('is unknown when it does not exist, leaves no trace, and is not asked for again', async () => {
    const { domains } = await counts();
    const caller = await callerOf(service);
    const { prober } = service.running.app;
    let sent = 0;
    for (const suffix of ['', '/changes', '']) {
      const answer = await service.get(`${profilePath('no-such-company-at-all.com')}${suffix}`, caller);
      // Coming back at once is of no use: NXDOMAIN is remembered for its negative TTL.
      assertProblem(answer, UNKNOWN, /does not exist/);
      sent ||= prober.stats().sent;
    }
    for (const name of ['127.0.0.1', 'db.corp.internal', 'localhost', 'http:%2F%2F127.0.0.1%2F'])
      assert.equal((await service.get(profilePath(name), caller)).body.code, 'invalid_domain', name);
    assert.equal(prober.stats().sent, sent);
    assert.equal((await counts()).domains, domains);
  });

  it('is answered 503 with Retry-After when its zone cannot be resolved just now', async () => {
    const domain = company(internet, 4);
    const caller = await callerOf(service);
    internet.fail(domain, { type: '*', status: 'servfail' });
    for (const suffix of ['', '/changes'])
      assertProblem(await service.get(`${profilePath(domain)}${suffix}`, caller), UNAVAILABLE);
  });

  it('is limited for each key by the hour, and what is known already does not count', async () => {
    const caller = await callerOf(service);
    for (const index of [6, 7, 8, 6, 7])
      assert.equal((await service.get(profilePath(company(internet, index)), caller)).status, 200);
    const path = profilePath(company(internet, 9));
    const refused = await service.get(path, caller);
    const wait = Number(refused.headers.get('retry-after'));
    assert.ok(wait > 3_000 && wait <= 3_600, `retry-after ${wait}`);
    assertProblem(refused, [404, 'unknown_domain', String(wait)], /used up/);
    assert.equal((await service.get(path, await callerOf(service))).status, 200);
  });

  it('is left alone where it opted out, subdomains and all', async () => {
    const { scans } = await counts();
    const domain = company(internet, 10);
    for (const name of [domain, `shop.${domain}`])
      assertProblem(await service.get(profilePath(name)), UNKNOWN, /asked not to be scanned/);
    await service.scan(domain);
    assert.equal((await counts()).scans, scans);
  });

  it('is unknown where scanning on demand is off, and 503 when DNS is dead or denies all names, while what is stored is kept', async () => {
    const { scans } = await counts();
    const path = profilePath(company(internet, 12));
    await service.restart({ STRATA_SCAN_OPTIONS: 'on-demand=off' });
    assertProblem(await service.get(path), UNKNOWN, /off here/);
    assert.equal((await counts()).scans, scans);

    const known = company(internet, 1);
    const shown = async () =>
      ((await service.get(profilePath(known))).body.services as { provider: string }[]).map(({ provider }) => provider);
    const before = await shown();
    await using denying = await startDnsServer(zone([]));
    for (const port of [await freePort(), denying.port]) {
      await service.restart({
        STRATA_RESOLVERS: `127.0.0.1:${port}`,
        STRATA_SCAN_OPTIONS: 'on-demand-per-hour=3,confirm-hours=0',
      });
      assertProblem(await service.get(path), UNAVAILABLE);
      // A resolver that denies every name is not evidence about the domain.
      await scanTwice(service, known);
      assert.deepEqual(await shown(), before);
      const { metrics } = service.running;
      assert.match(await metrics.registry.metrics(), /^strata_scan_seconds_count\{outcome="unmeasured"\} 3$/m);
    }
  });

  it('is bounded by suffix and by address below a private suffix, where names cost nothing', async () => {
    const app = { ...service.running.app };
    const config = { ...app.config, onDemandSuffixPerDay: 3, onDemandAddressPerDay: 2 };
    const asked: string[] = [];
    const scanner = {
      ...app.scanner,
      scan: async (domain: string): Promise<ScanOutcome> => {
        asked.push(domain);
        if (domain.startsWith('none')) return { kind: 'nonexistent' };
        const profile = detect(evidenceAt({ domain, ns: ['ns1.own.test'] }, Date.now()), rulebook);
        const recorded = await recordScan(app.store, evidenceAt({ domain, ns: ['ns1.own.test'] }, Date.now()));
        return { kind: 'recorded', profile, recorded };
      },
    };
    const ask = async (domain: string, address: string) => {
      const refuse = (code: string, detail: string) => {
        throw new Error(`${code}: ${detail}`);
      };
      const context = { address, key: { id: domain }, resetReads: () => {}, refuse } as never;
      await app.onDemand.profile({ ...app, config, scanner }, domain, context).catch((error: Error) => {
        if (!/NXDOMAIN/.test(error.message)) throw error;
      });
    };
    // What does not exist is not added, and not counted.
    for (const name of ['none-1', 'none-2', 'none-3', 'a', 'b']) await ask(`${name}.netlify.app`, '192.0.2.1');
    const isMet = (whose: string) => new RegExp(`unknown_domain: .* no more names ${whose} are added today`);
    await assert.rejects(ask('c.github.io', '192.0.2.1'), isMet('for this address'));
    await ask('c.netlify.app', '192.0.2.2');
    await assert.rejects(ask('d.netlify.app', '192.0.2.3'), isMet('below netlify\\.app'));
    await ask('a.netlify.app', '192.0.2.3');
    await ask('own-name.com', '192.0.2.1');
    assert.equal(asked.filter((domain) => domain.startsWith('none') || domain.startsWith('d.')).length, 3);
    assert.equal((await app.store.domains.profile('c.netlify.app'))?.domain, 'c.netlify.app');
  });

  it('is scanned on when the wait is over: 404 with Retry-After first, the profile later', async () => {
    await using slow = await startHarness({ internet, world: { onDemandWaitMs: 20, dnsTryTimeoutMs: 100 } });
    const domain = company(internet, 5);
    internet.fail(domain, { type: 'CAA', status: 'timeout' });
    assertProblem(await slow.get(profilePath(domain)), [404, 'unknown_domain', '5'], /is being scanned/);
    await until(async () => (await slow.get(profilePath(domain))).status === 200);
  });
});
