import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { SPECIAL_OCTETS } from './dns/networks.ts';
import { createInternet, type Internet } from './internet.ts';
import { templates } from './providers/index.ts';
import { ask } from './test/ask.ts';
import { dataOf, dig } from './test/dig.ts';
import { hasService, inState, useInternet } from './test/use.ts';

const PROTOCOLS: Readonly<Record<string, string>> = { oldTls: 'TLSv1.2', refused: 'ECONNREFUSED', reset: 'ECONNRESET' };

function protocolOf(internet: Internet, servername: string, address: string): Promise<string> {
  const to = internet.dial({ address, port: 443 });
  return new Promise((resolve) => {
    const socket = connect({ host: to.address, port: to.port, servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getProtocol()));
      socket.destroy();
    });
    socket.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
  });
}

describe('the companies of the simulated internet', () => {
  const internet = useInternet({ domains: 300, hasFaults: false });
  it('are the same for the same seed, and different for another seed', async () => {
    await using same = await createInternet({ domains: 300, hasFaults: false });
    await using other = await createInternet({ domains: 300, hasFaults: false, seed: 'another' });
    const truthOf = (net: Internet) => JSON.stringify(net.domains().map((domain) => net.truth(domain)));
    assert.equal(truthOf(same), truthOf(internet));
    assert.notEqual(truthOf(other), truthOf(internet));
  });
  it('have stacks of every kind, the large providers far ahead', () => {
    const truths = internet.domains().map((domain) => internet.truth(domain));
    const services = truths.flatMap((truth) => truth.services).filter(({ category }) => category === 'email');
    const byProvider = [...Map.groupBy(services, ({ provider }) => provider).values()];
    const [first = [], second = [], ...rest] = byProvider.sort((a, b) => b.length - a.length);
    assert.deepEqual([first[0]?.provider, second[0]?.provider].sort(), ['google-workspace', 'microsoft-365']);
    assert.ok(rest.length >= 10 && first.length > 3 * (rest[2]?.length ?? 0));
    for (const state of ['parked', 'nonexistent']) assert.ok(inState(internet, state).length > 0, state);
  });
  it('serve their pages by name, with a certificate of their own authority', async () => {
    const issuers = new Set<string | undefined>();
    const authorityOf = (domain: string) =>
      internet.truth(domain).services.find((s) => s.category === 'certificate_authority' && s.isVisible)?.provider;
    const secure = inState(internet, 'active').filter((domain) => authorityOf(domain) !== undefined);
    assert.ok(secure.length >= 25);
    for (const domain of secure.slice(0, 25)) {
      const page = await ask(internet, `https://www.${domain}/`);
      assert.equal(page.issuer, templates.authority.of(authorityOf(domain) ?? '').organisation, domain);
      assert.ok((page.status > 300 && page.status < 309) || page.body.includes('<h1>'), domain);
      issuers.add(page.issuer);
    }
    assert.ok(issuers.size >= 3);
    const { body } = await ask(internet, `https://${inState(internet, 'active')[0]}/robots.txt`);
    assert.match(String(body), /User-agent/);
  });
  it('speak an old TLS, refuse or reset as their addresses determine, over IPv4 alone', async () => {
    await using faulty = await createInternet({ domains: 600, vantage: { lossShare: 0, poisonShare: 0 } });
    const kinds = new Set<string>();
    for (const domain of inState(faulty, 'active')) {
      const [address = ''] = await dataOf(faulty.resolver, domain, 'A');
      const kind = Object.entries(SPECIAL_OCTETS).find(([, octet]) => address.endsWith(`.${octet}`))?.[0];
      if (!kind) continue;
      assert.deepEqual(await dataOf(faulty.resolver, domain, 'AAAA'), [], domain);
      if (!kinds.has(kind)) assert.equal(await protocolOf(faulty, domain, address), PROTOCOLS[kind], kind);
      kinds.add(kind);
    }
    assert.deepEqual([...kinds].sort(), ['oldTls', 'refused', 'reset']);
    assert.match(await protocolOf(internet, 'unknown.example', '8.8.8.8'), /^ERR_|^ECONNRESET/, 'a name of no company');
  });
  it('redirect only to active companies', () => {
    const targets = internet.domains().flatMap((domain) => internet.truth(domain).redirectsTo ?? []);
    assert.deepEqual([...new Set(targets.map((target) => internet.truth(target).state))], ['active']);
  });
  it('policies are served where a record says that there is one, with the exchanges of the domain', async () => {
    const data = (name: string, type: string) => dataOf<unknown>(internet.resolver, name, type);
    let policies = 0;
    for (const domain of inState(internet, 'active').filter((each) => internet.truth(each).security.hasMtaSts)) {
      const hasRecord = (await data(`_mta-sts.${domain}`, 'TXT')).length > 0;
      assert.equal((await data(`mta-sts.${domain}`, 'A')).length > 0, hasRecord, domain);
      if (!hasRecord || policies === 3) continue;
      // A company without HTTPS has none for its policy either.
      const answer = await ask(internet, `https://mta-sts.${domain}/.well-known/mta-sts.txt`).catch(() => undefined);
      if (answer === undefined) continue;
      const [{ exchange }] = (await data(domain, 'MX')) as [{ exchange: string }];
      assert.match(String(answer.body), /^version: STSv1\r\nmode: (?:enforce|testing)\r\n/);
      assert.ok(String(answer.body).includes(`\r\nmx: ${exchange}\r\n`), domain);
      policies += 1;
    }
    assert.equal(policies, 3);
  });
  it('security.txt is kept by some, denied by most, and answered with a page by the rest', async () => {
    const counts = new Map(['text/plain', '404', '301', 'text/html; charset=utf-8'].map((kind) => [kind, 0]));
    for (const domain of inState(internet, 'active')) {
      if ([...counts.values()].every((count) => count >= 3)) break;
      const found = await ask(internet, `https://${domain}/.well-known/security.txt`).catch(() => undefined);
      if (found === undefined) continue;
      const kind = found.status === 200 ? (found.headers['content-type'] ?? '') : String(found.status);
      if (kind === 'text/plain') assert.match(found.body.toString(), /^Contact: mailto:security@.+\nExpires: \d{4}-/);
      if (counts.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    assert.ok(Math.min(...counts.values()) >= 3, JSON.stringify([...counts]));
  });
  it('migrate as the clock moves, and truth and records follow', async () => {
    const before = new Map(internet.domains().map((domain) => [domain, JSON.stringify(internet.truth(domain))]));
    const migrations = internet.advance(30);
    assert.ok(internet.day === 30 && migrations.length >= 10 && migrations.length <= 150, `${migrations.length}`);
    const moved = new Set(migrations.map(({ domain }) => domain));
    for (const domain of internet.domains())
      if (!moved.has(domain)) assert.equal(JSON.stringify(internet.truth(domain)), before.get(domain), domain);
    const domain = internet.domains().find((name) => hasService(internet, name, 'email')) ?? '';
    internet.migrate(domain, { category: 'email', to: 'fastmail' });
    internet.migrate(domain, { category: 'email_security', to: null });
    assert.match(JSON.stringify(await dig(internet.resolver, domain, 'MX')), /messagingengine\.com/);
    assert.throws(() => internet.migrate(domain, { category: 'email', to: 'no-such-provider' }), RangeError);
    assert.throws(() => internet.truth('unknown.example'), RangeError);
  });
  it('show versions as real sites do: some old, some of a distribution, some none', async () => {
    const versions = inState(internet, 'active').flatMap((domain) => Object.entries(internet.truth(domain).versions));
    const without = versions.filter(([, { version }]) => version === null).length;
    assert.ok(without > 50, `${without} without`);
    const shown = (id: string) =>
      versions.flatMap(([of, { version, platform }]) => (of === id && version ? [`${version} ${platform ?? ''}`] : []));
    for (const id of ['php', 'wordpress', 'microsoft-iis', 'ghost']) assert.ok(shown(id).length > 0, id);
    assert.ok(shown('nginx').includes('1.18.0 ubuntu'));
    assert.ok(shown('apache').some((each) => each.endsWith('win64')));
    assert.deepEqual(shown('drupal'), []);
  });
  it('show in their headers and pages the versions in the truth', async () => {
    let compared = 0;
    for (const domain of internet.domains()) {
      const { versions } = internet.truth(domain);
      if (compared >= 40 || !hasService(internet, domain, 'certificate_authority')) continue;
      const { headers, body } = await ask(internet, `https://www.${domain}/`);
      const text = `${headers.server ?? ''} ${headers['x-powered-by'] ?? ''} ${headers['x-aspnet-version'] ?? ''} ${body}`;
      for (const [id, { version, platform }] of Object.entries(versions)) {
        assert.ok(text.includes(version ?? '') && text.toLowerCase().includes(platform ?? ''), `${domain}: ${id}`);
        compared += version === null ? 0 : 1;
      }
    }
    assert.ok(compared >= 40);
  });
  it('have publishers of advisories, which start when they are asked for and move with the clock', async () => {
    const now = () => new Date('2026-03-01T00:00:00Z');
    await using own = await createInternet({ domains: 5, hasFaults: false, now });
    const sources = await own.advisories();
    const count = sources.records().length;
    own.advance(20);
    assert.ok(sources.records().length > count && (await own.advisories()) === sources);
  });
  it('have names of their own, also when there are many', async () => {
    await using large = await createInternet({ domains: 5_000, vantage: { lossShare: 0 } });
    for (const domain of large.domains()) large.truth(domain);
    assert.equal(new Set(large.domains()).size, 5_000);
    const last = large.domains().at(-1) ?? '';
    const answer = await dig(large.resolver, last, 'NS', { timeoutMs: 3_000 });
    assert.ok(answer !== undefined || large.truth(last).state === 'broken');
  });
});
