// What a probe observes in addition to the domain's own names, its number of queries, and its behaviour with packet loss.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket, { type Answer } from 'dns-packet';
import { a, aaaa, cname, type DnsScript, ds, mx, ns, reply, startDnsServer, txt, zone } from '../test/dns-server.ts';
import { probed, records } from '../test/probed.ts';
import { truncated } from '../test/scripted-resolver.ts';
import { makeCertificate, page, startWebServer, withoutRobots } from '../test/web-server.ts';
import { createProber } from './prober.ts';

const without = (...names: readonly string[]) => records.filter(({ name, type }) => !names.includes(`${type} ${name}`));
const reaching: readonly Answer[] = [
  ...without('TXT example.com', 'TXT _dmarc.example.com', 'NS example.com'),
  ns('example.com', 'ns1.example.com'),
  ns('example.com', 'ns2.example.com'),
  a('ns1.example.com', '198.51.100.7'),
  aaaa('ns2.example.com', '2620:fe::9'),
  txt('example.com', 'v=spf1 include:_spf.mail.test redirect=spf.sender.test'),
  txt('_spf.mail.test', 'v=spf1 ip4:192.0.2.0/24 ~all'),
  txt('spf.sender.test', 'unrelated', 'v=spf1 -all'),
  txt('_dmarc.example.com', 'v=DMARC1; p=reject; rua=mailto:a@reports.test'),
  txt('_dmarc.com', 'v=DMARC1; p=none; psd=y'),
  txt('example.com._report._dmarc.reports.test', 'v=DMARC1'),
  txt('_mta-sts.example.com', 'v=STSv1; id=1'),
  a('mta-sts.example.com', '93.184.216.36'),
  ns('com', 'a.nic.com'),
  txt('s1.keys.test', 'v=DKIM1; p=key'),
];
const site = withoutRobots((request, response) => {
  const isPolicy = request.headers.host === 'mta-sts.example.com';
  if (request.url?.startsWith('/.well-known/'))
    response.writeHead(200, { 'content-type': 'text/plain' }).end(isPolicy ? 'version: STSv1' : 'Contact: x');
  else response.end('<title>Home</title>');
});

it('a probe reads policies of other owners, name servers under the domain, and well-known files', async () => {
  const { evidence } = await probed(zone(reaching), site);
  const { policies } = evidence;
  assert.deepEqual(policies?.spf['_spf.mail.test']?.records, ['v=spf1 ip4:192.0.2.0/24 ~all']);
  assert.equal(policies?.spf['spf.sender.test']?.status, 'found');
  assert.deepEqual(policies?.dmarcParents.com?.records, ['v=DMARC1; p=none; psd=y']);
  assert.deepEqual(policies?.reportConsents['reports.test']?.records, ['v=DMARC1']);
  const servers = evidence.addresses.filter(({ use }) => use === 'ns').map(({ host, address }) => `${host} ${address}`);
  assert.deepEqual(servers, ['ns1.example.com 198.51.100.7', 'ns2.example.com 2620:fe::9']);
  const files = { mtaSts: { text: 'version: STSv1' }, securityTxt: { text: 'Contact: x' } };
  assert.partialDeepStrictEqual(evidence.files, files);
  assert.deepEqual(JSON.parse(JSON.stringify(evidence)), evidence);
});

it('a probe reaches no policy file where no record announces one', async () => {
  const { evidence, web } = await probed(zone(records), site);
  assert.equal(evidence.files?.mtaSts.status, 'skipped');
  assert.ok(web.asked.every((request) => !request.includes('mta-sts')));
});

it('a probe reaches a site of IPv6 alone, at the apex and at www', async () => {
  const six: readonly Answer[] = [
    ...without('A example.com', 'CNAME www.example.com', 'A edge.test'),
    aaaa('example.com', '2606:4700::1'),
    aaaa('www.example.com', '2606:4700::2'),
  ];
  const { evidence, web } = await probed(zone(six), page('<title>Six</title>'));
  assert.deepEqual([evidence.http.page?.title, evidence.dns.www.records], ['Six', ['2606:4700::2']]);
  assert.ok(web.dialled.every(({ address }) => address === '2606:4700::1'));
  const networks = evidence.addresses.slice(0, 2).map(({ use, host, address }) => `${use} ${host} ${address}`);
  assert.deepEqual(networks, ['web example.com 2606:4700::1', 'www www.example.com 2606:4700::2']);
});

it('a probe reaches all of a domain whose signatures are broken, and says that they are', async () => {
  const signed = [...records, ds('example.com'), ns('com', 'a.nic.com')];
  const checking: DnsScript = (q) => {
    const isChecked = (q.bytes.readUInt16BE(2) & dnsPacket.CHECKING_DISABLED) === 0;
    if (isChecked && q.name.endsWith('example.com') && q.type !== 'DS') return [reply(q, { rcode: 2 })];
    return zone(signed)(q);
  };
  const { evidence } = await probed(checking, page('<title>Home</title>'));
  const { policies, dns, http } = evidence;
  assert.deepEqual([policies?.validation, dns.mx.status, http.page?.title], ['bogus', 'found', 'Home']);
});

const cutOverUdp =
  (name: string, records: readonly Answer[]): DnsScript =>
  (q) =>
    (q.name === name && q.type === 'TXT' ? truncated(zone(records)) : zone(records))(q);

it('over bad lines, a lost packet in twenty loses no record', async () => {
  let count = 0;
  const complete = zone(reaching);
  const resolver = { tryTimeoutMs: 300, totalTimeoutMs: 20_000 };
  const { evidence } = await probed((q) => (count++ % 20 === 7 ? [] : complete(q)), site, { resolver });
  const { named, ...lookups } = evidence.dns;
  for (const [part, { status }] of [...Object.entries(lookups), ...Object.entries(named)])
    assert.ok(['found', 'empty', 'nxdomain'].includes(status), `${part}: ${status}`);
  assert.equal(evidence.http.status, 'found');
});

