// A domain that points into a private network: our resolver may know what is there, and nobody reads it in the evidence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from 'dns-packet';
import { a, cname, mx, ns, txt, zone } from './test/dns-server.ts';
import { probed, records } from './test/probed.ts';
import { page } from './test/web-server.ts';

const SECRET = 'v=spf1 ip4:10.9.8.7 -all';
/** What the resolver of a company answers inside. */
const inside: readonly Answer[] = [
  a('db.corp.internal', '93.184.216.99'),
  a('mail.corp.internal', '93.184.216.98'),
  a('ns.corp.lan', '93.184.216.97'),
  txt('db.corp.internal', SECRET),
  ns('db.corp.internal', 'ns.corp.lan'),
  txt('spf.home.arpa', SECRET),
];

describe('a domain', () => {
  it('whose records name private hosts has nothing asked about them', async () => {
    const pointing = [
      ...records.filter(({ type, name }) => !['MX', 'TXT', 'NS'].includes(type) || name !== 'example.com'),
      ns('example.com', 'ns.corp.lan'),
      mx('example.com', 'mail.corp.internal'),
      txt('example.com', 'v=spf1 include:DB.Corp.Internal include:spf.home.arpa -all'),
      ...inside,
    ];
    const { evidence, dns } = await probed(zone(pointing), page('<title>Home</title>'));
    assert.deepEqual(evidence.dns.mx.records[0]?.exchange, 'mail.corp.internal', 'what the domain itself says is told');
    assert.doesNotMatch(dns.asked.join(), /internal|lan|home\.arpa/i);
    assert.doesNotMatch(JSON.stringify(evidence), /10\.9\.8\.7|93\.184\.216\.9[789]/);
    assert.equal(evidence.http.page?.title, 'Home');
  });

  it('with aliases into a private network shows the alias, and nothing behind it', async () => {
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

  it('that is itself an alias into one shows no name servers of it', async () => {
    const { evidence } = await probed(zone([cname('example.com', 'db.corp.internal'), ...inside]), page(''));
    assert.deepEqual([evidence.dns.ns.status, evidence.dns.ns.records], ['nxdomain', []]);
    assert.doesNotMatch(JSON.stringify(evidence), /corp\.lan|10\.9\.8\.7|93\.184\.216\.9/);
  });
});
