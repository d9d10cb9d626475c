// A probe end to end, over scripted DNS and web servers: every part's status, and the effect of one part's failure on the rest.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isMeasured } from '@strata/detect';
import { a, type DnsScript, reply, soa, startDnsServer, zone } from '../test/dns-server.ts';
import { ADDRESS, probed, records } from '../test/probed.ts';
import { IMPATIENT, rcode, silent } from '../test/scripted-resolver.ts';
import { page, type WebScript } from '../test/web-server.ts';
import { createProber } from './prober.ts';

it('a healthy domain is observed completely, but for labels that its exchanges make idle', async () => {
  const idleAfter = () => new Set(['s2._domainkey']);
  const { evidence, web, dns: server } = await probed(zone(records), page('<title>Home</title>'), { idleAfter });
  const { dns, http, tls, addresses } = evidence;
  assert.deepEqual([evidence.domain, evidence.observedAt], ['example.com', '2026-01-02T03:04:05.000Z']);
  const { named, ...lookups } = dns;
  const found = ['ns', 'soa', 'a', 'mx', 'txt', 'caa', 'www', 'dmarc'];
  for (const [part, { status }] of Object.entries(lookups))
    assert.equal(status, found.includes(part) ? 'found' : ['aaaa', 'ds'].includes(part) ? 'empty' : 'nxdomain', part);
  assert.equal(Object.keys(lookups).length, 16);
  const hosts = [...dns.ns.records, ...dns.mx.records.map(({ exchange }) => exchange)];
  assert.deepEqual(hosts, ['ns1.example.net', 'ns2.example.net', 'a.mx.test', 'b.mx.test']);
  const aliases = [dns.www, named.autodiscover, named['s1._domainkey']].map((lookup) => lookup?.aliases.join());
  assert.deepEqual(aliases, ['edge.test', 'auto.test', 's1.keys.test']);
  assert.match(`${named['s2._domainkey']?.status} ${named['s2._domainkey']?.detail}`, /^empty not queried/);
  assert.doesNotMatch(server.asked.join(), /s2/);
  const networks = addresses.map(({ use, host, address, asn, asName, status }) =>
    [use, host, address, asn, asName, status].join(),
  );
  assert.deepEqual(networks, [
    `web,example.com,${ADDRESS},15133,EDGECAST, US,found`,
    'www,www.example.com,93.184.216.35,,,nxdomain',
    'mail,a.mx.test,1.1.1.1,,,nxdomain',
  ]);
  assert.deepEqual([http.page?.title, tls.isTrusted], ['Home', true]);
  assert.ok(web.dialled.every(({ address }) => address === ADDRESS));
  assert.deepEqual(JSON.parse(JSON.stringify(evidence)), evidence);
});

it('a name that does not exist is asked for once, and nothing is dialled', async () => {
  const { evidence, dns, web } = await probed(zone([]), page(''));
  assert.deepEqual(dns.asked, ['NS example.com']);
  assert.partialDeepStrictEqual(evidence, {
    dns: { txt: { status: 'nxdomain' }, named: { autodiscover: { status: 'nxdomain' } } },
    http: { status: 'skipped' },
    files: { securityTxt: { status: 'skipped' } },
  });
  assert.deepEqual(evidence.policies, { spf: {}, dmarcParents: {}, reportConsents: {}, validation: 'unknown' });
  assert.deepEqual(web.dialled, []);
});

for (const [what, failing, types] of [
  ['is silent', silent, 'A MX NS'],
  ['fails', rcode(2), 'A DS MX NS'],
] as const)
  it(`a zone that ${what} is asked for ${types}, and nothing more`, async () => {
    const script: DnsScript = (q) => (q.name.endsWith('example.com') ? failing : zone([]))(q);
    const { dns } = await probed(script, page(''), failing === silent ? { resolver: IMPATIENT } : {});
    const asked = dns.asked.filter((question) => question.endsWith('example.com'));
    assert.equal(
      [...new Set(asked)].sort().join(),
      types
        .split(' ')
        .map((type) => `${type} example.com`)
        .join(),
    );
  });