it('with packet loss, 200 texts over TCP arrive complete, including the policy at their end', async () => {
  const many = Array.from({ length: 199 }, (_, i) => txt('example.com', `token-${i}=`.padEnd(250, 'x')));
  const big = [...many, txt('example.com', 'v=spf1 include:_spf.mail.test -all')];
  const all = [...without('TXT example.com'), ...big, txt('_spf.mail.test', 'v=spf1 -all')];
  const { dns, policies } = (await probed(cutOverUdp('example.com', all), page(''))).evidence;
  assert.deepEqual([dns.txt.records.length, policies?.spf['_spf.mail.test']?.status], [200, 'found']);
});

it('over bad lines, a text flood at any other name is cut', async () => {
  const flood = Array.from({ length: 200 }, (_, i) => txt('_dmarc.example.com', String(i).padEnd(250, 'x')));
  const all = [...without('TXT _dmarc.example.com'), ...flood];
  const { evidence } = await probed(cutOverUdp('_dmarc.example.com', all), page(''));
  assert.equal(evidence.dns.dmarc.records.join('').length, 8_192);
  assert.match(evidence.dns.dmarc.detail ?? '', /cut/);
});

it('with packet loss, a zone that forbids caching is asked each question once', async () => {
  const { dns } = await probed(zone(reaching.map((record) => ({ ...record, ttl: 0 }))), site);
  assert.deepEqual(dns.asked, [...new Set(dns.asked)]);
});

it('questions are counted: cold, again at once, and for a second domain of the same providers', async () => {
  const twin = (name: string) => name.replace(/\bexample\.com\b/, 'example.net').replace(/^_dmarc\.com$/, '_dmarc.net');
  const both = [...reaching, ...reaching.map((record) => ({ ...record, name: twin(record.name) }) as Answer)];
  await using dns = await startDnsServer(zone(both));
  const certificate = await makeCertificate(['example.com', 'mta-sts.example.com', 'example.net']);
  await using web = await startWebServer(site, { certificate });
  await using prober = createProber({
    probeLabels: ['s1._domainkey', 's2._domainkey', 'autodiscover'],
    userAgent: 'StrataBot/test',
    trustedCa: [certificate.cert],
    dial: web.dial,
    resolver: { upstreams: [dns] },
  });
  const cost = async (domain: string) => {
    const before = dns.asked.length;
    await prober.probe(domain);
    return dns.asked.length - before;
  };
  const costs = [await cost('example.com'), await cost('example.com'), await cost('example.net')];
  // A random label and its selector are new each time; of a twin all but its own names are known.
  assert.deepEqual(costs, [35, 2, 22]);
});

const SECRET = 'v=spf1 ip4:10.9.8.7 -all';
/** What the resolver of a company answers inside. */
const inside: readonly Answer[] = [
  ...['ns.corp.lan', 'mail.corp.internal', 'db.corp.internal'].map((name, i) => a(name, `93.184.216.${97 + i}`)),
  txt('db.corp.internal', SECRET),
  ns('db.corp.internal', 'ns.corp.lan'),
  txt('spf.home.arpa', SECRET),
];

it('a domain whose records name private hosts has nothing asked about them', async () => {
  const pointing = [
    ...records.filter(({ type, name }) => !['MX', 'TXT', 'NS'].includes(type) || name !== 'example.com'),
    ns('example.com', 'ns.corp.lan'),
    mx('example.com', 'mail.corp.internal'),
    txt('example.com', 'v=spf1 include:DB.Corp.Internal include:spf.home.arpa -all'),
    ...inside,
  ];
  const { evidence, dns } = await probed(zone(pointing), page('<title>Home</title>'));
  assert.deepEqual(evidence.dns.mx.records[0]?.exchange, 'mail.corp.internal', 'records of the domain itself are kept');
  assert.doesNotMatch(dns.asked.join(), /internal|lan|home\.arpa/i);
  assert.doesNotMatch(JSON.stringify(evidence), /10\.9\.8\.7|93\.184\.216\.9[789]/);
  assert.equal(evidence.http.page?.title, 'Home');
});

it('a domain with aliases into a private network shows the alias, and nothing behind it', async () => {
  const aliased = [
    ...records.filter(({ name }) => name !== 'www.example.com' && !name.startsWith('_dmarc')),
    cname('www.example.com', 'db.corp.internal'),
    cname('_dmarc.example.com', 'hop.example.net'),
    cname('hop.example.net', 'db.corp.internal'),
    ...inside,
  ];
  const { evidence } = await probed(zone(aliased), page('<title>Home</title>'));
  for (const [{ status, records, aliases }, expected] of [
    [evidence.dns.www, ['db.corp.internal']],
    [evidence.dns.dmarc, ['hop.example.net', 'db.corp.internal']],
  ] as const)
    assert.deepEqual([status, records, aliases], ['nxdomain', [], expected]);
  assert.doesNotMatch(JSON.stringify(evidence), /10\.9\.8\.7|93\.184\.216\.99/);
});

it('a domain that is itself an alias into one shows no name servers of it', async () => {
  const { evidence } = await probed(zone([cname('example.com', 'db.corp.internal'), ...inside]), page(''));
  assert.deepEqual([evidence.dns.ns.status, evidence.dns.ns.records], ['nxdomain', []]);
  assert.doesNotMatch(JSON.stringify(evidence), /corp\.lan|10\.9\.8\.7|93\.184\.216\.9/);
});