it('a zone that is only silent about its name servers is asked everything', async () => {
  const script: DnsScript = (q) => (q.type === 'NS' ? [] : zone(records)(q));
  const { evidence } = await probed(script, page('x'), { resolver: IMPATIENT });
  assert.deepEqual([evidence.dns.ns.status, evidence.dns.dmarc.status], ['timeout', 'found']);
});

for (const [what, script, status] of [
  ['fails', rcode(2), 'servfail'],
  ['refuses', rcode(5), 'refused'],
  ['is silent', silent, 'timeout'],
] as const)
  it(`a name server that ${what} gives failures everywhere and absence nowhere`, async () => {
    const { evidence } = await probed(script, page(''), script === silent ? { resolver: IMPATIENT } : {});
    const { named, ...lookups } = evidence.dns;
    for (const lookup of [...Object.values(lookups), ...Object.values(named)]) assert.equal(lookup?.status, status);
    assert.equal(evidence.http.status, status === 'timeout' ? 'timeout' : 'failed');
    assert.deepEqual(evidence.addresses, []);
  });

it('a web server that hangs leaves the records as they are', async () => {
  const { evidence } = await probed(zone(records), () => {}, { requestTimeoutMs: 200, visitTimeoutMs: 300 });
  const { http, tls, dns, addresses } = evidence;
  assert.deepEqual([http.status, tls.status, dns.dmarc.status, addresses.length], ['timeout', 'found', 'found', 3]);
});

it('a failed record leaves the remaining ones measured', async () => {
  const good = zone(records);
  const { evidence } = await probed((q) => (q.type === 'TXT' ? [reply(q, { rcode: 2 })] : good(q)), page('x'));
  const { txt, mx, aaaa } = evidence.dns;
  assert.deepEqual([txt.status, mx.status, isMeasured(aaaa.status)], ['servfail', 'found', true]);
  assert.equal(evidence.addresses[0]?.status, 'servfail');
});

it('a private address is evidence, and dialled only where the operator lists its range', async () => {
  const script = zone([soa('example.com'), a('example.com', '10.0.0.1')]);
  const { evidence, web } = await probed(script, page(''));
  assert.deepEqual([evidence.dns.a.records, evidence.http.status, web.dialled], [['10.0.0.1'], 'refused', []]);
  const listed = await probed(script, page('<title>In</title>'), { allowAddresses: ['10.0.0.0/8'] });
  assert.deepEqual([listed.evidence.http.page?.title, listed.web.dialled[0]?.address], ['In', '10.0.0.1']);
});

for (const [what, scriptsOf] of [
  ['in the first question', (abort) => [() => abort(), page('')]],
  ['in the middle of DNS', (abort) => [(q) => (q.type === 'NS' ? zone(records)(q) : abort()), page('')]],
  ['at the web server', (abort) => [zone(records), () => void abort()]],
] as const satisfies readonly (readonly [string, (abort: () => []) => readonly [DnsScript, WebScript]])[])
  it(`an abort ${what} rejects at once, with its reason, and leaves nothing unheard`, async () => {
    const times = { requestTimeoutMs: 60_000, visitTimeoutMs: 60_000 };
    const resolver = { tryTimeoutMs: 60_000, totalTimeoutMs: 60_000 };
    const [stopping, reason] = [new AbortController(), new Error('reached')];
    const scripts = scriptsOf(() => {
      stopping.abort(reason);
      return [];
    });
    await assert.rejects(probed(...scripts, { signal: stopping.signal, ...times, resolver }), reason);
  });

it('what is aborted already asks nothing', async () => {
  await using dns = await startDnsServer(() => []);
  await using prober = createProber({ probeLabels: [], userAgent: 'x', resolver: { upstreams: [dns] } });
  await assert.rejects(prober.probe('example.com', { signal: AbortSignal.abort(new Error('early')) }), /early/);
  assert.deepEqual(dns.asked, []);
});
